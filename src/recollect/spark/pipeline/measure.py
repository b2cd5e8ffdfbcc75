"""The stages that measure: the sources' locality, other policies, and the quality of the join."""

from functools import reduce
from operator import and_
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from recollect.join.query import SIDES
from recollect.spark.columns import quoted
from recollect.spark.exact_join import exact_join
from recollect.spark.pipeline.config import FILE_FORMATS, Compare
from recollect.spark.pipeline.ingest import rows, shape
from recollect.spark.pipeline.join import ResultColumns
from recollect.spark.pipeline.run import Run
from recollect.spark.profile import profile as profile_of
from recollect.spark.quality import quality as quality_of
from recollect.spark.sweep import sweep

WORST = 20
"""So many keys with the most lost results are in the numbers; all are in the table."""


def profile(run: Run) -> dict[str, Any]:
    """Stage two: profile the keys of each side, in the order of time."""
    found: dict[str, Any] = {}
    for side in SIDES:
        keys, stream = run.config.join.keys_of(side), rows(run, side)
        if stream.where(reduce(and_, (F.col(quoted(key)).isNotNull() for key in keys))).isEmpty():
            found[side] = {"tuples": 0}
        else:
            time, h = run.config.join.time_of(side), run.config.profile.h
            found[side] = profile_of(stream, keys, order_by=time, h=h).to_dict()
    return found


def compare(run: Run) -> dict[str, Any]:
    """Stage three, if asked for: what other policies and budgets would keep of the same rows."""
    asked, tried = run.config.join, run.config.compare or Compare()
    left, right = (rows(run, side) for side in SIDES)
    table = sweep(
        left, right, on=asked.on, time=asked.time, window=asked.window,
        policies=tried.policies, budgets=tried.budgets, seeds=[asked.seed],
    )  # fmt: skip
    return {
        "tuples_in": left.count() + right.count(),
        "rows": [row.asDict() for row in table.collect()],
    }


def quality(run: Run) -> dict[str, Any]:
    """Stage five: what share of the exact join is in the sink, in all, by time and by key."""
    config, asked, sink = run.config, run.config.join, run.config.sink
    left, right = (rows(run, side) for side in SIDES)
    columns = ResultColumns.of(left, right, asked)
    exact = exact_join(left, right, on=asked.on, time=asked.time, window=asked.window)
    exact = shape(columns.rename(exact), config, "sink")
    if not sink.can_be_read:
        raise config.mistake("sink", "format", message="its rows cannot be read again")
    reader = run.spark.read.format(sink.format).options(**sink.options)
    if sink.format in FILE_FORMATS:
        reader = reader.schema(exact.schema)
    found = quality_of(
        reader.load(run.results), exact,
        key=list(columns.keys), time="=".join(columns.times), slice=config.quality.slice,
    )  # fmt: skip
    assert found.by_slice is not None
    assert found.by_key is not None
    for name, table in (("by_slice", found.by_slice), ("by_key", found.by_key)):
        table.coalesce(1).write.mode("overwrite").parquet(f"{run.data}/quality/{name}")
    lost = F.col("exact") * (1 - F.coalesce("recall", F.lit(1)))
    worst = found.by_key.orderBy(lost.desc()).limit(WORST)
    key = F.concat_ws(", ", *(F.col(quoted(name)) for name in columns.keys))
    return {
        "exact_results": found.exact_results,
        "results": found.results,
        "recall": found.recall,
        "foreign": found.foreign,
        "by_slice": _plain(found.by_slice, "slice_start", F.col("slice_start")),
        "worst_keys": _plain(worst, "key", key),
    }


def _plain(table: DataFrame, name: str, label: Column) -> list[dict[str, Any]]:
    rows = table.select(label.cast("string").alias(name), "exact", "results", "recall")
    return [row.asDict() for row in rows.collect()]
