"""Where a relation is kept while it is swept over: in memory if it fits, else in an index on disk.

A supply hands out the events of a relation in order of time. Where they come from makes no
difference to the answer.
"""

import os
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

import psutil

from recollect.errors import BudgetError, InputError
from recollect.intervals.events import events_of
from recollect.intervals.interval_file import POOL_PAGES, IntervalFile
from recollect.intervals.page import PAGE_BYTES
from recollect.intervals.query import Query, Question
from recollect.intervals.reader import Reader
from recollect.intervals.relation import Relation, Tuples
from recollect.intervals.sweep import Events
from recollect.join.budget import parse_budget
from recollect.streams.checks import require_whole

SORTING_BYTES = 64
"""What sorting takes for a tuple, besides its words."""
WORD = 8
SHARE = 4
"""A relation may take one in so many bytes of this machine's memory."""


class Used(NamedTuple):
    """What it took to hand out the events."""

    plan: str
    tuples: int
    page_reads: int = 0
    buffer_hits: int = 0


class Supply(Protocol):
    """Hands out the events of a relation, once."""

    relation: Relation
    used: Used

    def events(self, query: Query) -> Generator[Events, None, None]:
        """Yield the events of the tuples that a query asks about, in order of time."""


@dataclass(frozen=True)
class Memory:
    """How much memory a relation may take."""

    bytes: int

    @classmethod
    def of(cls, given: Any) -> "Memory":
        """Read a size such as ``"2GB"``; None for a part of this machine's memory."""
        if given is None:
            return cls(psutil.virtual_memory().total // SHARE)
        budget = parse_budget(given)
        if budget.bytes is None:
            raise BudgetError(f"memory {given}: give a size, such as 2GB")
        return cls(budget.bytes)


class Pool(NamedTuple):
    """The buffer pool of an index."""

    pages: int
    replacement: str

    @classmethod
    def of(cls, pages: int | None, replacement: str) -> "Pool":
        """Check what a user gave."""
        if replacement not in ("order", "lru"):
            raise InputError(f"replacement {replacement!r} is unknown; there are order and lru")
        if pages is not None:
            require_whole("buffer_pages", pages, least=1)
            if pages * PAGE_BYTES > (there := psutil.virtual_memory().total):
                raise BudgetError(
                    f"buffer_pages {pages} of 4 KiB are more than the memory of this machine; it"
                    f" has room for {there // PAGE_BYTES}"
                )
        return cls(POOL_PAGES if pages is None else pages, replacement)


class WhereItFits:
    """In memory, or in an index for the time being if the tuples turn out to be too many."""

    def __init__(self, reader: Reader, pool: Pool, memory: Memory) -> None:
        self.relation = reader.relation
        self._reader = reader
        self._pool = pool
        self._memory = memory
        self.used = Used("memory", 0)

    def events(self, query: Query) -> Generator[Events, None, None]:
        """Yield the events of the tuples that a query asks about, in order of time."""
        parts = self._reader.tuples(query.checks)
        held: list[Tuples] = []
        size = 0
        for part in parts:
            held.append(part)
            size += len(part) * (SORTING_BYTES + WORD * (2 + len(part.columns)))
            if size > self._memory.bytes:
                spilled = ThroughIndex(self._reader, self._pool, parts=chain(held, parts))
                yield from spilled.events(query)
                self.used = spilled.used
                return
        yield from _sorted(self.relation.together(held), query)
        self.used = Used("memory", self._reader.rows)


class ThroughIndex:
    """In an index that is built first, and kept if a path is given."""

    def __init__(
        self,
        reader: Reader,
        pool: Pool,
        path: str | os.PathLike[str] | None = None,
        parts: Iterator[Tuples] | None = None,
    ) -> None:
        self.relation = reader.relation
        self._reader = reader
        self._pool = pool
        self._path = None if path is None else Path(path)
        self._parts = parts
        self.used = Used("disk", 0)

    def events(self, query: Query) -> Generator[Events, None, None]:
        """Yield the events of the tuples that a query asks about, in order of time."""
        with TemporaryDirectory(prefix="recollect-") as folder:
            # An index that is kept must hold all tuples; another one, only those that count.
            path = self._path or Path(folder, "intervals")
            checks = query.checks if self._path is None else ()
            parts = self._reader.tuples(checks) if self._parts is None else self._parts
            IntervalFile.create(path, self.relation, parts, *self._pool).close()
            # Opened again, so that the pool is empty and the counters are those of the query.
            with closing(IntervalFile.open(path, *self._pool)) as file:
                yield from file.events(query)
                self.used = Used("disk", self._reader.rows, *file.counters)


class FromIndex:
    """An index that was built before."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        question: Question,
        start: str | None,
        end: str | None,
        pool: Pool,
    ) -> None:
        self._path = path
        self._pool = pool
        with closing(IntervalFile.open(path, *pool)) as file:
            self.relation = file.relation_for(question, start, end)
        self.used = Used("disk", 0)

    def events(self, query: Query) -> Generator[Events, None, None]:
        """Yield the events of the tuples that a query asks about, in order of time."""
        with closing(IntervalFile.open(self._path, *self._pool)) as file:
            yield from file.events(query)
            self.used = Used("disk", file.tuples, *file.counters)


def _sorted(tuples: Tuples, query: Query) -> Iterator[Events]:
    value, group = query.question.value, query.question.group_by
    return events_of(
        tuples.start,
        tuples.end,
        None if value is None else tuples.columns[value],
        None if group is None else query.groups.number(tuples.columns[group]),
    )
