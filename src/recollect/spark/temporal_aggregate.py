"""Temporal aggregation on Spark: time is cut into ranges, and each range is swept on its own.

The cuts are quantiles of the start times. A tuple goes to all ranges that it overlaps, cut to each
of them; a range is swept like a whole relation. Only the first and the last row of a range can
touch another range: those are put together where they are equal, and the gaps between them are
filled. Sums are exact until they are rounded, so the answer does not depend on the cuts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import BooleanType, LongType, StructField, StructType

from recollect.errors import InputError
from recollect.intervals.constant_intervals import Shape
from recollect.intervals.events import events_of
from recollect.intervals.query import Query, Question
from recollect.intervals.relation import Relation
from recollect.intervals.sweep import WORDS, Rows, together
from recollect.intervals.timeline import FOREVER
from recollect.intervals.words import LEAST
from recollect.spark.columns import find, require_hashable
from recollect.streams.checks import require_whole

RANGE, AT_BORDER, GROUP, START, END, VALUE = "range", "at_border", "group", "start", "end", "value"
WORD = tuple(f"word{place}" for place in range(WORDS))
SEAMS = -1
"""The range under which the rows at the borders of all ranges come together."""
ERROR = 0.001
"""How exact the quantiles are, as a share of all tuples."""


def temporal_aggregate(
    df: DataFrame,
    start: str,
    end: str,
    value: str | None = None,
    aggs: str | Iterable[str] = "count,sum,avg,min,max",
    where: str | None = None,
    from_: Any = None,
    to: Any = None,
    span: Any = None,
    group_by: str | None = None,
    ranges: int | None = None,
) -> DataFrame:
    """Aggregate a temporal relation over every moment of time.

    The answer is that of :func:`recollect.aggregate` on the same rows, in no particular order.

    Parameters
    ----------
    df
        Not streaming.
    start, end, value, where, from_, to, span, group_by
        As for :func:`recollect.aggregate`; calendar spans of a TIMESTAMP are those of the session's
        time zone.
    aggs
        Which aggregates, separated by commas: ``count``, ``sum``, ``avg``, ``min``, ``max``.
    ranges
        Into how many ranges time is cut; by default ``spark.sql.shuffle.partitions``. The tuples of
        one range are swept in the memory of one worker.

    Returns
    -------
    DataFrame
        The group, if there is one, start, end and the aggregates. The quantiles are found when this
        function returns, all else when the answer is read.

    Examples
    --------
    Flights in the air at every moment, by airport::

        temporal_aggregate(flights, "departure", "arrival", aggs="count", group_by="origin")
    """
    if df.isStreaming:
        raise InputError(
            "temporal aggregation needs the whole input, but the DataFrame is a stream"
        )
    settings = df.sparkSession.conf
    if ranges is None:
        ranges = int(settings.get("spark.sql.shuffle.partitions") or 1)
    require_whole("ranges", ranges, least=1)
    question = Question.of(aggs, value, group_by, where, from_, to, span)
    values = [] if value is None else [value]
    names = list(dict.fromkeys([start, end, *values, *question.attributes]))
    positions = [find(df, name, "the DataFrame") for name in names]
    fields = [
        StructField(name, df.schema[at].dataType) for name, at in zip(names, positions, strict=True)
    ]
    zone = str(settings.get("spark.sql.session.timeZone"))
    job = RangeJob(question, to_arrow_schema(StructType(fields), timezone=zone), start, end)
    numbered = df.toDF(*(f"column{at}" for at in range(len(df.columns))))
    columns = numbered.select([f"column{at}" for at in positions])
    group = [field for field in fields if field.name == group_by]
    require_hashable(*group)
    of_group = [StructField(GROUP, field.dataType) for field in group]
    tuples = StructType([*_longs(RANGE, START, END, VALUE), *of_group])
    rows = StructType(
        [*_longs(RANGE, START, END, *WORD), StructField(AT_BORDER, BooleanType()), *of_group]
    )

    cuts = _cuts(columns.mapInArrow(job.encoder(()), tuples), ranges)
    swept = (
        columns.mapInArrow(job.encoder(cuts), tuples)
        .groupBy(RANGE)
        .applyInArrow(job.sweeper(), rows)
    )
    border = F.col(AT_BORDER)
    meeting = [F.when(border, SEAMS).otherwise(F.col(RANGE)).alias("meeting")]
    meeting += [F.when(border, F.col(GROUP)).alias("whose") for _ in group]
    return swept.groupBy(*meeting).applyInArrow(job.stitcher(), _answer(job, fields))


def _longs(*names: str) -> list[StructField]:
    return [StructField(name, LongType()) for name in names]


def _cuts(tuples: DataFrame, ranges: int) -> tuple[int, ...]:
    """Times that cut the tuples into ranges of about equally many starts."""
    if ranges == 1:
        return ()
    shares = [number / ranges for number in range(1, ranges)]
    found: Sequence[float] = tuples.approxQuantile(START, shares, ERROR)  # type: ignore[assignment]
    return tuple(sorted({round(cut) for cut in found}))


def _answer(job: "RangeJob", fields: list[StructField]) -> StructType:
    """The columns of the answer in Spark's types; times, groups and values keep their own."""
    types = {field.name: field.dataType for field in fields}
    asked = job.question
    sources = {START: job.start, END: job.end, "min": asked.value, "max": asked.value}
    sources |= {name: name for name in [asked.group_by] if name is not None}
    return StructType(
        [
            StructField(field.name, types.get(sources.get(field.name) or "", field.dataType))
            for field in from_arrow_schema(Shape(job.query).schema)
        ]
    )


