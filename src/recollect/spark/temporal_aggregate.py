"""Temporal aggregation on Spark: time is cut into ranges, and each range is swept on its own.

The cuts are quantiles of the start times. A tuple goes to all ranges that it overlaps, cut to each
of them; a range is swept like a whole relation. Only the first and the last row of a range can
touch another range: those are put together where they are equal, and the gaps between them are
filled. Sums are exact until they are rounded, so the answer does not depend on the cuts.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import BooleanType, LongType, StructField, StructType

from recollect.errors import InputError
from recollect.intervals.constant_intervals import Shape
from recollect.intervals.query import Question
from recollect.spark.time_ranges import AT_BORDER, END, GROUP, RANGE, START, VALUE, WORD, RangeJob
from recollect.spark.words import find, require_bytewise, require_comparable
from recollect.streams.checks import require_whole

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
    names = _needed(question, start, end)
    positions = [find(df, name, "the DataFrame") for name in names]
    fields = [
        StructField(name, df.schema[at].dataType) for name, at in zip(names, positions, strict=True)
    ]
    zone = str(settings.get("spark.sql.session.timeZone"))
    job = RangeJob(question, to_arrow_schema(StructType(fields), timezone=zone), start, end)
    numbered = df.toDF(*(f"column{at}" for at in range(len(df.columns))))
    columns = numbered.select([f"column{at}" for at in positions])
    group = [field for field in fields if field.name == group_by]
    for field in group:
        require_comparable(field)
        require_bytewise(field)
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


def _needed(question: Question, start: str, end: str) -> list[str]:
    value = [] if question.value is None else [question.value]
    return list(dict.fromkeys([start, end, *value, *question.attributes]))


def _longs(*names: str) -> list[StructField]:
    return [StructField(name, LongType()) for name in names]


def _cuts(tuples: DataFrame, ranges: int) -> tuple[int, ...]:
    """Times that cut the tuples into ranges of about equally many starts."""
    if ranges == 1:
        return ()
    shares = [number / ranges for number in range(1, ranges)]
    found: Sequence[float] = tuples.approxQuantile(START, shares, ERROR)  # type: ignore[assignment]
    return tuple(sorted({round(cut) for cut in found}))


def _answer(job: RangeJob, fields: list[StructField]) -> StructType:
    """The columns of the answer in Spark's types; times, groups and values keep their own."""
    schema: pa.Schema = Shape(job.query).schema
    types = {field.name: field.dataType for field in fields}
    question = job.question
    kept = {START: job.start, END: job.end}
    if question.value is not None:
        kept |= {"min": question.value, "max": question.value}
    if question.group_by is not None:
        kept[question.group_by] = question.group_by
    return StructType(
        [
            StructField(
                field.name, types[kept[field.name]] if field.name in kept else field.dataType
            )
            for field in from_arrow_schema(schema)
        ]
    )
