"""The entries of Lossy Counting, in a table of fixed size that kernels can use.

The stream is cut into buckets. A key that is not in the table gets an entry: its count since, and
how much the count may have missed before. At the end of a bucket every entry has to be worth it: if
its count and what it may have missed are no more than a key without an entry may have missed, it
goes. A bucket ends after a given number of tuples (1/ε), or earlier when a key comes that the table
has no room for.

A count is never too high, and too low by at most the number of buckets so far.

>>> table = new_lossy_table(entries=8, width=4)
>>> for key in (7, 7, 9, 7, 5):
...     table.add(0, key)
>>> [int(table.frequency(0, key)) for key in (7, 9, 5)]
[3, 0, 1]

References
----------
Manku, Motwani: Approximate Frequency Counts over Data Streams, VLDB 2002; Li, Chang, Kollios,
Bestavros: Characterizing and Exploiting Reference Locality in Data Stream Applications, ICDE 2006,
Algorithm 2.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import cached, inlined, mix

STREAMS = 2
CODE, COUNT, ERROR, ORIGIN = range(4)
"""A line: a key, its count, what that may have missed, and the number of the tuple it came with."""
WIDTH, TUPLES, LEFT, USED, MISSED, PEAK, KEPT = range(7)
"""The facts of a stream: tuples per bucket, tuples before this bucket and still to come in it,
entries, what a key without an entry may have missed, and the most entries ever before and after the
end of a bucket."""
EMPTY = -1
BYTES_PER_ENTRY = 32 + 16
"""A line, and at most four places."""


class LossyTable(NamedTuple):
    """The arrays of the table; each has the stream as its first dimension."""

    places: np.ndarray
    """By hash of the key: its line, or ``EMPTY``."""
    lines: np.ndarray
    """The entries, older ones first."""
    facts: np.ndarray

    def add(self, stream, key):
        """Count one tuple."""
        place = _place_of(self, stream, key)
        line = self.places[stream, place]
        if line == EMPTY:
            if self.facts[stream, USED] == self.lines.shape[1]:
                _end_bucket(self, stream, True)
                place = _place_of(self, stream, key)
            line = self.facts[stream, USED]
            self.places[stream, place] = line
            self.lines[stream, line, CODE] = key
            self.lines[stream, line, COUNT] = 0
            self.lines[stream, line, ERROR] = self.facts[stream, MISSED]
            self.lines[stream, line, ORIGIN] = tuples_in(self, stream)
            self.facts[stream, USED] += 1
        self.lines[stream, line, COUNT] += 1
        self.facts[stream, LEFT] -= 1
        if self.facts[stream, LEFT] == 0:
            _end_bucket(self, stream, False)

    def frequency(self, stream, key):
        """A lower bound of how often the key came in that stream."""
        line = self.places[stream, _place_of(self, stream, key)]
        return self.lines[stream, line, COUNT] if line != EMPTY else 0


@inlined
def tuples_in(table, stream):
    """How many tuples of the stream have been counted."""
    facts = table.facts
    return facts[stream, TUPLES] + facts[stream, WIDTH] - facts[stream, LEFT]


@inlined
def _place_of(table, stream, key):
    mask = table.places.shape[1] - 1
    place = mix(key) & mask
    while (
        table.places[stream, place] != EMPTY
        and table.lines[stream, table.places[stream, place], CODE] != key
    ):
        place = (place + 1) & mask
    return place


@inlined
def _end_bucket(table, stream, full):
    facts, lines = table.facts, table.lines
    used = facts[stream, USED]
    missed = facts[stream, MISSED] + 1
    if full:  # then it ends as many buckets at once as it takes until an entry goes
        missed = lines[stream, 0, COUNT] + lines[stream, 0, ERROR]
        for line in range(1, used):
            missed = min(missed, lines[stream, line, COUNT] + lines[stream, line, ERROR])
    kept = 0
    for line in range(used):
        if lines[stream, line, COUNT] + lines[stream, line, ERROR] > missed:
            for column in range(lines.shape[2]):
                lines[stream, kept, column] = lines[stream, line, column]
            kept += 1
    facts[stream, TUPLES] = tuples_in(table, stream)
    facts[stream, LEFT] = facts[stream, WIDTH]
    facts[stream, USED] = kept
    facts[stream, MISSED] = missed
    facts[stream, PEAK] = max(used, facts[stream, PEAK])
    facts[stream, KEPT] = max(kept, facts[stream, KEPT])
    _rebuild(table, stream)


@inlined
def _rebuild(table, stream):
    for place in range(table.places.shape[1]):
        table.places[stream, place] = EMPTY
    for line in range(table.facts[stream, USED]):
        place = _place_of(table, stream, table.lines[stream, line, CODE])
        table.places[stream, place] = line


def new_lossy_table(entries: int, width: int, streams: int = STREAMS) -> LossyTable:
    """Make an empty table."""
    size = 2
    while size < 2 * entries:
        size *= 2
    facts = np.zeros((streams, KEPT + 1), np.int64)
    facts[:, WIDTH] = facts[:, LEFT] = width
    return LossyTable(
        places=np.full((streams, size), EMPTY, np.int32),
        lines=np.zeros((streams, entries, ORIGIN + 1), np.int64),
        facts=facts,
    )


def enlarge_lossy_table(table: LossyTable, entries: int) -> LossyTable:
    """Carry the entries over to a table with room for more of them."""
    streams, used, _ = table.lines.shape
    larger = new_lossy_table(entries, 1, streams)
    larger.lines[:, :used] = table.lines
    larger.facts[:] = table.facts
    _rebuild_all(larger)
    return larger


@cached
def _rebuild_all(table):
    for stream in range(table.places.shape[0]):
        _rebuild(table, stream)
