"""Stage four: the bounded join over what was ingested, as a stream into the sink."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from recollect.join.window import Duration
from recollect.spark.bounded_join import bounded_join
from recollect.spark.live import JsonLines, LiveNumbers, Output, Prometheus, Record, read_records
from recollect.spark.live.ledger import COUNTS, LEVELS
from recollect.spark.pipeline import ingested
from recollect.spark.pipeline.cleaning import shape
from recollect.spark.pipeline.context import Run
from recollect.spark.pipeline.failures import blame
from recollect.spark.pipeline.queries import patience, trigger, wait
from recollect.spark.pipeline.result_columns import ResultColumns

QUERY = "join"


def join(run: Run) -> dict[str, Any]:
    """Join all that is there; or, with a trigger, whatever comes until the time is over."""
    every = run.config.sink.trigger
    with listening(run) as live, patience(run.config.sink) as is_over:
        query = start(run, every)
        wait({QUERY: query}, until=is_over)
        query.stop()
        live.wait(query)
    return finish(run, query)


def start(run: Run, every: Duration | None) -> StreamingQuery:
    """Start the query, which goes on from its checkpoint if there is one."""
    config, words, sink = run.config, run.config.join, run.config.sink
    left, right = ingested.streams(run, in_step=every is None)
    with blame(config, "join"):
        columns = ResultColumns.of(left, right, words)
        result = bounded_join(
            left, right, on=words.on, time=words.time, window=words.window, budget=words.budget,
            policy=words.policy, shards=words.shards, lateness=words.lateness, seed=words.seed,
        )  # fmt: skip
    result = shape(columns.rename(result), config, "sink", sink.columns, sink.select)
    writer = result.writeStream.format(sink.format).options(**sink.options)
    writer = writer.queryName(config.pipeline.name).trigger(**trigger(every))
    writer = writer.option("checkpointLocation", run.layout.checkpoint(QUERY))
    with blame(config, "sink"):
        query = writer.start(run.layout.results)
    run.queries.append(query)
    return query


@contextmanager
def listening(run: Run) -> Iterator[LiveNumbers]:
    """Hand on the numbers of every batch: to a file, to Prometheus and to whoever watches."""
    with ExitStack() as stack:
        outputs: list[Output] = [JsonLines(run.layout.live), run.watch.batch]
        if (port := run.config.live.prometheus_port) is not None:
            with blame(run.config, "live", "prometheus_port"):
                outputs.append(stack.enter_context(Prometheus(port)))
        live = LiveNumbers(*outputs)
        run.spark.streams.addListener(live)
        stack.callback(run.spark.streams.removeListener, live)
        yield live


def finish(run: Run, query: StreamingQuery) -> dict[str, Any]:
    """Sum up all batches since the beginning, also those of earlier runs."""
    return {"query_id": str(query.id), **totals(batches(run, str(query.id)))}


def batches(run: Run, query_id: str) -> list[Record]:
    """Return the records of all batches of a query."""
    return [record for record in read_records(run.layout.live) if record["query_id"] == query_id]


def totals(records: Sequence[Record]) -> dict[str, int]:
    """Add up what happened, and find the peaks of what was in memory."""
    sums = {name: sum(record[name] for record in records) for name in COUNTS}
    peaks = {f"peak_{name}": max((r[name] for r in records), default=0) for name in LEVELS}
    return {"batches": len(records), **sums, **peaks}
