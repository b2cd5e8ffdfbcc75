"""Exact counts of every key ever seen, in an open-addressing table that grows with the keys.

>>> counts = new_exact_counts()
>>> for key in (7, 7, 9):
...     counts.add(0, key)
>>> int(counts.frequency(0, 7)), int(counts.frequency(1, 7))
(2, 0)
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import cached, inlined, mix, sure

STREAMS = 2
KEY = 0
FIRST = 1
"""A line of the table: the key, then the count in each stream. A line of zero counts is free."""
SMALLEST = 1024
FULLEST = 0.6


@inlined
def _is_free(lines, place):
    total = 0
    for column in range(FIRST, lines.shape[1]):
        total += lines[place, column]
    return total == 0


@inlined
def _line_of(lines, key):
    mask = sure(len(lines) - 1)
    place = mix(key) & mask
    while lines[place, KEY] != key and not _is_free(lines, place):
        place = (place + 1) & mask
    return place


class ExactCounts(NamedTuple):
    """A table of counts by key and stream."""

    lines: np.ndarray
    used: np.ndarray

    def add(self, stream, key):
        """Count one tuple."""
        place = _line_of(self.lines, key)
        if _is_free(self.lines, place):
            self.lines[place, KEY] = key
            self.used[0] += 1
        self.lines[place, FIRST + stream] += 1

    def crowded(self):
        """Whether there is no room for another key."""
        return self.used[0] >= FULLEST * len(self.lines)

    def frequency(self, stream, key):
        """How often the key came in that stream."""
        place = _line_of(self.lines, key)
        return self.lines[place, FIRST + stream] if self.lines[place, KEY] == key else 0


def new_exact_counts(streams: int = STREAMS) -> ExactCounts:
    """An empty table for so many streams."""
    return ExactCounts(np.zeros((SMALLEST, FIRST + streams), np.int64), np.zeros(1, np.int64))


def enlarge(counts: ExactCounts) -> ExactCounts:
    """The same counts with room for twice as many keys."""
    lines, width = counts.lines.shape
    larger = np.zeros((2 * lines, width), np.int64)
    _refill(larger, counts.lines)
    return ExactCounts(larger, counts.used)


@cached
def _refill(lines, old):
    for place in range(len(old)):
        if not _is_free(old, place):
            line = _line_of(lines, old[place, KEY])
            for column in range(lines.shape[1]):
                lines[line, column] = old[place, column]
