"""Inter-arrival distances: how many tuples after its last appearance a key comes again.

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, definition 1.
"""

import numpy as np
from numpy.typing import NDArray

from recollect.compiled import cached
from recollect.locality.distances import Distances, bin_of, new_counts

NEVER = -1


@cached
def _count(last, position, numbers, counts):  # type: ignore[no-untyped-def]
    firsts = 0
    for number in numbers:
        if last[number] == NEVER:
            firsts += 1
        else:
            counts[bin_of(position - last[number])] += 1
        last[number] = position
        position += 1
    return firsts


class InterArrival:
    """Counts, in one pass, the distance from each tuple to the one before it with the same key.

    A key that comes twice in a row has the distance 1. The state is the position of the last
    appearance of each key, 8 bytes, and the counters.

    Examples
    --------
    >>> arrivals = InterArrival()
    >>> arrivals.add(np.array([0, 1, 1, 0, 2, 0], np.int32))
    >>> found = arrivals.distances
    >>> found.counts[:4].tolist(), found.firsts
    ([0, 1, 1, 1], 3)
    """

    def __init__(self) -> None:
        self._position = 0
        self._firsts = 0
        self._last = np.full(1024, NEVER, np.int64)
        self._counts = new_counts()

    def add(self, numbers: NDArray[np.int32]) -> None:
        """Take the next tuples, as numbers of their keys
        (:class:`~recollect.locality.numbering.KeyNumbers`).
        """
        if not len(numbers):
            return
        if (largest := int(numbers.max())) >= len(self._last):
            more = (1 << largest.bit_length()) - len(self._last)
            self._last = np.concatenate([self._last, np.full(more, NEVER, np.int64)])
        self._firsts += int(_count(self._last, self._position, numbers, self._counts))
        self._position += len(numbers)

    @property
    def distances(self) -> Distances:
        """What has been counted so far."""
        return Distances(self._counts.copy(), self._firsts)
