"""The columns that a join on Spark names, found in both DataFrames before any job starts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    DataType,
    DateType,
    IntegralType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

from recollect.errors import InputError, WindowError
from recollect.join.query import SIDES, Query
from recollect.join.window import COUNT, NANOSECONDS, TIME, parse_window, resolve

WATERMARK = "spark.watermarkDelayMs"
"""What Spark notes in the metadata of a column that has a watermark."""


@dataclass(frozen=True)
class TimeType:
    """The type of a time column: TIMESTAMP, TIMESTAMP_NTZ, DATE or a whole number."""

    kind: DataType

    @classmethod
    def of(cls, field: StructField) -> "TimeType":
        """Read the type of a column, which must be one that can hold time."""
        if isinstance(field.dataType, TimestampType | TimestampNTZType | DateType | IntegralType):
            return cls(field.dataType)
        raise InputError(
            f"time column {field.name!r} is of type {field.dataType.simpleString()};"
            " it must be a time stamp, a date or a whole number"
        )

    def __str__(self) -> str:
        """Name the type as SQL does."""
        return self.kind.simpleString()

    @property
    def nanoseconds(self) -> int | None:
        """What one unit is: a microsecond, a day, or None for plain whole numbers."""
        if isinstance(self.kind, IntegralType):
            return None
        return NANOSECONDS["d" if isinstance(self.kind, DateType) else "us"]

    @property
    def takes_watermark(self) -> bool:
        """Whether Spark can put a watermark on it."""
        return isinstance(self.kind, TimestampType)

    def goes_with(self, other: "TimeType") -> bool:
        """Whether two columns can be compared without a conversion that depends on a time zone."""
        return self.kind == other.kind or self.nanoseconds is other.nanoseconds is None

    def units(self, column: Column) -> Column:
        """The time as a whole number of units since 1970."""
        if isinstance(self.kind, TimestampType):
            return F.unix_micros(column)
        if isinstance(self.kind, TimestampNTZType):
            seconds = (column - _epoch()).cast("interval second").cast("decimal(20, 6)")
            return (seconds * 1_000_000).cast("bigint")
        if isinstance(self.kind, DateType):
            return F.unix_date(column).cast("bigint")
        return column.cast("bigint")

    def moment(self, units: Column) -> Column:
        """The inverse of :meth:`units`."""
        if isinstance(self.kind, TimestampType):
            return F.timestamp_micros(units)
        if isinstance(self.kind, TimestampNTZType):
            seconds = units.cast("decimal(20, 0)") / F.lit(1_000_000)
            return _epoch() + F.make_dt_interval(secs=seconds.cast("decimal(18, 6)"))
        if isinstance(self.kind, DateType):
            return F.date_from_unix_date(units.cast("int"))
        return units.cast(self.kind)

    def bucket(self, column: Column, span: int) -> Column:
        """The number of the span that a time is in, counted from 1970."""
        # Not floor(units / span): that divides as floating point numbers.
        units = self.units(column)
        return F.call_function("div", units, F.lit(span)) - (units % span < 0).cast("bigint")


def _epoch() -> Column:
    return F.expr("TIMESTAMP_NTZ '1970-01-01'")


class OutputColumn(NamedTuple):
    """A column of the result: whose it is, its place there and its name."""

    side: int
    position: int
    name: str


@dataclass(frozen=True)
class JoinColumns:
    """What is joined on Spark; made by :meth:`parse`.

    Names in ``query`` are those of the DataFrames' own columns, however the user spelt them.
    Columns are also given by position, because others may have the same name.
    """

    query: Query
    keys: tuple[tuple[int, ...], tuple[int, ...]]
    """By side: the positions of the key columns."""
    times: tuple[int, int]
    """By side: the position of the time column."""
    time_types: tuple[TimeType, TimeType]
    spans: tuple[int, int]
    """By side: the length of the window in units of the time columns."""
    lateness: int | None
    """In units of the time columns."""
    output: tuple[OutputColumn, ...]
    """Key columns of the same name come once and first, as with ``left.join(right, ["key"])``."""
    streaming: bool

    @classmethod
    def parse(
        cls,
        left: DataFrame,
        right: DataFrame,
        on: str | Sequence[Any],
        time: Any,
        window: Any,
        lateness: Any = None,
        how: str = "inner",
    ) -> "JoinColumns":
        """Read the parameters of a join and find the columns they name."""
        if how != "inner":
            raise InputError(f"how={how!r}: only 'inner' joins are known")
        if left.isStreaming != right.isStreaming:
            kinds = ["a stream" if side.isStreaming else "a table" for side in (left, right)]
            raise InputError(
                f"the left DataFrame is {kinds[0]} and the right one {kinds[1]};"
                " read both with readStream, or both with read"
            )
        if isinstance(on, Column) or any(isinstance(part, Column) for part in on):
            raise InputError("on takes names of columns such as 'key' or 'a=b', not expressions")
        query = Query.parse(on, time, window, lateness=lateness)
        frames = (left, right)
        keys = [
            tuple(find(frame, name, f"the {side} DataFrame") for name in names)
            for frame, side, names in zip(frames, SIDES, query.on, strict=True)
        ]
        pairs = list(zip(*keys, strict=True))
        if len({*pairs}) < len(pairs):
            raise InputError(f"on={on!r} names the same pair of columns twice")
        times = [
            find(frame, name, f"the {side} DataFrame")
            for frame, side, name in zip(frames, SIDES, query.time, strict=True)
        ]
        for frame, positions in zip(frames, keys, strict=True):
            require_comparable(*(frame.schema[position] for position in positions))
        stamps = [frame.schema[at] for frame, at in zip(frames, times, strict=True)]
        types = (TimeType.of(stamps[0]), TimeType.of(stamps[1]))
        if not types[0].goes_with(types[1]):
            raise InputError(
                f"time columns {stamps[0].name!r} and {stamps[1].name!r} do not go together:"
                f" {types[0]} and {types[1]}; cast one of them"
            )
        if left.isStreaming and not types[0].takes_watermark:
            raise InputError(
                f"time column {query.time[0]!r} is of type {types[0]}, but"
                " streams need TIMESTAMP, on which Spark can put a watermark; cast it"
            )
        for span in query.windows:
            if span.kind == COUNT:
                raise WindowError(
                    f"window {span} counts arrivals, which have no order on Spark;"
                    " give a span of time, landmark: or unlimited"
                )
        late = None if lateness is None else parse_window(lateness)
        if late is not None and late.kind != TIME:
            raise WindowError(f"lateness {late} is not a number of time units or a duration")
        unit = types[0].nanoseconds
        return cls(
            query=replace(
                query,
                on=(
                    tuple(left.columns[at] for at in keys[0]),
                    tuple(right.columns[at] for at in keys[1]),
                ),
                time=(left.columns[times[0]], right.columns[times[1]]),
            ),
            keys=(keys[0], keys[1]),
            times=(times[0], times[1]),
            time_types=types,
            spans=(resolve(query.windows[0], unit), resolve(query.windows[1], unit)),
            lateness=None if late is None else resolve(late, unit),
            output=_output(frames, keys, using=query.on[0] == query.on[1]),
            streaming=left.isStreaming,
        )

    def with_watermark(self, frame: DataFrame, side: int) -> DataFrame:
        """Put the lateness on the time column of a stream, unless that has a watermark already."""
        name = self.query.time[side]
        field = frame.schema[self.times[side]]
        if not self.streaming or self.lateness is None or WATERMARK in (field.metadata or {}):
            return frame
        milliseconds = -(-self.lateness // 1000)  # rounded up, so that nothing is late by rounding
        return frame.withWatermark(quoted(name), f"{milliseconds} milliseconds")


def internal_name(side: int, position: int) -> str:
    """A name for a column that no other column of both sides has."""
    return f"{SIDES[side]}{position}"


def renamed(frame: DataFrame, side: int) -> DataFrame:
    """The same columns under unique names."""
    return frame.toDF(*(internal_name(side, at) for at in range(len(frame.columns))))


def quoted(name: str) -> str:
    """A column's name as Spark takes it, whatever characters it has."""
    return "`" + name.replace("`", "``") + "`"


