"""What went wrong in Spark, in one line: the cause, without the stack it came up through."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from recollect import errors
from recollect.errors import InputError, RecollectError
from recollect.spark.pipeline.config import Config

_PREFIX = re.compile(r"^\[STREAM_FAILED\] Query .*? terminated with exception: ")
_APPENDIX = re.compile(r"\n(?:=== Streaming Query|== SQL|JVM stacktrace)")
_PYTHON = re.compile(r"^(?:\w+\.)*(\w+(?:Error|Exception)): ", re.MULTILINE)
_SQL_STATE = re.compile(r"\s*SQLSTATE: \w{5}")
_CONDITION = re.compile(r"^(?:\[[A-Z0-9_.]+\]\s*)+")
SPARK_ERRORS = (PySparkException, Py4JJavaError)
KEYS = {"PATH_NOT_FOUND": "path", "DATA_SOURCE_NOT_FOUND": "format"}
"""Which key of a source is to blame for an error of Spark; the options for all others."""


def failure(stage: str, error: Exception) -> RecollectError:
    """Turn what a query died of into an error with a short message.

    An error that one of our own functions raised in a worker comes out as what it was.
    """
    name, message = cause(error)
    kind = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, RecollectError):
        return kind(f"{stage}: {message}")
    return InputError(f"{stage} failed: {name + ': ' if name else ''}{message}")


def cause(error: Exception) -> tuple[str, str]:
    """Return the name of the Python exception behind an error (or nothing), and the message."""
    text = _message(error)
    if "Traceback (most recent call last)" in text and (raised := list(_PYTHON.finditer(text))):
        return raised[-1][1], _one_line(text[raised[-1].end() :])
    return "", _one_line(text)


def condition(error: Exception) -> str:
    """Return what Spark calls this kind of error; nothing if it has no name."""
    found = re.match(r"\[([A-Z0-9_]+)", _message(error))
    return found[1] if found else ""


@contextmanager
def blame(config: Config, *key: str) -> Iterator[None]:
    """Say that a key of the configuration is wrong if Spark does not take it."""
    try:
        yield
    except (*SPARK_ERRORS, RecollectError) as error:
        raise config.mistake(*key, message=cause(error)[1]) from error


def _message(error: Exception) -> str:
    """Return what Spark says, without the plan of the query and the stack of the JVM."""
    text = str(error)
    if isinstance(error, Py4JJavaError):
        text = str(error.java_exception.getMessage())
    return _PREFIX.sub("", _APPENDIX.split(text)[0])


def _one_line(text: str) -> str:
    text = _CONDITION.sub("", _SQL_STATE.sub("", text))
    return " ".join(text.split()).rstrip(";")
