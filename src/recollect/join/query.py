"""What is joined: keys, times, windows and a filter, first as typed, then bound to two schemas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from recollect.errors import InputError, WindowError
from recollect.hashing import fits_in_64_bits
from recollect.join.residual import EMPTY, Residual
from recollect.join.where import Where, compile_where
from recollect.join.window import Window, parse_window, resolve, time_unit

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
class Bound:
    """A query together with what follows from the types of the columns it names."""

    query: Query
    schemas: tuple[pa.Schema, pa.Schema]
    key_types: tuple[pa.DataType, ...]
    """What the key columns of both sides are cast to before they are compared."""
    scale: tuple[int, int]
    """By side: how many of the common time unit one unit of its time column is."""
    spans: tuple[int, int]
    lateness: int | None
    filter: Where | None

    @property
    def exact_codes(self) -> bool:
        """Whether equal key codes always mean equal keys."""
        return len(self.key_types) == 1 and fits_in_64_bits(self.key_types[0])

    @property
    def residual(self) -> Residual:
        """The filter in compiled form."""
        return EMPTY if self.filter is None else self.filter.code

    def columns(self, side: int) -> list[str]:
        """The columns of a side that the join itself must see."""
        needed = [*self.query.on[side], self.query.time[side]]
        if self.filter is not None:
            needed += self.filter.columns[side]
        return list(dict.fromkeys(needed))


def bind(query: Query, left: pa.Schema, right: pa.Schema) -> Bound:
    """Check a query against both schemas."""
    schemas = (left, right)
    key_types = tuple(
        common_type(
            _field(left, "left", left_name).type,
            _field(right, "right", right_name).type,
            f"{left_name} = {right_name}",
        )
        for left_name, right_name in zip(*query.on, strict=True)
    )
    units = [
        time_unit(_field(schema, side, column).type, column)
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
    finest = None if units[0] is None or units[1] is None else min(units[0], units[1])
    spans = tuple(resolve(window, finest) for window in query.windows)
    return Bound(
        query=query,
        schemas=schemas,
        key_types=key_types,
        scale=tuple(1 if unit is None or finest is None else unit // finest for unit in units),  # type: ignore[arg-type]
        spans=spans,  # type: ignore[arg-type]
        lateness=_lateness(query.lateness, finest),
        filter=None if query.where is None else compile_where(query.where, left, right),
    )


def _lateness(lateness: Any, unit: int | None) -> int | None:
    if lateness is None:
        return None
    window = parse_window(lateness)
    if window.kind != parse_window(0).kind:
        raise WindowError(f"lateness {lateness!r} is not a number of time units or a duration")
    return resolve(window, unit)


def _field(schema: pa.Schema, side: str, name: str) -> pa.Field:
    found = schema.get_all_field_indices(name)
    if len(found) != 1:
        there = ", ".join(repr(column) for column in schema.names) or "none"
        count = "no column" if not found else f"{len(found)} columns called"
        raise InputError(f"the {side} input has {count} {name!r}; its columns are {there}")
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
