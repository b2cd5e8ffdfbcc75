"""What is replayed and how: the options of the data source, understood and checked.

Free of Spark, so that a pipeline can be checked before Spark starts.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from recollect import streams
from recollect.errors import InputError
from recollect.join.window import parse_duration
from recollect.plugins import PAPERS, added
from recollect.streams import Generator, Source, open_source
from recollect.streams.checks import require_real, require_whole

GENERATORS: dict[str, type[Generator]] = {
    "locality": streams.LocalityStream,
    "zipf": streams.ZipfStream,
    "trend": streams.TrendStream,
    "walk": streams.WalkStream,
    "uniform-intervals": streams.UniformIntervals,
}
OPTIONS = (
    "path", "generator", "timeUnit", "timeColumn", "startTime", "numPartitions", "rate",
    "batchRows",
)  # fmt: skip
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STAMP = pa.timestamp("us", "UTC")
"""Spark's TIMESTAMP."""


@dataclass(frozen=True)
class Clock:
    """How whole numbers become time stamps."""

    column: str
    unit: int
    """Nanoseconds."""
    start: int
    """Microseconds since 1970."""

    def stamps(self, numbers: pa.Array) -> pa.Array:
        """Return time stamps, cut to microseconds.

        >>> Clock("time", unit=500, start=10).stamps(pa.array([0, 3])).cast(pa.int64()).to_pylist()
        [10, 11]
        """
        numbers = numbers.cast(pa.int64())
        if self.unit % 1_000:
            micros = pc.divide(pc.multiply_checked(numbers, self.unit), 1_000)
        else:
            micros = pc.multiply_checked(numbers, self.unit // 1_000)
        return pc.add_checked(micros, self.start).cast(STAMP)


@dataclass(frozen=True)
class Replay:
    """The data and the way they are played; made by :meth:`parse`.

    Examples
    --------
    >>> replay = Replay.parse({"generator": "zipf", "tuples": 1000, "timeUnit": "ms"})
    >>> replay.data
    ZipfStream(tuples=1000, keys=100000, exponent=0.8, seed=0)
    >>> replay.schema.types
    [TimestampType(timestamp[us, tz=UTC]), DataType(int64)]
    >>> Replay.parse({"generator": "zipf", "tuples": 1000, "rate": "fast"})
    Traceback (most recent call last):
    recollect.errors.InputError: rate must be a number of at least 1e-06, not 'fast'
    """

    data: str | Generator
    schema: pa.Schema
    """The columns, the time column as it will be."""
    clock: Clock | None
    """None if times stay as they are."""
    partitions: int
    rate: float | None
    batch_rows: int | None

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> "Replay":
        """Read the options, whose names may be in any case, and open the data to see them."""
        given = {name.lower(): str(value) for name, value in options.items()}
        rate = _number(given.pop("rate", None))
        if rate is not None:
            require_real("rate", rate, least=1e-6)
        batch_rows = _number(given.pop("batchrows", None))
        if batch_rows is not None:
            require_whole("batchRows", batch_rows, least=1)
        partitions = _number(given.pop("numpartitions", "1"))
        require_whole("numPartitions", partitions, least=1)
        clock = _clock(given)
        data = _data(given)
        schema = open_source(data).schema
        if clock:
            schema = _with_stamps(schema, clock.column, data)
        return cls(data, schema, clock, partitions, rate, batch_rows)

    def open(self) -> Source:
        """Open the data for reading."""
        return open_source(self.data)

    def count(self) -> int:
        """Count the rows; a file is read for that."""
        if isinstance(self.data, Generator):
            return self.data.tuples
        source = self.open()
        return sum(batch.num_rows for batch in source.batches(source.schema.names[:1], 65_536))


def _number(text: str | None) -> Any:
    """Make a number of what looks like one; the checks refuse the rest."""
    for kind in (int, float):
        try:
            return None if text is None else kind(text)
        except ValueError:
            pass
    return text


def _clock(given: dict[str, str]) -> Clock | None:
    unit = given.pop("timeunit", None)
    column, start = given.pop("timecolumn", None), given.pop("starttime", None)
    if unit is None:
        if column or start:
            raise InputError("timeColumn and startTime need timeUnit, as in timeUnit=ms")
        return None
    span = parse_duration(unit) or parse_duration(f"1{unit}")
    if span is None or span.nanoseconds < 1:
        raise InputError(f"timeUnit {unit!r} is not understood; give ns, us, ms, s, 10ms, …")
    try:
        moment = datetime.fromisoformat(start) if start else EPOCH
    except ValueError as error:
        raise InputError(
            f"startTime {start!r} is not a time; give it as in 2024-05-01T12:00:00"
        ) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return Clock(column or "time", span.nanoseconds, (moment - EPOCH) // timedelta(microseconds=1))


def _data(given: dict[str, str]) -> str | Generator:
    path, name = given.pop("path", None), given.pop("generator", None)
    if (path is None) == (name is None):
        raise InputError("give either path=… to replay a file or generator=… to make a stream")
    if name is None:
        _require_known(given, ())
        # Workers may run in a folder of their own.
        return os.path.abspath(path) if path else ""
    kind = _generator(name)
    parameters = {field.name: field.type for field in fields(kind)}  # type: ignore[arg-type]
    _require_known(given, tuple(parameters))
    if "tuples" not in given:
        raise InputError(f"generator {name} needs to know how many rows: tuples=…")
    return kind(
        **{
            word: _number(text)
            if parameters[word] in (int, float)
            else tuple(_number(part) for part in text.split(","))
            for word, text in given.items()
        }
    )


def _generator(name: str) -> type[Generator]:
    if name in GENERATORS:
        return GENERATORS[name]
    others = added("generators")
    if name not in others:
        known = ", ".join((*GENERATORS, *others))
        more = "" if others else f"; more come with {PAPERS}"
        raise InputError(f"unknown generator {name!r}; known are {known}{more}")
    kind: type[Generator] = others[name].load()
    return kind


def _require_known(given: Mapping[str, str], parameters: tuple[str, ...]) -> None:
    for word in given:
        if word not in parameters:
            known = ", ".join((*OPTIONS, *parameters))
            raise InputError(f"unknown option {word!r}; known are {known}")


def _with_stamps(schema: pa.Schema, column: str, data: str | Generator) -> pa.Schema:
    place = schema.get_field_index(column)
    name = data if isinstance(data, str) else type(data).__name__
    if place < 0:
        raise InputError(
            f"{name} has no column {column!r}; it has {', '.join(map(repr, schema.names))};"
            " name the one with the times by timeColumn"
        )
    field = schema.field(place)
    if not pa.types.is_integer(field.type):
        raise InputError(
            f"timeUnit is for whole numbers, but column {column!r} of {name} is of type"
            f" {field.type}; leave timeUnit out"
        )
    return schema.set(place, field.with_type(STAMP))
