"""Aggregates over time: how many tuples were there at every moment, and what were their values?

After J.-H. Woo, B. S. Lee, M.-J. Lee, J.-G. Lee and K.-Y. Whang: *Transformation-based temporal
aggregation using order-based buffer replacement strategy*.
"""

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

import pyarrow as pa

from recollect.errors import InputError
from recollect.intervals.constant_intervals import Shape
from recollect.intervals.events import Events
from recollect.intervals.query import Query, Question
from recollect.intervals.supply import Supply, Used
from recollect.intervals.sweep import Rows
from recollect.join.whole import Progress, quiet


@dataclass(frozen=True)
class AggregateStats:
    """How an answer came about."""

    tuples: int
    """Tuples of the relation."""
    constant_intervals: dict[str, int]
    """How many rows each aggregate has of its own."""
    page_reads: int
    buffer_hits: int
    seconds: float
    plan: str
    """``memory`` or ``disk``."""

    def as_dict(self) -> dict[str, Any]:
        """Everything as JSON knows it."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, repr=False)
class Aggregation:
    """What :func:`aggregate` found."""

    stats: AggregateStats
    _shape: Shape = field(compare=False)
    _parts: Sequence[Rows] = field(compare=False)

    @property
    def aggregates(self) -> tuple[str, ...]:
        """The names of what was asked for."""
        return self._shape.names

    @cached_property
    def table(self) -> pa.Table:
        """All aggregates side by side; a new row begins where any of them changes.

        The columns are the group, if there is one, start, end and the aggregates. The rows of a
        group leave no gap: where no tuple is active, COUNT is 0 and the others are NULL. The end of
        an interval that never ends is NULL.
        """
        return pa.Table.from_batches(map(self._shape.batch, self._parts), self._shape.schema)

    def of(self, aggregate: str) -> pa.Table:
        """The constant intervals of one aggregate; a new row begins where that one changes."""
        if aggregate not in self.aggregates:
            raise InputError(f"{aggregate!r} was not asked for; {', '.join(self.aggregates)} were")
        rows = self._shape.constant(self._parts, aggregate)
        return pa.Table.from_batches([self._shape.batch(rows, [aggregate])])

    @classmethod
    def of_run(cls, run: "TemporalAggregate") -> "Aggregation":
        """Collect all rows of a run."""
        parts = run.shape.in_order(list(run))
        return cls(run.stats, run.shape, parts)

    def __repr__(self) -> str:
        """Show the numbers, not the rows."""
        return f"Aggregation({self.stats})"


class TemporalAggregate:
    """An aggregation whose rows come piece by piece; see :func:`aggregate` for the parameters."""

    def __init__(
        self,
        source: Any,
        start: str | None = None,
        end: str | None = None,
        value: str | None = None,
        *,
        agg: str | Iterable[str] = "count,sum,avg,min,max",
        where: str | None = None,
        from_: Any = None,
        to: Any = None,
        span: Any = None,
        group_by: str | None = None,
        index: str | os.PathLike[str] | None = None,
        buffer_pages: int | None = None,
        replacement: str = "order",
        memory: Any = None,
        progress: Progress = quiet,
    ) -> None:
        question = Question.of(agg, value, group_by, where, from_, to, span)
        self._supply = Supply(
            source, question, start, end, index=index, buffer_pages=buffer_pages,
            replacement=replacement, memory=memory, progress=progress,
        )  # fmt: skip
        self._query = Query(question, self._supply.relation)
        self.shape = Shape(self._query)
        self._used = Used("memory", 0)
        self._stats: AggregateStats | None = None

    def _events(self) -> Generator[Events, None, None]:
        self._used = yield from self._supply.events(self._query)

    def __iter__(self) -> Iterator[Rows]:
        """Answer; with groups, the rows of different groups come in no particular order."""
        started, intervals = perf_counter(), 0
        with closing(self._events()) as chunks:
            for rows in self._query.rows(chunks):
                intervals += len(rows.start)
                yield rows
        counts = self._query.sweep.constant_intervals
        if self._query.spans is not None:
            counts = dict.fromkeys(counts, intervals)
        used = self._used
        self._stats = AggregateStats(
            tuples=used.tuples, constant_intervals=counts, page_reads=used.page_reads,
            buffer_hits=used.buffer_hits, seconds=perf_counter() - started, plan=used.plan,
        )  # fmt: skip

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Answer in batches of :attr:`shape`; without groups, in order of time."""
        return (self.shape.batch(rows) for rows in self if len(rows.start))

    @property
    def stats(self) -> AggregateStats:
        """The numbers, once it has run."""
        assert self._stats is not None, "the aggregation has not run to its end"
        return self._stats


def aggregate(
    source: Any,
    start: str | None = None,
    end: str | None = None,
    value: str | None = None,
    **arguments: Any,
) -> Aggregation:
    """Aggregate a temporal relation over every moment of time.

    Parameters
    ----------
    source
        A path (Parquet, CSV, Arrow IPC, JSON lines), an Arrow table, a pandas or Polars frame,
        anything else with ``__arrow_c_stream__``, or the path of an index made before.
    start, end
        The columns of the times: a tuple is active from its start up to, but not including, its
        end; without an end (NULL), for ever. Whole numbers, dates or time stamps. An index knows
        them.
    value
        The column of the values: any number or decimal. Without it only COUNT can be asked for,
        and counts all tuples instead of those with a value that is not NULL.
    agg
        Which aggregates, separated by commas: ``count``, ``sum``, ``avg``, ``min``, ``max``.
    where
        Conditions on ordinary attributes: ``"origin = 'JFK' and distance >= 500"``.
    from_, to
        Only the moments of ``[from_, to)`` are asked for.
    span
        One row per ``"day"``, ``"month"``, ``"15min"`` and so on, over all tuples that overlap it.
    group_by
        An attribute: each of its values is aggregated on its own.
    index
        Build an index in this file, which must not exist, and keep it. Next time, give the file as
        the source.
    buffer_pages
        Work on disk, through a pool of so many pages of 4 KiB.
    replacement
        Which page leaves the pool: ``order`` (the paper's, by what is needed last) or ``lru``.
    memory
        The most that the tuples may take in memory, as in ``"2GB"``, before they go to disk; a
        quarter of this machine's by default.
    progress
        Called with the name of the stage and the number of tuples just read.

    Examples
    --------
    The salaries of the paper's Figure 1:

    >>> salaries = pa.table(
    ...     {
    ...         "from": [5, 8, 14, 18],
    ...         "till": [12, 23, 21, 25],
    ...         "salary": [35_000, 45_000, 37_000, 40_000],
    ...     }
    ... )
    >>> answer = aggregate(salaries, "from", "till", "salary")
    >>> for name in ("count", "min"):
    ...     print(*(tuple(row.values()) for row in answer.of(name).to_pylist()))
    (5, 8, 1) (8, 12, 2) (12, 14, 1) (14, 18, 2) (18, 21, 3) (21, 23, 2) (23, 25, 1)
    (5, 12, 35000) (12, 14, 45000) (14, 21, 37000) (21, 25, 40000)
    >>> answer.stats.constant_intervals
    {'count': 7, 'sum': 7, 'avg': 7, 'min': 4, 'max': 3}
    """
    return Aggregation.of_run(TemporalAggregate(source, start, end, value, **arguments))
