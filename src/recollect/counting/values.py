"""Lossy Counting of values of any Arrow type.

Keys are counted by their 64-bit codes. A value is remembered only while its key has an entry, so
memory stays bounded: after each batch the values of entries that went are dropped, and those of new
entries are taken from the batch. Values longer than 64 bits are told apart by a hash; that two of
them share one, and are counted as one, has a probability of about 2^-64 per pair.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from recollect.counting.lossy import Entries, LossyCounter
from recollect.hashing import code_of, missing


class ValueEntries(NamedTuple):
    """Values with their entries."""

    values: pa.Array
    entries: Entries


class ValueCounter:
    """Counts the values of Arrow arrays; NULL and NaN are not values.

    ``epsilon`` and ``memory`` are those of :class:`~recollect.counting.LossyCounter`.

    Examples
    --------
    >>> counter = ValueCounter(pa.string(), epsilon=0.25)
    >>> counter.add(pa.array(["a", "b", "a", None, "c", "a"]))
    >>> found = counter.frequent(support=0.5)
    >>> found.values.to_pylist(), found.entries.counts.tolist(), counter.nulls
    (['a'], [3], 1)
    """

    def __init__(self, kind: pa.DataType, epsilon: float, memory: int | None = None) -> None:
        self.counter = LossyCounter(epsilon, memory)
        self.nulls = 0
        """How many tuples had no value; they count nowhere else."""
        self._values = pa.array([], kind)
        self._origins = np.empty(0, np.int64)

    def add(self, values: pa.Array) -> None:
        """Count the values of the next tuples."""
        mask = missing([values])
        if mask is not None:
            self.nulls += int(mask.sum())
            values = values.filter(pa.array(~mask))
        first = self.counter.tuples
        self.counter.add(code_of(values))
        origins = self.counter.all_entries().origins  # in ascending order
        new = np.searchsorted(origins, first)
        old = np.searchsorted(self._origins, origins[:new])
        self._values = pa.concat_arrays(
            [self._values.take(pa.array(old)), values.take(pa.array(origins[new:] - first))]
        )
        self._origins = origins

    def all_entries(self) -> ValueEntries:
        """Every value that has an entry."""
        return ValueEntries(self._values, self.counter.all_entries())

    def frequent(self, support: float) -> ValueEntries:
        """Return all values that may make up this share of the stream, the most frequent first."""
        found = self.counter.frequent(support)
        places = np.searchsorted(self._origins, found.origins)
        return ValueEntries(self._values.take(pa.array(places)), found)
