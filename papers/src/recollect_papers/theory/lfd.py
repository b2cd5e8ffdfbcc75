"""LFD: the optimal cache, which forgets the row whose next reference is farthest in the future.

References
----------
Belady: A study of replacement algorithms for a virtual-storage computer, 1966; Xie, Yang, Chen:
On Joining and Caching Stochastic Streams, 2005, section 7.1.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.compiled import cached
from recollect.errors import InputError
from recollect.streams.checks import require_whole


def lfd_hits(references: ArrayLike, capacity: int, refuse: bool = True) -> int:
    """Count the hits of a cache that knows the future.

    Parameters
    ----------
    references
        Codes of the rows referred to, in order.
    capacity
        How many rows the cache holds.
    refuse
        Whether a row fetched may be left out of the cache, as in the caching problem of the paper.
        Without, it always replaces another, as in the literature on paging; that costs some hits.

    Examples
    --------
    >>> lfd_hits([1, 2, 3, 1, 2, 1], capacity=1)
    2
    >>> lfd_hits([1, 2, 1], capacity=1), lfd_hits([1, 2, 1], capacity=1, refuse=False)
    (1, 0)
    """
    require_whole("capacity", capacity, least=0)
    rows = np.asarray(references)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise InputError(f"references must be a flat array of whole numbers, not {rows.dtype}")
    if len(rows) == 0 or capacity == 0:
        return 0
    capacity = min(capacity, len(rows))
    heap, place = np.empty(capacity + 1, np.int64), np.full(2 * len(rows), -1)
    return int(_hits(next_references(rows), capacity, refuse, heap, place))


def next_references(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Tell where each row is referred to next; beyond the end if it never is.

    >>> next_references(np.array([5, 7, 5]))
    array([2, 4, 5])
    """
    n = len(rows)
    order = np.argsort(rows, kind="stable")
    again = rows[order][1:] == rows[order][:-1]
    # Rows that never come again differ from each other, so that no two waits are equal.
    following = n + np.arange(n)
    following[order[:-1][again]] = order[1:][again]
    return following


@cached
def _hits(
    following: NDArray[np.int64],
    capacity: int,
    refuse: bool,
    heap: NDArray[np.int64],
    place: NDArray[np.int64],
) -> int:
    """Keep the cached rows in a heap, the one whose next reference is farthest on top.

    ``place`` says for each next reference where it is in the heap, -1 for nowhere.
    """
    size = hits = 0
    for now in range(len(following)):
        coming = following[now]
        at = place[now]
        if at >= 0:  # a hit: its next reference moves away from now
            hits += 1
            place[now] = -1
        elif size < capacity:
            at = size
            size += 1
        elif refuse and coming > heap[0]:
            continue
        else:
            at = 0
            place[heap[0]] = -1
        # The new entry is farther than what it replaces, or replaces the farthest.
        while at > 0 and heap[(at - 1) // 2] < coming:
            heap[at] = heap[(at - 1) // 2]
            place[heap[at]] = at
            at = (at - 1) // 2
        while True:
            child = 2 * at + 1
            if child + 1 < size and heap[child + 1] > heap[child]:
                child += 1
            if child >= size or heap[child] <= coming:
                break
            heap[at] = heap[child]
            place[heap[at]] = at
            at = child
        heap[at] = coming
        place[coming] = at
    return hits
