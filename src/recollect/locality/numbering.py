"""Keys as the numbers 0, 1, 2, … so that tables by key are plain arrays."""

import numpy as np
from numpy.typing import NDArray

from recollect.compiled import cached, inlined, mix
from recollect.errors import InputError

FREE = -1
SMALLEST = 1024
MOST = 2**31 - 1
"""Numbers have 32 bits, because one per tuple is kept."""


@inlined
def _place_of(table, codes, code):  # type: ignore[no-untyped-def]
    mask = len(table) - 1
    place = mix(code) & mask
    while table[place] != FREE and codes[table[place]] != code:
        place = (place + 1) & mask
    return place


@cached
def _number(table, codes, counts, distinct, arrivals, numbers):  # type: ignore[no-untyped-def]
    for i in range(len(arrivals)):
        place = _place_of(table, codes, arrivals[i])
        if table[place] == FREE:
            table[place] = distinct
            codes[distinct] = arrivals[i]
            distinct += 1
        numbers[i] = table[place]
        counts[numbers[i]] += 1
    return distinct


@cached
def _refill(table, codes, distinct):  # type: ignore[no-untyped-def]
    for number in range(distinct):
        table[_place_of(table, codes, codes[number])] = number


class KeyNumbers:
    """Numbers keys in the order in which they first come, and counts each of them.

    The state is one line per distinct key: its code, its count and two places of a hash table, 24
    to 48 bytes.

    Examples
    --------
    >>> keys = KeyNumbers()
    >>> keys.add(np.array([70, 80, 70])).tolist(), keys.add(np.array([90, 80])).tolist()
    ([0, 1, 0], [2, 1])
    >>> keys.distinct, keys.counts.tolist()
    (3, [2, 2, 1])
    """

    def __init__(self) -> None:
        self.distinct = 0
        self._table = np.full(2 * SMALLEST, FREE, np.int32)
        self._codes = np.zeros(SMALLEST, np.int64)
        self._counts = np.zeros(SMALLEST, np.int64)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each key came, by its number."""
        return self._counts[: self.distinct]

    def add(self, codes: NDArray[np.int64]) -> NDArray[np.int32]:
        """Take the next tuples, as codes of their keys, and return the numbers of the keys."""
        self._make_room(self.distinct + len(codes))
        numbers = np.empty(len(codes), np.int32)
        # A copy of what may not be written to: numba would compile a second version for that.
        arrivals = np.require(codes, np.int64, ["C", "W"])
        self.distinct = int(
            _number(self._table, self._codes, self._counts, self.distinct, arrivals, numbers)
        )
        return numbers

    def _make_room(self, keys: int) -> None:
        if keys > MOST:
            raise InputError(f"a stream with more than {MOST:,} distinct keys cannot be numbered")
        if keys <= len(self._codes):
            return
        size = 1 << (keys - 1).bit_length()
        self._codes = np.concatenate([self._codes, np.zeros(size - len(self._codes), np.int64)])
        self._counts = np.concatenate([self._counts, np.zeros(size - len(self._counts), np.int64)])
        self._table = np.full(2 * size, FREE, np.int32)
        _refill(self._table, self._codes, self.distinct)
