"""Stage five: what share of the exact join the results are, in all, by time and by key."""

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from recollect.join.query import SIDES
from recollect.spark.exact_join import exact_join
from recollect.spark.pipeline import ingested
from recollect.spark.pipeline.cleaning import shape
from recollect.spark.pipeline.context import Run
from recollect.spark.pipeline.result_columns import ResultColumns
from recollect.spark.pipeline.sections import FILE_FORMATS
from recollect.spark.quality import quality as compare
from recollect.spark.words import quoted

WORST = 20
"""So many keys with the most lost results are in the numbers; all are in the table."""


def quality(run: Run) -> dict[str, Any]:
    """Compare what is in the sink with the exact join of all rows that were ingested."""
    config, words = run.config, run.config.join
    left, right = (ingested.rows(run, side) for side in SIDES)
    columns = ResultColumns.of(left, right, words)
    exact = exact_join(left, right, on=words.on, time=words.time, window=words.window)
    exact = shape(columns.rename(exact), config, "sink", config.sink.columns, config.sink.select)
    found = compare(
        _results(run, exact), exact,
        key=list(columns.keys), time="=".join(columns.times), slice=config.quality.slice,
    )  # fmt: skip
    assert found.by_slice is not None
    assert found.by_key is not None
    for name, table in (("by_slice", found.by_slice), ("by_key", found.by_key)):
        table.coalesce(1).write.mode("overwrite").parquet(f"{run.layout.data}/quality/{name}")
    lost = F.col("exact") * (1 - F.coalesce("recall", F.lit(1)))
    keys = [F.col(quoted(name)) for name in columns.keys]
    return {
        "exact_results": found.exact_results,
        "results": found.results,
        "recall": found.recall,
        "foreign": found.foreign,
        "by_slice": _plain(found.by_slice, slice_start=F.col("slice_start")),
        "worst_keys": _plain(
            found.by_key.orderBy(lost.desc()).limit(WORST), key=F.concat_ws(", ", *keys)
        ),
    }


def _results(run: Run, exact: DataFrame) -> DataFrame:
    """Read the sink."""
    sink = run.config.sink
    if not sink.can_be_read:
        raise run.config.mistake("sink", "format", message="its rows cannot be read again")
    reader = run.spark.read.format(sink.format).options(**sink.options)
    if sink.format in FILE_FORMATS:
        reader = reader.schema(exact.schema)
    return reader.load(run.layout.results)


def _plain(table: DataFrame, **label: Column) -> list[dict[str, Any]]:
    [(name, column)] = label.items()
    rows = table.select(column.cast("string").alias(name), "exact", "results", "recall")
    return [row.asDict() for row in rows.collect()]
