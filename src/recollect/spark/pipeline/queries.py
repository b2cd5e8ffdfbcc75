"""Run streaming queries to their end, or until somebody has had enough."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from recollect.join.window import Duration
from recollect.spark.pipeline.failures import failure
from recollect.spark.pipeline.sections import Sink

POLL = 0.2
"""Seconds between two looks at the queries."""


def trigger(every: Duration | None) -> dict[str, Any]:
    """Return how Spark is told when a micro-batch begins; all that is there if None is given."""
    if every is None:
        return {"availableNow": True}
    return {"processingTime": f"{every.nanoseconds // 1_000_000} milliseconds"}


def wait(
    queries: Mapping[str, StreamingQuery],
    until: Callable[[], bool] = lambda: False,
    look: Callable[[], None] = lambda: None,
) -> None:
    """Wait until all queries have ended or ``until`` says so, or one fails.

    Parameters
    ----------
    queries
        By what messages call them.
    until
        Asked again and again.
    look
        Called again and again.
    """
    while any(query.isActive for query in queries.values()) and not until():
        time.sleep(POLL)
        look()
        _require_health(queries)
    _require_health(queries)


def _require_health(queries: Mapping[str, StreamingQuery]) -> None:
    for name, query in queries.items():
        if (error := query.exception()) is not None:
            raise failure(name, error) from error


@contextmanager
def patience(sink: Sink) -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether a run without an end should end now.

    It should when its time is over or Ctrl-C was pressed. A second Ctrl-C interrupts whatever is
    going on, and so does the first in a run that ends by itself.
    """
    deadline = float("inf")
    if sink.duration is not None:
        deadline = time.monotonic() + sink.duration.nanoseconds / 1e9
    if sink.trigger is None or threading.current_thread() is not threading.main_thread():
        yield lambda: time.monotonic() >= deadline
        return
    pressed = threading.Event()
    usual = signal.getsignal(signal.SIGINT)

    def note(*_: Any) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: pressed.is_set() or time.monotonic() >= deadline
    finally:
        signal.signal(signal.SIGINT, usual)
