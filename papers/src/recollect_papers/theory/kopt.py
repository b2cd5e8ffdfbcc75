"""k_opt: for how long a tuple of each key is worth its place in memory.

A tuple of key v that is kept for k arrivals meets C_v(k) later tuples of v; k_opt is the k that
maximises C_v(k) / k. The age-based model takes one k_opt for a whole stream; how much the k_opt of
different keys differ shows what that costs.

References
----------
GreedyDual-Join paper, section 3.2 and figure 2; Srivastava, Widom: Memory-Limited Execution of
Windowed Stream Joins, 2004.
"""

import numpy as np
from numpy.typing import NDArray

from recollect.compiled import cached
from recollect.streams.checks import require_whole


@cached
def _best_ages(positions, ends, window, curve, best):  # type: ignore[no-untyped-def]
    start = 0
    for key in range(len(ends)):
        oldest = 0
        for one in range(start, ends[key]):
            for other in range(one + 1, ends[key]):
                age = positions[other] - positions[one]
                if age > window:
                    break
                curve[age] += 1
                oldest = max(oldest, age)
        matches = 0
        most = 0
        for age in range(1, oldest + 1):
            matches += curve[age]
            curve[age] = 0
            # Of whole numbers: matches / age > most / best.
            if matches * best[key] > most * age or most == 0 < matches:
                most = matches
                best[key] = age
        start = ends[key]


def k_opt(numbers: NDArray[np.int32], window: int) -> NDArray[np.int64]:
    """By key: the age at which a tuple has given most matches per arrival that it was kept for.

    The stream is joined with itself. The work is that of visiting each match once, and the memory
    20 bytes per tuple.

    Parameters
    ----------
    numbers
        The keys of the tuples, as numbers from 0 on
        (:class:`~recollect.locality.numbering.KeyNumbers`).
    window
        The longest that a tuple may be kept, in arrivals.

    Returns
    -------
    numpy.ndarray
        By number of the key; the smallest age if several are as good, 0 for a key that never comes
        twice within the window.

    Examples
    --------
    Key 0 comes in pairs, and key 1 every four tuples:

    >>> k_opt(np.array([0, 0, 1, 2, 0, 0, 1, 3, 0, 0, 1], np.int32), window=10).tolist()
    [1, 4, 0, 0]

    The distribution of figure 2 is how many keys have each age:

    >>> np.unique(k_opt(np.array([0, 0, 1, 2, 1, 2], np.int32), window=10), return_counts=True)
    (array([1, 2]), array([1, 2]))
    """
    require_whole("window", window, least=1)
    positions = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers))
    best = np.zeros(len(ends), np.int64)
    # No age is longer than the stream.
    longest = min(window, len(numbers))
    _best_ages(positions, ends, longest, np.zeros(longest + 1, np.int64), best)
    return best
