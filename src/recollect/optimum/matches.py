"""All results of the exact join, as who waited for whom and from when to when.

The engine itself finds them, without limit, so windows of every kind, filters and NULL keys mean
here what they mean in the join.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.join.budget import UNLIMITED
from recollect.join.engine import Engine, new_output
from recollect.join.kernel import OUTPUT_FULL
from recollect.join.lanes import Lanes
from recollect.join.online import BATCH_ROWS
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
    """List the results of the exact join.

    Parameters
    ----------
    inputs
        Both streams and the query.
    progress
        Told how many tuples have been read.
    """
    engine = Engine.of(inputs.bound, Fifo(), UNLIMITED)
    lanes = Lanes(inputs.bound)
    rows = np.zeros(2, np.int64)
    times: tuple[list, list] = ([], [])
    pairs: list[np.ndarray] = []
    output = new_output(OUTPUT_PAIRS)
    for side, batch in inputs.in_step(lanes, BATCH_ROWS, progress, "optimum"):
        if batch is None:
            lanes.both[side].finish()
        else:
            lanes.both[side].add(batch)
        for step in lanes.steps():
            output.filled[0] = 0
            feeds = step.feeds(engine.extra_width)
            why, *taken = engine.run(feeds, step.until, rows, output)
            filled = int(output.filled[0])
            pairs.append(np.stack([output.left[:filled], output.right[:filled]]))
            if why == OUTPUT_FULL and filled == 0:
                output = new_output(2 * len(output.left))
            for stream, count in enumerate(taken):
                times[stream].append(feeds[stream].time[:count])
            rows += taken
            lanes.take((taken[0], taken[1]))
    left, right = np.concatenate([np.empty((2, 0), np.int64), *pairs], axis=1)
    none = np.empty(0, np.int64)  # not of floats, which cannot tell nanoseconds apart
    return _placed(left, right, *(np.concatenate([none, *part]) for part in times))


def _placed(
    left: np.ndarray, right: np.ndarray, left_times: np.ndarray, right_times: np.ndarray
) -> Matches:
    """Turn rows into positions: by time, at equal times the left stream first."""
    of_left = np.arange(len(left_times)) + np.searchsorted(right_times, left_times, "left")
    of_right = np.arange(len(right_times)) + np.searchsorted(left_times, right_times, "right")
    one, two = of_left[left], of_right[right]
    return Matches(np.minimum(one, two), np.maximum(one, two), (two < one).astype(np.int64))
