"""Stage four: the bounded join over what was ingested, as a stream into the sink."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from recollect.join.query import SIDES
from recollect.join.window import Duration
from recollect.spark.bounded_join import bounded_join
from recollect.spark.columns import JoinColumns
from recollect.spark.live import JsonLines, LiveNumbers, Output, Prometheus, Record, read_records
from recollect.spark.live.numbers import COUNTS, LEVELS
from recollect.spark.pipeline.config import Join
from recollect.spark.pipeline.ingest import Ingesting, shape, streams
from recollect.spark.pipeline.queries import blame, patience, trigger, wait
from recollect.spark.pipeline.run import Run

QUERY = "join"


@dataclass(frozen=True)
class ResultColumns:
    """What the columns of a result are called, and which of them are keys and times.

    Files cannot have two columns of one name, so what both sides have becomes ``left_…`` and
    ``right_…``.
    """

    names: tuple[str, ...]
    keys: tuple[str, ...]
    times: tuple[str, ...]

    @classmethod
    def of(cls, left: DataFrame, right: DataFrame, join: Join) -> "ResultColumns":
        """Find names for the result of a join."""
        columns = JoinColumns.parse(left, right, join.on, join.time, join.window, join.lateness)
        times_seen = Counter(column.name.lower() for column in columns.output)
        names = {
            (column.side, column.position): f"{SIDES[column.side]}_{column.name}"
            if times_seen[column.name.lower()] > 1
            else column.name
            for column in columns.output
        }
        return cls(
            names=tuple(names.values()),
            keys=tuple(names[0, position] for position in columns.keys[0]),
            times=tuple(names[place] for place in enumerate(columns.times) if place in names),
        )

    def rename(self, result: DataFrame) -> DataFrame:
        """Give the columns of a result their names."""
        return result.toDF(*self.names)


def join(run: Run) -> dict[str, Any]:
    """Join all that is there; or, with a trigger, whatever comes until the time is over."""
    with _listening(run) as live, patience(run.config.sink) as is_over:
        query = _start(run, run.config.sink.trigger)
        wait({QUERY: query}, until=is_over)
        query.stop()
        live.wait(query)
    return _finish(run, query)


def ingest_and_join(run: Run) -> dict[str, dict[str, Any]]:
    """Ingest and join at the same time, for sources that have no end.

    When the time is over or Ctrl-C is pressed, what has been read is joined, and both stop.
    """
    with _listening(run) as live, patience(run.config.sink) as is_over:
        ingesting = Ingesting(run)
        query = _start(run, run.config.sink.trigger)
        wait(ingesting.named | {QUERY: query}, until=is_over, look=ingesting.look)
        ingesting.stop()
        run.watch.news(
            "join",
            "stopping; joining what has been read so far (Ctrl-C to leave it for the next run)",
        )
        query.processAllAvailable()
        query.stop()
        live.wait(query)
    return {"ingest": ingesting.finish(), "join": _finish(run, query)}


def _start(run: Run, every: Duration | None) -> StreamingQuery:
    """Start the query, which goes on from its checkpoint if there is one."""
    config, asked, sink = run.config, run.config.join, run.config.sink
    left, right = streams(run, in_step=every is None)
    with blame(config, "join"):
        columns = ResultColumns.of(left, right, asked)
        result = bounded_join(
            left, right, on=asked.on, time=asked.time, window=asked.window, budget=asked.budget,
            policy=asked.policy, shards=asked.shards, lateness=asked.lateness, seed=asked.seed,
        )  # fmt: skip
    result = shape(columns.rename(result), config, "sink")
    writer = result.writeStream.format(sink.format).options(**sink.options)
    writer = writer.queryName(config.pipeline.name).trigger(**trigger(every))
    writer = writer.option("checkpointLocation", run.checkpoint(QUERY))
    with blame(config, "sink"):
        query = writer.start(run.results)
    run.queries.append(query)
    return query


@contextmanager
def _listening(run: Run) -> Iterator[LiveNumbers]:
    """Hand on the numbers of every batch: to a file, to Prometheus and to the watch."""
    with ExitStack() as stack:
        outputs: list[Output] = [JsonLines(run.live), run.watch.batch]
        if (port := run.config.live.prometheus_port) is not None:
            with blame(run.config, "live", "prometheus_port"):
                outputs.append(stack.enter_context(Prometheus(port)))
        live = LiveNumbers(*outputs)
        run.spark.streams.addListener(live)
        stack.callback(run.spark.streams.removeListener, live)
        yield live


def batches(run: Run, query_id: str) -> list[Record]:
    """Return the records of all batches of a query, also those of earlier runs."""
    return [record for record in read_records(run.live) if record["query_id"] == query_id]


def _finish(run: Run, query: StreamingQuery) -> dict[str, Any]:
    """Add up what happened, and find the peaks of what was in memory, since the beginning."""
    records = batches(run, str(query.id))
    sums = {name: sum(record[name] for record in records) for name in COUNTS}
    peaks = {f"peak_{name}": max((r[name] for r in records), default=0) for name in LEVELS}
    return {"query_id": str(query.id), "batches": len(records), **sums, **peaks}
