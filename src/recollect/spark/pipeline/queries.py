"""Run streaming queries to their end, and say in one line why one failed."""

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from recollect import errors
from recollect.errors import InputError, RecollectError
from recollect.join.window import Duration
from recollect.spark.pipeline.config import Config, Sink

POLL = 0.2
"""Seconds between two looks at the queries."""
SPARK_ERRORS = (PySparkException, Py4JJavaError)
_PREFIX = re.compile(r"^\[STREAM_FAILED\] Query .*? terminated with exception: ")
_APPENDIX = re.compile(r"\n(?:=== Streaming Query|== SQL|JVM stacktrace)")
_PYTHON = re.compile(r"^(?:\w+\.)*(\w+(?:Error|Exception)): ", re.MULTILINE)
_SQL_STATE = re.compile(r"\s*SQLSTATE: \w{5}")
_CONDITION = re.compile(r"^(?:\[[A-Z0-9_.]+\]\s*)+")


def trigger(every: Duration | None) -> dict[str, Any]:
    """Return the argument for Spark that says when a micro-batch begins; None means at once."""
    if every is None:
        return {"availableNow": True}
    return {"processingTime": f"{every.nanoseconds // 1_000_000} milliseconds"}


def wait(
    queries: Mapping[str, StreamingQuery],
    until: Callable[[], bool] = lambda: False,
    look: Callable[[], None] = lambda: None,
) -> None:
    """Wait until all queries, named as in messages, have ended or ``until`` says so, or one fails.

    All the while ``look`` is called again and again.
    """
    while True:
        over = until() or not any(query.isActive for query in queries.values())
        for name, query in queries.items():
            if (error := query.exception()) is not None:
                raise failure(name, error) from error
        if over:
            return
        time.sleep(POLL)
        look()


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


def failure(stage: str, error: Exception) -> RecollectError:
    """Make an error with a short message from the one that ended a query.

    An error that one of our own functions raised in a worker keeps its type.
    """
    name, message = cause(error)
    kind = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, RecollectError):
        return kind(f"{stage}: {message}")
    return InputError(f"{stage} failed: {name + ': ' if name else ''}{message}")


@contextmanager
def blame(config: Config, *key: str, **by_condition: str) -> Iterator[None]:
    """Say that a key of the configuration is wrong if Spark does not take it.

    Some kinds of errors, by the names that Spark has for them, are the fault of another key.
    """
    try:
        yield
    except (*SPARK_ERRORS, RecollectError) as error:
        if found := re.match(r"\[([A-Z0-9_]+)", _message(error)):
            key = (*key[:-1], by_condition.get(found[1], key[-1]))
        raise config.mistake(*key, message=cause(error)[1]) from error


def cause(error: Exception) -> tuple[str, str]:
    """Return the name of the Python exception behind an error (or nothing), and the message."""
    text, name = _message(error), ""
    if "Traceback (most recent call last)" in text and (raised := list(_PYTHON.finditer(text))):
        name, text = raised[-1][1], text[raised[-1].end() :]
    text = _CONDITION.sub("", _SQL_STATE.sub("", text))
    return name, " ".join(text.split()).rstrip(";")


def _message(error: Exception) -> str:
    """Return what Spark says, without the plan of the query and the stack of the JVM."""
    text = str(error)
    if isinstance(error, Py4JJavaError):
        text = str(error.java_exception.getMessage())
    return _PREFIX.sub("", _APPENDIX.split(text)[0])
