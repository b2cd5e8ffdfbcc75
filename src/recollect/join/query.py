"""What is joined: keys, times, windows and filters, first as typed, then bound to schemas."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from recollect.errors import InputError, WindowError
from recollect.hashing import fits_in_64_bits
from recollect.join.setting import Setting
from recollect.join.where import Where, compile_where
from recollect.join.window import COUNT, Window, parse_window, resolve, time_unit

UTC = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")
SIDES = ("left", "right")
Pair = tuple[Any, Any]


def pair_of(text: Any) -> Pair:
    """The left and right part of ``"a=b"`` or ``("a", "b")``; the same twice if there is but one.

    >>> pair_of("ts=time"), pair_of("ts")
    (('ts', 'time'), ('ts', 'ts'))
    """
    if isinstance(text, str):
        left, equals, right = text.partition("=")
        return (left.strip(), right.strip()) if equals else (text.strip(), text.strip())
    if isinstance(text, tuple):
        left, right = text
        return left, right
    return text, text


def key_columns(on: str | Sequence[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The key columns of both sides.

    >>> key_columns("a=b,c")
    (('a', 'c'), ('b', 'c'))
    >>> key_columns(["a", ("c", "d")])
    (('a', 'c'), ('a', 'd'))
    """
    parts = on.split(",") if isinstance(on, str) else list(on)
    pairs = [pair_of(part) for part in parts]
    if not pairs or not all(left and right for left, right in pairs):
        raise InputError(f"no key columns in {on!r}; give on='key' or on='left_key=right_key'")
    return tuple(left for left, _ in pairs), tuple(right for _, right in pairs)


@dataclass(frozen=True)
class Query:
    """A join as the user describes it; every part is checked as far as it can be without data."""

    on: tuple[tuple[str, ...], tuple[str, ...]]
    time: tuple[str, str]
    windows: tuple[Window, Window]
    where: str | None = None
    lateness: str | None = None
    null_keys: str = "skip"

    @classmethod
    def parse(
        cls,
        on: str | Sequence[Any],
        time: Any,
        window: Any,
        where: str | None = None,
        lateness: Any = None,
        null_keys: str = "skip",
    ) -> "Query":
        """Read the words of the public API."""
        if null_keys not in ("skip", "error"):
            raise InputError(f"null_keys={null_keys!r} is neither 'skip' nor 'error'")
        left, right = (parse_window(part) for part in pair_of(window))
        late = None if lateness is None else parse_window(lateness).text
        return cls(key_columns(on), pair_of(time), (left, right), where, late, null_keys)

    @property
    def window_text(self) -> str:
        """The windows as one word."""
        left, right = (str(window) for window in self.windows)
        return left if left == right else f"{left}={right}"


@dataclass(frozen=True)
class BoundStream:
    """A stream of a query together with what follows from the types of its columns."""

    name: str
    title: str
    """What messages call it."""
    schema: pa.Schema
    time: str
    scale: int
    """How many of the common time unit one unit of its time column is."""
    window: Window | None
    """None if its tuples bring their own end."""
    span: int = 0
    """The length of the window in the common unit."""
    end: str | None = None
    """The column with the end of a tuple's validity."""
    end_scale: int = 1
    subject: str | None = None
    """A column that says what a tuple is about: a newer one replaces the older."""


@dataclass(frozen=True)
class BoundJoin:
    """A join of a query together with what follows from the types of its columns."""

    name: str
    streams: tuple[int, ...]
    columns: tuple[tuple[str, ...], ...]
    """By place in the join: the key columns of the stream there."""
    key_types: tuple[pa.DataType, ...]
    """What key columns are cast to before they are compared."""
    filter: Where | None = None

    @property
    def exact_codes(self) -> bool:
        """Whether equal key codes always mean equal keys."""
        return len(self.key_types) == 1 and fits_in_64_bits(self.key_types[0])


@dataclass(frozen=True)
class Bound:
    """A query together with what follows from the schemas of its streams."""

    streams: tuple[BoundStream, ...]
    joins: tuple[BoundJoin, ...]
    unit: int | None
    """The nanoseconds of the common time unit; None if times are plain numbers."""
    null_keys: str = "skip"
    lateness: int | None = None
    by_rate: tuple[bool, ...] = ()
    """By stream: whether it is shed by rate, see :mod:`recollect.workload.shedding`."""
    words: Query | None = None
    """The words of a plain join of two streams."""

    @property
    def query(self) -> Query:
        """The words of a plain join of two streams."""
        assert self.words is not None
        return self.words

    @property
    def schemas(self) -> tuple[pa.Schema, ...]:
        """By stream: its columns."""
        return tuple(stream.schema for stream in self.streams)

    @property
    def scale(self) -> tuple[int, ...]:
        """By stream: how many of the common time unit one unit of its time column is."""
        return tuple(stream.scale for stream in self.streams)

    @property
    def spans(self) -> tuple[int, ...]:
        """By stream: the length of its window in the common unit."""
        return tuple(stream.span for stream in self.streams)

    @property
    def key_types(self) -> tuple[pa.DataType, ...]:
        """The types in which the keys of the first join are compared."""
        return self.joins[0].key_types

    @property
    def filter(self) -> Where | None:
        """The condition of the first join."""
        return self.joins[0].filter

    @property
    def exact_codes(self) -> bool:
        """Whether equal key codes of the first join always mean equal keys."""
        return self.joins[0].exact_codes

    @cached_property
    def setting(self) -> Setting:
        """What the engine must know of it."""
        return Setting.of(
            tuple(join.streams for join in self.joins),
            tuple(join.filter for join in self.joins),
            counting=tuple(s.window is not None and s.window.kind == COUNT for s in self.streams),
            ends=tuple(stream.window is None for stream in self.streams),
            subjects=any(stream.subject is not None for stream in self.streams),
            by_rate=self.by_rate,
        )

    def columns(self, number: int) -> list[str]:
        """The columns of a stream that the join itself must see."""
        stream = self.streams[number]
        needed = [stream.time, stream.end, stream.subject]
        for join in self.joins:
            for place, other in enumerate(join.streams):
                if other == number:
                    needed += join.columns[place]
                    needed += [] if join.filter is None else join.filter.columns[place]
        return [name for name in dict.fromkeys(needed) if name is not None]


