"""Progress of streaming queries as Spark reports it, made by hand."""

from dataclasses import asdict
from types import SimpleNamespace
from uuid import UUID

from pyspark.sql import Row
from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryTerminatedEvent,
    SinkProgress,
    StateOperatorProgress,
    StreamingQueryProgress,
)

from recollect.spark.live.numbers import Numbers

QUERY, RUN = UUID(int=1), UUID(int=2)


def query(number=QUERY, run=RUN):
    """A query as far as its ids go."""
    return SimpleNamespace(id=str(number), runId=str(run))


def store(name, rows, size, **metrics):
    return StateOperatorProgress(name, rows, 0, 0, 0, 0, 0, size, 0, 2, 2, metrics)


def progress(batch, observed, rows_per_second=50_000.0, watermark=None, stores=(), **more):
    """A batch; observed are Numbers (or None for an empty batch) by name of the observation."""
    metrics = {
        name: Row(**(dict.fromkeys(asdict(Numbers())) if numbers is None else asdict(numbers)))
        for name, numbers in observed.items()
    }
    facts = {
        "id": QUERY,
        "runId": RUN,
        "name": None,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "batchId": batch,
        "batchDuration": 800,
        "durationMs": {},
        "eventTime": {} if watermark is None else {"watermark": watermark},
        "stateOperators": list(stores),
        "sources": [],
        "sink": SinkProgress("noop", 0, {}),
        "numInputRows": 40_000,
        "inputRowsPerSecond": 0.0,
        "processedRowsPerSecond": rows_per_second,
        "observedMetrics": metrics,
        **more,
    }
    return QueryProgressEvent(StreamingQueryProgress(**facts))


def terminated(run=RUN, exception=None):
    return QueryTerminatedEvent(QUERY, run, exception, None)
