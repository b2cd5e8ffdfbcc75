"""Where a relation is kept while it is swept over: in memory if it fits, else in an index on disk.

The answer is the same wherever the events come from.
"""

import os
from collections.abc import Generator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import psutil

from recollect.errors import BudgetError, InputError
from recollect.intervals.disk import PAGE_BYTES, POOL_PAGES, require_replacement
from recollect.intervals.events import Events, events_of
from recollect.intervals.interval_file import IntervalFile, is_interval_file
from recollect.intervals.query import Query, Question
from recollect.intervals.relation import Reader, Relation, Tuples
from recollect.join.budget import parse_budget
from recollect.join.whole import Progress
from recollect.streams import open_source
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


class Supply:
    """The events of a relation; see :func:`recollect.aggregate` for the parameters."""

    def __init__(
        self,
        source: Any,
        question: Question,
        start: str | None,
        end: str | None,
        *,
        index: str | os.PathLike[str] | None,
        buffer_pages: int | None,
        replacement: str,
        memory: Any,
        progress: Progress,
    ) -> None:
        require_replacement(replacement)
        self._pool = _pages_of_pool(buffer_pages), replacement
        self._index = index
        self._reader: Reader | None = None
        self._memory = 0
        if is_interval_file(source):
            if index is not None:
                raise InputError(f"{source} is an index already; leave index={index} out")
            self._index = source
            with IntervalFile.open(source, *self._pool) as file:
                self.relation = file.relation_for(question, start, end)
            return
        data = open_source(source)
        value = question.value
        self.relation = Relation.of(data.schema, start, end, value, question.attributes, data.name)
        self._reader = Reader(data, self.relation, progress)
        if index is None and buffer_pages is None:
            self._memory = _bytes_of(memory)

    def events(self, query: Query) -> Generator[Events, None, Used]:
        """Yield the events of the tuples that a query asks about, in order of time."""
        if self._reader is None:
            assert self._index is not None
            return (yield from self._from_index(self._index, query))
        # An index that is kept must hold all tuples; what is not, only those that count.
        parts = self._reader.tuples(() if self._index is not None else query.checks)
        held: list[Tuples] = []
        size = 0
        while size <= self._memory and self._memory:
            part = next(parts, None)
            if part is None:
                yield from _in_order(self.relation.together(held), query)
                return Used("memory", self._reader.rows)
            held.append(part)
            size += len(part[0]) * (SORTING_BYTES + WORD * len(part))
        with TemporaryDirectory(prefix="recollect-") as folder:
            path = self._index or Path(folder, "intervals")
            IntervalFile.create(path, self.relation, chain(held, parts), *self._pool).close()
            # Opened again, so that the pool is empty and the counters are those of the query.
            used = yield from self._from_index(path, query)
            return used._replace(tuples=self._reader.rows)

    def _from_index(
        self, path: str | os.PathLike[str], query: Query
    ) -> Generator[Events, None, Used]:
        with IntervalFile.open(path, *self._pool) as file:
            yield from file.events(query)
            return Used("disk", file.tuples, *file.counters)


def _in_order(tuples: Tuples, query: Query) -> Generator[Events, None, None]:
    value, group = query.question.value, query.question.group_by
    places = query.relation.places
    yield from events_of(
        tuples[0],
        tuples[1],
        None if value is None else tuples[places[value]],
        None if group is None else query.groups.number(tuples[places[group]]),
    )


def _bytes_of(memory: Any) -> int:
    """Read a size such as ``"2GB"``; None for a part of this machine's memory."""
    if memory is None:
        return psutil.virtual_memory().total // SHARE
    budget = parse_budget(memory)
    if budget.bytes is None:
        raise BudgetError(f"memory {memory}: give a size, such as 2GB")
    return budget.bytes


def _pages_of_pool(given: int | None) -> int:
    if given is None:
        return POOL_PAGES
    require_whole("buffer_pages", given, least=1)
    if given * PAGE_BYTES > (there := psutil.virtual_memory().total):
        raise BudgetError(
            f"buffer_pages {given} of 4 KiB are more than the memory of this machine; it has room"
            f" for {there // PAGE_BYTES}"
        )
    return given