def bind(query: Query, left: pa.Schema, right: pa.Schema) -> Bound:
    """Check a query against both schemas."""
    schemas = (left, right)
    key_types = tuple(
        common_type(
            field_of(left, "the left input", left_name).type,
            field_of(right, "the right input", right_name).type,
            f"{left_name} = {right_name}",
        )
        for left_name, right_name in zip(*query.on, strict=True)
    )
    units = [
        time_unit(field_of(schema, f"the {side} input", column).type, column)
        for schema, side, column in zip(schemas, SIDES, query.time, strict=True)
    ]
    if (units[0] is None) != (units[1] is None):
        raise InputError(
            f"time columns {query.time[0]!r} and {query.time[1]!r} do not go together:"
            f" {left.field(query.time[0]).type} and {right.field(query.time[1]).type}"
        )
    zones = [
        getattr(schema.field(column).type, "tz", None)
        for schema, column in zip(schemas, query.time, strict=True)
    ]
    # Where there is no zone, UTC is meant; with another one on the other side it may be a mistake.
    if None in zones and not {*zones} <= {None, *UTC}:
        raise InputError(
            f"time columns {query.time[0]!r} and {query.time[1]!r} do not go together: one has the"
            f" time zone {zones[0] or zones[1]}, the other has none; cast one of them"
        )
    finest = min((unit for unit in units if unit is not None), default=None)
    return Bound(
        streams=tuple(
            BoundStream(
                side, f"the {side} stream", schema, time, scale_to(unit, finest),
                window, resolve(window, finest),
            )
            for side, schema, time, unit, window in zip(
                SIDES, schemas, query.time, units, query.windows, strict=True
            )
        ),
        joins=(
            BoundJoin(
                "join", (0, 1), query.on, key_types,
                None if query.where is None else compile_where(query.where, left, right),
            ),
        ),
        unit=finest,
        null_keys=query.null_keys,
        lateness=parse_lateness(query.lateness, finest),
        words=query,
    )  # fmt: skip


def scale_to(unit: int | None, finest: int | None) -> int:
    """How many of the finest unit another one is."""
    return 1 if unit is None or finest is None else unit // finest


def parse_lateness(lateness: Any, unit: int | None) -> int | None:
    """How far out of order tuples may come, in units of the time columns."""
    if lateness is None:
        return None
    window = parse_window(lateness)
    if window.kind != parse_window(0).kind:
        raise WindowError(f"lateness {lateness!r} is not a number of time units or a duration")
    return resolve(window, unit)


def field_of(schema: pa.Schema, title: str, name: str) -> pa.Field:
    """A column that a query names; there must be one of that name."""
    found = schema.get_all_field_indices(name)
    if len(found) != 1:
        there = ", ".join(repr(column) for column in schema.names) or "none"
        count = "no column" if not found else f"{len(found)} columns called"
        raise InputError(f"{title} has {count} {name!r}; its columns are {there}")
    return schema.field(found[0])


def _value_type(kind: pa.DataType) -> pa.DataType:
    """The type behind encodings that make no difference to equality."""
    if isinstance(kind, pa.BaseExtensionType):
        return _value_type(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return _value_type(kind.value_type)
    if pa.types.is_string_view(kind) or pa.types.is_string(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind) or pa.types.is_binary(kind):
        return pa.large_binary()
    return kind


def _names(kind: pa.DataType) -> list[Any]:
    """The names of the fields inside a nested type."""
    fields = [kind.field(i) for i in range(kind.num_fields)]
    return [(f.name if pa.types.is_struct(kind) else "", _names(f.type)) for f in fields]


def common_type(left: pa.DataType, right: pa.DataType, pair: str) -> pa.DataType:
    """The type in which two key columns can be compared."""
    one, two = _value_type(left), _value_type(right)
    if pa.types.is_nested(one) and _names(one) != _names(two):
        raise InputError(f"keys {pair} cannot be compared: {left} and {right}; cast one of them")
    if one == two:
        plain = pa.types.is_string(left) or pa.types.is_binary(left)
        return left if left == right and plain else one  # no need for the large ones
    try:
        common = (
            pa.unify_schemas(
                [pa.schema([("key", one)]), pa.schema([("key", two)])], promote_options="permissive"
            )
            .field(0)
            .type
        )
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        common = None
    numeric = [pa.types.is_floating(kind) or pa.types.is_integer(kind) for kind in (one, two)]
    if common is None or numeric[0] != numeric[1] or pa.types.is_null(one) or pa.types.is_null(two):
        raise InputError(f"keys {pair} cannot be compared: {left} and {right}; cast one of them")
    return common