# -- what workers do: cut tuples, sweep a range, close the seams ---------------------------------
#
# All rows are words (see recollect.intervals.words) until the last step; only the group keeps its
# own type.

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class RangeJob:
    """A question about columns, in a form that travels to workers."""

    question: Question
    schema: pa.Schema
    """The columns, in the order in which they come."""
    start: str
    end: str

    @property
    def query(self) -> Query:
        """The question made ready; a new one, since it remembers what it has seen."""
        asked = self.question
        return Query(
            asked, Relation.of(self.schema, self.start, self.end, asked.value, asked.attributes)
        )

    def encoder(self, cuts: tuple[int, ...]) -> Callable[[Batches], Batches]:
        """Turn rows into words, once for each of the ranges between the cuts that they overlap."""

        def encode(batches: Batches) -> Batches:
            query = self.query
            for batch in batches:
                yield self._cut(query, batch.rename_columns(self.schema.names), cuts)

        return encode

    def _cut(self, query: Query, batch: pa.RecordBatch, cuts: tuple[int, ...]) -> pa.RecordBatch:
        tuples = query.relation.encode(batch, query.checks)
        start, end = np.maximum(tuples[0], query.low), np.minimum(tuples[1], query.high)
        if query.spans is not None:
            start, end = query.spans.outer(start, end)
        first = np.searchsorted(cuts, start, side="right")
        last = np.searchsorted(cuts, end, side="left")
        copies = np.where(start < end, last - first + 1, 0)
        row = np.repeat(np.arange(len(start)), copies)
        place = np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies - first, copies)
        borders = np.array([LEAST, *cuts, FOREVER])
        value, group = self.question.value, self.question.group_by
        places = query.relation.places
        words = np.zeros(len(start), np.int64) if value is None else tuples[places[value]]
        columns = {
            RANGE: pa.array(place, pa.int64()),
            START: pa.array(np.maximum(start[row], borders[place])),
            END: pa.array(np.minimum(end[row], borders[place + 1])),
            VALUE: pa.array(words[row]),
        }
        if group is not None:
            codec = query.relation.codecs[group]
            columns[GROUP] = codec.decode(tuples[places[group]][row])
        return pa.RecordBatch.from_pydict(columns)

    def sweeper(self) -> Callable[[pa.Table], pa.Table]:
        """Sweep over a range; what comes out is in order of group and time."""

        def sweep(table: pa.Table) -> pa.Table:
            start, end, value = (table[name].to_numpy() for name in (START, END, VALUE))
            numbers, groups = None, None
            if self.question.group_by is not None:
                encoded = table[GROUP].combine_chunks().dictionary_encode("encode")
                numbers, groups = encoded.indices.to_numpy().astype(np.int64), encoded.dictionary
            rows = together(list(self.query.sweep.run(events_of(start, end, value, numbers))))
            order = np.lexsort((rows.start, rows.group))
            group = rows.group[order]
            first = np.append(True, group[1:] != group[:-1])[: len(group)]
            columns = {
                RANGE: pa.array(np.full(len(group), table[RANGE][0].as_py())),
                AT_BORDER: pa.array(first | np.append(first[1:], True)[: len(group)]),
                START: pa.array(rows.start[order]),
                END: pa.array(rows.end[order]),
                **{
                    name: pa.array(line[order]) for name, line in zip(WORD, rows.words, strict=True)
                },
            }
            if groups is not None:
                columns[GROUP] = groups.take(pa.array(group))
            return _in_utc(pa.table(columns))

        return sweep

    def stitcher(self) -> Callable[[pa.Table], pa.Table]:
        """Put the rows at the borders of ranges together, and give all rows their final form."""

        def stitch(table: pa.Table) -> pa.Table:
            start, end, *words = (table[name].to_numpy() for name in (START, END, *WORD))
            rows = Rows(np.arange(len(start)), start, end, np.stack(words))
            if table[AT_BORDER][0].as_py():
                rows = _joined_at_borders(rows, table[RANGE].to_numpy())
            # The group is put in here, as it is, so the query need not know of it.
            query = replace(self, question=replace(self.question, group_by=None)).query
            if query.spans is not None:
                rows = query.spans.expanded(rows)
            answer = pa.Table.from_batches([Shape(query).batch(rows)])
            if self.question.group_by is None:
                return _in_utc(answer)
            group = table[GROUP].take(pa.array(rows.group))
            return _in_utc(answer.add_column(0, self.question.group_by, group))

        return stitch


def _in_utc(table: pa.Table) -> pa.Table:
    """The same instants in UTC, as Spark wants them back, whatever the session's time zone."""
    fields = [
        field.with_type(pa.timestamp(field.type.unit, "UTC"))
        if pa.types.is_timestamp(field.type) and field.type.tz is not None
        else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def _joined_at_borders(rows: Rows, ranges: np.ndarray) -> Rows:
    """The first and last rows of all ranges: in order, gaps filled, equal neighbours merged."""
    order = np.argsort(rows.start)
    start, end, words = rows.start[order], rows.end[order], rows.words[:, order]
    # Between the first and the last row of one range there are others, which are not here.
    apart = (start[1:] > end[:-1]) & (ranges[order][1:] != ranges[order][:-1])
    gaps = np.flatnonzero(apart) + 1
    start, end = np.insert(start, gaps, end[gaps - 1]), np.insert(end, gaps, start[gaps])
    words = np.insert(words, gaps, 0, axis=1)  # a count of 0 and nothing else
    new = np.append(True, (start[1:] != end[:-1]) | np.any(words[:, 1:] != words[:, :-1], axis=0))
    first = np.flatnonzero(new)
    last = np.append(first[1:] - 1, len(start) - 1)
    return Rows(np.zeros(len(first), np.int64), start[first], end[last], words[:, first])
