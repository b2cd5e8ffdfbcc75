"""A shuffled stream: the same popularity, and no correlation between neighbours.

Tuples are put in the order of ``mix(position + seed * ODD)``, where positions count from 0, the sum
wraps at 64 bits, ``mix`` is the finaliser of SplitMix64 and its results are compared as signed
numbers. ``mix`` maps 64-bit words one to one, so no two tuples tie, and whoever knows a tuple's
position knows its rank: a cluster shuffles the stream into the very same order.
"""

import numpy as np
from numpy.typing import NDArray

from recollect.compiled import cached, mix

ODD = 0x9E3779B97F4A7C15
"""The increment of SplitMix64: seeds are as far apart as 64 bits allow."""


@cached
def _mix_all(words, ranks):  # type: ignore[no-untyped-def]
    for i in range(len(words)):
        ranks[i] = mix(words[i])


def shuffle_ranks(positions: NDArray[np.int64], seed: int = 0) -> NDArray[np.int64]:
    """What the tuples at some positions are sorted by.

    >>> shuffle_ranks(np.arange(3)).tolist()
    [0, 6238072747940578789, -2606959012126976886]
    """
    offset = np.uint64(seed * ODD % 2**64).view(np.int64)
    ranks = np.empty(len(positions), np.int64)
    _mix_all(np.asarray(positions, np.int64) + offset, ranks)
    return ranks


def permutation(tuples: int, seed: int = 0) -> NDArray[np.int64]:
    """The positions of a stream in shuffled order.

    Examples
    --------
    >>> permutation(6).tolist(), permutation(6, seed=1).tolist()
    ([5, 4, 2, 0, 3, 1], [1, 2, 0, 3, 5, 4])
    """
    return np.argsort(shuffle_ranks(np.arange(tuples), seed))