def positions_of(frame: DataFrame, name: str) -> list[int]:
    """Where the columns of a name are; upper and lower case matter if they do to Spark."""
    exactly = frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    return [
        at
        for at, column in enumerate(frame.columns)
        if column == name or (not exactly and column.lower() == name.lower())
    ]


def find(frame: DataFrame, name: str, whose: str) -> int:
    """Where the one column of a name is."""
    if not isinstance(name, str):
        raise InputError(f"{name!r} is not the name of a column")
    found = positions_of(frame, name)
    if len(found) != 1:
        there = ", ".join(repr(column) for column in frame.columns) or "none"
        count = f"{len(found)} columns called" if found else "no column"
        raise InputError(f"{whose} has {count} {name!r}; its columns are {there}")
    return found[0]


def require_comparable(*keys: StructField) -> None:
    """Refuse keys of types for which Spark knows no equality."""
    for field in keys:
        if contains(field.dataType, (MapType, VariantType, CalendarIntervalType)):
            raise InputError(
                f"key column {field.name!r} is of type {field.dataType.simpleString()}, which Spark"
                " cannot compare; join on a part of it, or on a text made from it"
            )


def require_hashable(*keys: StructField) -> None:
    """Refuse keys that our own code cannot compare: also texts equal to others of other bytes."""
    require_comparable(*keys)
    for field in keys:
        for part in parts_of(field.dataType):
            if isinstance(part, StringType) and not part.isUTF8BinaryCollation():
                raise InputError(
                    f"key column {field.name!r} has collation {part.collation}, but keys are"
                    " compared by their bytes; join on lower(...) or on COLLATE UTF8_BINARY"
                )


def contains(kind: DataType, wanted: tuple[type[DataType], ...]) -> bool:
    """Whether a type is one of these, or has one of them inside."""
    return any(isinstance(part, wanted) for part in parts_of(kind))


def parts_of(kind: DataType) -> Iterator[DataType]:
    """A type and all types inside it."""
    yield kind
    if isinstance(kind, StructType):
        for field in kind:
            yield from parts_of(field.dataType)
    elif isinstance(kind, ArrayType):
        yield from parts_of(kind.elementType)
    elif isinstance(kind, MapType):
        yield from parts_of(kind.keyType)
        yield from parts_of(kind.valueType)


def _output(
    frames: Sequence[DataFrame], keys: Sequence[tuple[int, ...]], using: bool
) -> tuple[OutputColumn, ...]:
    places = [(side, at) for side, frame in enumerate(frames) for at in range(len(frame.columns))]
    if using:
        of_keys = {(side, at) for side, positions in enumerate(keys) for at in positions}
        places = [(0, at) for at in keys[0]] + [place for place in places if place not in of_keys]
    return tuple(OutputColumn(side, at, frames[side].columns[at]) for side, at in places)
