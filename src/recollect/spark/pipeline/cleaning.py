"""Type and clean the rows of a source: columns, NULL keys, duplicates."""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import TimestampNTZType, TimestampType

from recollect.spark.pipeline.config import Config
from recollect.spark.pipeline.failures import blame
from recollect.spark.words import find, quoted

READ = "ingest.read"
KEPT = "ingest.kept"
"""Under these names Spark counts the rows before and after cleaning."""


def clean(frame: DataFrame, config: Config, side: str) -> DataFrame:
    """Do with a stream what its section of the configuration says, and count the rows."""
    source = config.source(side)
    keys, time = config.join.keys_of(side), config.join.time_of(side)
    frame = shape(frame, config, side, source.columns, source.select)
    _require_columns(frame, config, side, keys, time)
    incomplete = _any_null([*keys, time])
    frame = frame.observe(
        READ, F.count(F.lit(1)).alias("rows"), F.count_if(incomplete).alias("null_keys")
    )
    if source.null_keys == "drop":
        frame = frame.filter(~incomplete)
    elif source.null_keys == "error":
        frame = frame.filter(_refuse(incomplete, [*keys, time], side))
    if source.duplicates is not None:
        delay = f"{source.duplicates.within.nanoseconds // 1_000_000} milliseconds"
        with blame(config, side, "duplicates", "id"):
            frame = frame.withWatermark(quoted(time), delay)
            frame = frame.dropDuplicatesWithinWatermark(list(source.duplicates.id))
    return frame.observe(KEPT, F.count(F.lit(1)).alias("rows"))


def shape(
    frame: DataFrame,
    config: Config,
    section: str,
    columns: Mapping[str, str],
    select: Sequence[str] | None,
) -> DataFrame:
    """Add or replace columns by SQL expressions, then keep only some."""
    for name, expression in columns.items():
        with blame(config, section, "columns", name):
            # One by one, so that an expression may use the columns before it.
            frame = frame.withColumn(name, F.expr(expression))
    if select is not None:
        with blame(config, section, "select"):
            frame = frame.select([quoted(name) for name in select])
    return frame


def _require_columns(
    frame: DataFrame, config: Config, side: str, keys: Sequence[str], time: str
) -> None:
    with blame(config, "join", "on"):
        for name in keys:
            find(frame, name, f"the {side} source")
    with blame(config, "join", "time"):
        kind = frame.schema[find(frame, time, f"the {side} source")].dataType
    if not isinstance(kind, TimestampType | TimestampNTZType):
        raise config.mistake(
            "join", "time",
            message=f"column {time!r} of the {side} source is of type {kind.simpleString()}, not a"
            f" time stamp; make it one in [{side}.columns], as in"
            f" {time} = \"CAST({time} AS TIMESTAMP)\"",
        )  # fmt: skip


def _any_null(names: Sequence[str]) -> Column:
    incomplete = F.lit(False)
    for name in names:
        incomplete = incomplete | F.col(quoted(name)).isNull()
    return incomplete


def _refuse(incomplete: Column, names: Sequence[str], side: str) -> Column:
    """Return a condition that fails the query at the first incomplete row."""
    there = F.to_json(F.struct(*(F.col(quoted(name)) for name in dict.fromkeys(names))))
    message = F.concat(
        F.lit(f"a row of the {side} source lacks a key or its time, all it has is "),
        there,
        F.lit("; mend it, or set null_keys = 'drop'"),
    )
    return F.when(incomplete, F.raise_error(message)).otherwise(F.lit(True))
