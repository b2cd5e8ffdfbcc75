"""Lossy Counting: which keys make up more than a share of a stream, in bounded memory.

Two promises hold at any time, for any stream of N tuples: a key that came s·N times or more is in
the answer for the support s, and a count is low by at most ε·N, never high. So a key in the answer
came at least (s - ε)·N times.

References
----------
Manku, Motwani: Approximate Frequency Counts over Data Streams, VLDB 2002; Li, Chang, Kollios,
Bestavros: Characterizing and Exploiting Reference Locality in Data Stream Applications, ICDE 2006,
section 4.2.
"""

from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.compiled import specialise
from recollect.counting.base import add
from recollect.counting.lossy_table import (
    CODE,
    COUNT,
    ERROR,
    KEPT,
    MISSED,
    ORIGIN,
    PEAK,
    USED,
    LossyTable,
    enlarge_lossy_table,
    new_lossy_table,
    tuples_in,
)
from recollect.errors import InputError
from recollect.streams.checks import require_real, require_whole

Codes = NDArray[np.int64]
LEAST_EPSILON = 1e-12
MOST_ENTRIES = 2**30
FIRST_ENTRIES = 1024


class Entries(NamedTuple):
    """Keys with their counts, the most frequent first."""

    codes: Codes
    counts: Codes
    """Lower bounds: the keys came at least so often."""
    errors: Codes
    """How much the counts may have missed: the keys came at most ``counts + errors`` times."""
    origins: Codes
    """The number of the tuple at which counting began."""


class LossyCounter:
    """Counts codes of keys; feed it arrays.

    Parameters
    ----------
    epsilon
        By which share of all tuples a count may be low. Entries are about 1/ε at most.
    memory
        The most entries there may be. If they do not suffice, :attr:`epsilon` becomes larger.

    Examples
    --------
    >>> counter = LossyCounter(epsilon=0.1)
    >>> counter.add(np.repeat([7, 8, 9, 7], [30, 12, 3, 5]))
    >>> found = counter.frequent(support=0.2)
    >>> found.codes.tolist(), found.counts.tolist(), found.errors.tolist()
    ([7, 8], [35, 12], [0, 3])
    """

    def __init__(self, epsilon: float, memory: int | None = None) -> None:
        require_real("epsilon", epsilon, least=LEAST_EPSILON, most=1)
        if memory is not None:
            require_whole("memory", memory, least=1, most=MOST_ENTRIES)
        self._asked = as_typed(epsilon)
        self._memory = MOST_ENTRIES if memory is None else memory
        first = min(self._memory, FIRST_ENTRIES)
        self._table = new_lossy_table(first, width_of(epsilon), streams=1)

    def add(self, codes: ArrayLike) -> None:
        """Count the next tuples of the stream, as codes of their keys."""
        array = np.ascontiguousarray(codes)
        if array.ndim != 1 or array.dtype != np.int64:
            raise InputError(
                f"codes must be a one-dimensional array of int64, not {array.dtype} of shape"
                f" {array.shape}; recollect.hashing.code_of_columns makes codes of any keys"
            )
        array = array.view()
        array.flags.writeable = False  # as Arrow's are, so that one kernel serves all
        count = specialise(_count, LossyTable)
        done = 0
        while done < len(array):
            entries = self._table.lines.shape[1]
            grows = entries < self._memory
            done = count(self._table, array, done, grows)
            if done < len(array):
                self._table = enlarge_lossy_table(self._table, min(2 * entries, self._memory))

    def _fact(self, which: int) -> int:
        return int(self._table.facts[0, which])

    @property
    def tuples(self) -> int:
        """How many tuples came so far."""
        return int(tuples_in(self._table, 0))

    @property
    def missed(self) -> int:
        """How often a key without an entry may have come; no count is low by more."""
        return self._fact(MISSED)

    @property
    def epsilon(self) -> float:
        """By which share of all tuples a count may be low: as asked for, if memory sufficed."""
        return float(max(self._asked, Fraction(self.missed, max(self.tuples, 1))))

    @property
    def entries(self) -> int:
        """How many keys have an entry now."""
        return self._fact(USED)

    @property
    def entries_peak(self) -> int:
        """How many keys had an entry at the same time, at most."""
        return max(self._fact(PEAK), self.entries)

    @property
    def entries_kept(self) -> int:
        """How many keys still had an entry after the end of a bucket, at most."""
        return self._fact(KEPT)

    def all_entries(self) -> Entries:
        """Every key that has an entry, in the order in which they got it."""
        lines = self._table.lines[0, : self.entries].copy()
        return Entries(*(lines[:, column] for column in (CODE, COUNT, ERROR, ORIGIN)))

    def frequent(self, support: float) -> Entries:
        """Return all keys that may make up this share of the stream, the most frequent first.

        Parameters
        ----------
        support
            The share, more than ε.
        """
        require_real("support", support, least=0, most=1)
        least, tuples = as_typed(support) * self.tuples, self.tuples
        if as_typed(support) <= self._asked:
            raise InputError(
                f"support {support} is not more than epsilon, {float(self._asked)}; give a smaller"
                " epsilon, such as a tenth of the support"
            )
        if 0 < least <= self.missed:
            raise InputError(
                f"{self._memory} entries do not suffice for a support of {support}: counts may be"
                f" low by {self.missed} of {tuples} tuples; give more memory"
            )
        found = self.all_entries()
        slack = max(self._asked * tuples, Fraction(self.missed))
        chosen = np.flatnonzero(found.counts >= ceil(least - slack))
        order = chosen[np.argsort(-found.counts[chosen], kind="stable")]
        return Entries(*(column[order] for column in found))


def as_typed(share: float) -> Fraction:
    """The number that a person means by a decimal fraction: 0.1 is a tenth.

    >>> as_typed(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(share)))


def width_of(epsilon: float) -> int:
    """How many tuples a bucket has.

    >>> width_of(0.001), width_of(0.3)
    (1000, 4)
    """
    return ceil(1 / as_typed(epsilon))


def _count(table, codes, start, grows):
    """Count until the table must grow; return how far that went."""
    i = start
    while i < len(codes):
        room = table.lines.shape[1] - table.facts[0, USED]
        if grows and room == 0:
            break
        for _ in range(min(len(codes) - i, max(room, 1))):
            add(table, 0, codes[i])
            i += 1
    return i
