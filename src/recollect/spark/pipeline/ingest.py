"""Stage one: read both sources, type and clean their rows, and keep them as Parquet."""

from typing import Any

from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructField, StructType

from recollect.join.query import SIDES
from recollect.spark.pipeline.cleaning import clean
from recollect.spark.pipeline.context import Run
from recollect.spark.pipeline.counts import Counts, total_counts
from recollect.spark.pipeline.failures import blame
from recollect.spark.pipeline.layout import read_json, write_json
from recollect.spark.pipeline.queries import patience, trigger, wait
from recollect.spark.pipeline.result_columns import ResultColumns
from recollect.spark.pipeline.sources import open_stream


def ingest(run: Run) -> dict[str, Any]:
    """Read all that is there; or, with a trigger, whatever comes until the time is over."""
    queries = start(run)
    counts = Counts(run.layout.ingest_counts, queries)
    with patience(run.config.sink) as is_over:
        wait(named(queries), until=is_over, look=lambda: look(run, counts))
    for query in queries.values():
        query.stop()
    return finish(run, counts)


def start(run: Run) -> dict[str, StreamingQuery]:
    """Start a query for each side; each has a checkpoint of its own and goes on from there."""
    config = run.config
    frames = {side: clean(open_stream(run.spark, config, side), config, side) for side in SIDES}
    with blame(config, "join"):  # now rather than when all has been read
        ResultColumns.of(frames["left"], frames["right"], config.join)
    for side, frame in frames.items():
        _remember(run, side, frame.schema)
    queries: dict[str, StreamingQuery] = {}
    for side, frame in frames.items():
        # One file per batch: the join then reads them in the order in which they came.
        writer = frame.repartition(1).writeStream.format("parquet").queryName(f"ingest {side}")
        writer = writer.option("checkpointLocation", run.layout.checkpoint(f"ingest-{side}"))
        with blame(config, side):
            writer = writer.trigger(**trigger(config.sink.trigger))
            queries[side] = writer.start(run.layout.ingested(side))
            run.queries.append(queries[side])
    return queries


def named(queries: dict[str, StreamingQuery]) -> dict[str, StreamingQuery]:
    """Return the queries under the names that messages use."""
    return {f"ingest of the {side} source": query for side, query in queries.items()}


def look(run: Run, counts: Counts) -> None:
    """Write down what is new, and tell."""
    if counts.look():
        rows = (f"{counts.rows[side]:,} {side}" for side in SIDES)
        run.watch.news("ingest", f"{' and '.join(rows)} rows read")


def finish(run: Run, counts: Counts) -> dict[str, Any]:
    """Sum up, over all runs that went into the same folder."""
    counts.look()
    return {side: total_counts(run.layout.ingest_counts, side) for side in SIDES}


def _remember(run: Run, side: str, schema: StructType) -> None:
    """Note down the columns for the stages that follow; they must stay the same."""
    path = run.layout.schema(side)
    # Without metadata: the watermark that finds duplicates is not that of the join.
    plain = StructType([StructField(field.name, field.dataType) for field in schema])
    if path.exists() and (before := StructType.fromJson(read_json(path))) != plain:
        raise run.config.mistake(
            side,
            message=f"its columns are now {_text(plain)}, but {run.layout.out} was begun with"
            f" {_text(before)}; take another pipeline.out, or remove that folder",
        )
    write_json(plain.jsonValue(), path)


def _text(schema: StructType) -> str:
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema)
