"""The memory-bounded join of two DataFrames, streams or tables: :func:`bounded_join`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.state import GroupStateTimeout
from pyspark.sql.types import StructField, StructType

from recollect.errors import BudgetError, InputError
from recollect.join.budget import Budget, parse_budget
from recollect.join.online import DEFAULT_POLICY
from recollect.join.query import SIDES, Bound, bind
from recollect.policies import Policy, parse_policy
from recollect.spark.columns import WATERMARK, JoinColumns, internal_name, renamed, require_hashable
from recollect.spark.keeping.shard import Job
from recollect.spark.live.numbers import FIELDS, OBSERVATION
from recollect.spark.operators import (
    JOINED,
    ONE_STATE,
    join_processor,
    one_state_operator,
    sorted_operator,
)
from recollect.spark.packing import (
    CODES,
    PACKED,
    arrow_schema,
    packer,
    ships_codes,
    spreader,
    unpacker,
)

STORE = "spark.sql.streaming.stateStore.providerClass"
NEVER_LATE = "2262-01-01 00:00:00"
"""The latest time that pandas can express."""
SMALLEST_SHARD = 10**6
PARTITIONS = "spark.sql.shuffle.partitions"


def bounded_join(
    left: DataFrame,
    right: DataFrame,
    on: str | Sequence[Any],
    time: Any,
    window: Any,
    budget: Any = None,
    policy: str | Policy = DEFAULT_POLICY,
    shards: int | None = None,
    lateness: Any = None,
    how: str = "inner",
    seed: int = 0,
    name: str = "bounded_join",
) -> DataFrame:
    """Join two DataFrames inside a memory budget; when it is full, a policy says what to forget.

    Streams are joined micro-batch by micro-batch, with the state in Spark's state store, so that a
    query goes on from its checkpoint with the same buffer and the same victims. Tables are joined
    in order of time with no more than the budget in memory.

    Parameters
    ----------
    left, right
        Two streaming DataFrames, or two others.
    on
        The key columns: ``"key"``, ``"left_key=right_key"``, several separated by commas, or a
        list of such. As with :meth:`pyspark.sql.DataFrame.join`, keys of the same name are in the
        result once and first; else all columns of the left are followed by all of the right.
    time
        The time column, or ``"left=right"``.
    window
        How long a row may match: ``"10 minutes"``, ``"landmark:1h"``, ``"unlimited"``, or a number
        of units of the time column (microseconds, days or plain numbers); a pair gives each side
        its own.
    budget
        How much may be remembered over all shards together: ``100_000`` rows, ``"2GB"``, or None
        for no limit.
    policy
        Which row to forget, by name or as an object made from :class:`recollect.Policy`.
    shards
        Into how many parts the keys are divided; by default ``spark.sql.shuffle.partitions``. Each
        has an equal part of the budget.
    lateness
        How far out of order the rows of a stream may come. It becomes a watermark on both streams,
        unless they have one; what is older is counted and not joined. Without any watermark no row
        is ever late, and only the budget bounds what is remembered.
    how
        ``"inner"``.
    seed
        For policies that draw random numbers.
    name
        Under ``recollect.<name>`` the numbers of each micro-batch are observed; see
        :class:`recollect.spark.LiveNumbers`. Each join of a query needs its own.

    Examples
    --------
    >>> from recollect.spark import bounded_join, session
    >>> spark = session()  # doctest: +SKIP
    >>> clicks, views = (spark.readStream.table(t) for t in ("clicks", "views"))  # doctest: +SKIP
    >>> joined = bounded_join(
    ...     views, clicks, on="ad_id", time="ts", window="10 minutes", budget="2GB",
    ...     lateness="30 seconds",
    ... )  # doctest: +SKIP
    """
    spark = left.sparkSession
    columns = JoinColumns.parse(left, right, on, time, window, lateness, how)
    shards = int(spark.conf.get(PARTITIONS) or 0) if shards is None else shards
    job = Job(
        bound=_bound(columns, left, right),
        policy=parse_policy(policy),
        budget=_budget(budget, shards),
        shards=shards,
        seed=int(seed),
        unordered=columns.streaming,
        lateness=0,
        name=name,
        columns=(tuple(left.columns), tuple(right.columns)),
    )
    frames = [columns.with_watermark(frame, side) for side, frame in enumerate((left, right))]
    plan = _of_streams if columns.streaming else _of_tables
    joined = plan(job, columns, *frames)
    sums = [F.sum(field).alias(field) for field in FIELDS]
    joined = joined.observe(OBSERVATION + name, *sums).where("packed IS NOT NULL").select("packed")
    schema = StructType()
    for side, at, _ in columns.output:
        field = frames[side].schema[at]
        schema = schema.add(internal_name(side, at), field.dataType, field.nullable)
    results = joined.mapInArrow(unpacker(schema.names), schema)
    return results.toDF(*(column.name for column in columns.output))


def _bound(columns: JoinColumns, left: DataFrame, right: DataFrame) -> Bound:
    for frame, positions in zip((left, right), columns.keys, strict=True):
        require_hashable(*(frame.schema[position] for position in positions))
    schemas = [
        pa.schema([_arrow_field(field) for field in frame.schema]) for frame in (left, right)
    ]
    bind(columns.query, *schemas)  # with the user's names, for the sake of messages
    keys = [
        tuple(internal_name(side, at) for at in positions)
        for side, positions in enumerate(columns.keys)
    ]
    times = [internal_name(side, at) for side, at in enumerate(columns.times)]
    internal = [
        pa.schema([field.with_name(internal_name(side, at)) for at, field in enumerate(schema)])
        for side, schema in enumerate(schemas)
    ]
    query = replace(columns.query, on=(keys[0], keys[1]), time=(times[0], times[1]))
    return bind(query, *internal)


def _arrow_field(field: StructField) -> pa.Field:
    what = f"column {field.name!r} of type {field.dataType.simpleString()}"
    return arrow_schema(StructType([field]), what).field(0)


def _budget(budget: Any, shards: int) -> Budget:
    if shards < 1:
        raise InputError(f"shards={shards}: there must be at least one")
    parsed = parse_budget(budget, elsewhere=True)
    if parsed.share is not None:
        raise BudgetError(
            f"budget {parsed} is a share of what the exact join holds, which is not known on Spark;"
            " give a number of rows or bytes, such as 100000 or 2GB"
        )
    if parsed.tuples is not None and parsed.tuples < shards:
        raise BudgetError(
            f"budget {parsed} cannot be divided among {shards} shards; give more, or fewer shards"
        )
    if parsed.bytes is not None and parsed.bytes < shards * SMALLEST_SHARD:
        raise BudgetError(
            f"budget {parsed} leaves less than a megabyte for each of {shards} shards;"
            " give more, or fewer shards"
        )
    return parsed


def _of_streams(job: Job, columns: JoinColumns, left: DataFrame, right: DataFrame) -> DataFrame:
    spark = left.sparkSession
    marked = [
        frame.schema[at].metadata
        for frame, at in zip((left, right), columns.times, strict=True)
        if WATERMARK in frame.schema[at].metadata
    ]
    if len(marked) == 1:
        raise InputError(
            "one of the streams has a watermark and the other has none; give lateness, or"
            " call withWatermark on both"
        )
    units_per_ms = 10**6 // (columns.time_types[0].nanoseconds or 1)
    watermark = len(marked) == 2
    delays = [metadata[WATERMARK] * units_per_ms for metadata in marked]
    job = replace(job, lateness=max(delays, default=0))
    packed = [
        renamed(frame, side).mapInArrow(packer(job.bound, side, job.shards), PACKED)
        for side, frame in enumerate((left, right))
    ]
    both = packed[0].union(packed[1])
    if "HDFSBacked" in (spark.conf.get(STORE) or ""):
        # This operator tells the watermark only if a column has one. Which rows are late is not
        # for Spark to say, so the column it looks at is never late.
        mark = {WATERMARK: 0} if watermark else {}
        both = both.withColumn(
            "mark", F.lit(NEVER_LATE).cast("timestamp").alias("mark", metadata=mark)
        )
        return both.groupBy("label").applyInPandasWithState(
            one_state_operator(job, units_per_ms, watermark),
            JOINED,
            ONE_STATE,
            "append",
            GroupStateTimeout.EventTimeTimeout if watermark else GroupStateTimeout.NoTimeout,
        )
    processor = join_processor(job, units_per_ms, watermark)
    mode = "EventTime" if watermark else "None"
    return both.groupBy("label").transformWithState(processor, JOINED, "Append", mode)


def _of_tables(job: Job, columns: JoinColumns, left: DataFrame, right: DataFrame) -> DataFrame:
    structs = [renamed(frame, side).schema for side, frame in enumerate((left, right))]
    schema = StructType().add("shard", "integer").add("at", "long").add("row", "long")
    for side, struct in zip(SIDES, structs, strict=True):
        schema = schema.add(side, struct.add(CODES, "long") if ships_codes(job.bound) else struct)
    spread = [
        renamed(frame, side).mapInArrow(spreader(job.bound, side, job.shards), schema)
        for side, frame in enumerate((left, right))
    ]
    ordered = (
        spread[0]
        .union(spread[1])
        .repartition(job.shards, "shard")
        .sortWithinPartitions("shard", "at", F.col("left").isNull(), "row")
    )
    return ordered.mapInArrow(sorted_operator(job), JOINED)
