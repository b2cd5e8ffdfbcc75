"""All results of the exact join, as who waited for whom and from when to when.

The engine itself finds them, without limit, so windows of every kind, filters and NULL keys mean
here what they mean in the join.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.join.budget import UNLIMITED
from recollect.join.engine import Engine, new_output
from recollect.join.kernel import DONE, OUTPUT_FULL
from recollect.join.whole import Inputs, Progress, quiet
from recollect.policies.fifo import Fifo

OUTPUT_PAIRS = 65_536


class Matches(NamedTuple):
    """The results of the exact join; a position is a place in the merged input."""

    earlier: NDArray[np.int64]
    """The position of the tuple that is buffered, which names it too."""
    later: NDArray[np.int64]
    """The position of the one that finds it there."""
    stream: NDArray[np.int64]
    """The stream of the earlier one."""


def exact_matches(inputs: Inputs, progress: Progress = quiet) -> Matches:
    """List the results of the exact join."""
    engine = Engine(Fifo(), inputs.bound.setting, UNLIMITED)
    output = new_output(OUTPUT_PAIRS)
    found = [np.empty((2, 0), np.int64)]
    arrivals = 0
    for feed in inputs.feeds(progress, "optimum"):
        positions = np.empty(len(feed.order), np.int64)
        positions[feed.order] = np.arange(arrivals, arrivals + len(positions))
        arrivals += len(positions)
        why, at = OUTPUT_FULL, 0
        while why != DONE:
            output.filled[0] = 0
            why, at = engine.run(feed._replace(row=positions), at, output)
            filled = int(output.filled[0])
            found.append(output.rows[:, :filled].copy())
            if why == OUTPUT_FULL and filled == 0:
                output = new_output(2 * len(output.join))
    left, right = np.concatenate(found, axis=1)
    return Matches(
        np.minimum(left, right), np.maximum(left, right), (right < left).astype(np.int64)
    )
