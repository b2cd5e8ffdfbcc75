"""A workload bound to the schemas of its streams: what the engine joins."""

from collections.abc import Callable
from functools import reduce

import pyarrow as pa

from recollect.errors import InputError
from recollect.join.query import (
    Bound,
    BoundJoin,
    BoundStream,
    common_type,
    field_of,
    parse_lateness,
    scale_to,
)
from recollect.join.where import compile_where
from recollect.join.window import resolve, time_unit
from recollect.workload.declaration import RATE, JoinOn, Stream, Workload


def binder(workload: Workload) -> Callable[..., Bound]:
    """Check a workload against the schemas of its streams, which are given to what is returned."""

    def bind(*schemas: pa.Schema) -> Bound:
        names = tuple(workload.streams)
        by_name = dict(zip(names, schemas, strict=True))
        unit = _common_unit(workload, by_name)
        return Bound(
            streams=tuple(
                _bound_stream(name, stream, by_name[name], unit)
                for name, stream in workload.streams.items()
            ),
            joins=tuple(
                _bound_join(name, join, names, by_name)
                for name, join in workload.parsed_joins.items()
            ),
            unit=unit,
            null_keys=workload.null_keys,
            lateness=parse_lateness(workload.lateness, unit),
            by_rate=tuple(stream.shed == RATE for stream in workload.streams.values()),
        )

    return bind


def _bound_stream(name: str, stream: Stream, schema: pa.Schema, unit: int | None) -> BoundStream:
    title = f"stream {name}"
    scale = scale_to(time_unit(field_of(schema, title, stream.time_column).type, ""), unit)
    if stream.subject is not None:
        field_of(schema, title, stream.subject)
    window = stream.parsed_window
    if window is not None:
        return BoundStream(
            name, title, schema, stream.time_column, scale, window, resolve(window, unit),
            subject=stream.subject,
        )  # fmt: skip
    assert stream.valid is not None
    end = stream.valid[1]
    return BoundStream(
        name, title, schema, stream.time_column, scale, None,
        end=end, end_scale=scale_to(time_unit(field_of(schema, title, end).type, end), unit),
        subject=stream.subject,
    )  # fmt: skip


def _bound_join(
    name: str, join: JoinOn, names: tuple[str, ...], schemas: dict[str, pa.Schema]
) -> BoundJoin:
    types = []
    for columns in zip(*join.columns, strict=True):
        fields = [
            field_of(schemas[stream], f"stream {stream}", column).type
            for stream, column in zip(join.streams, columns, strict=True)
        ]
        types.append(reduce(lambda one, two: common_type(one, two, join.on), fields))
    where = None
    if join.where is not None:
        where = compile_where(join.where, *(schemas[stream] for stream in join.streams))
    streams = tuple(names.index(stream) for stream in join.streams)
    return BoundJoin(name, streams, join.columns, tuple(types), where)


def _common_unit(workload: Workload, schemas: dict[str, pa.Schema]) -> int | None:
    """The finest unit of all time columns; None if they are plain numbers."""
    units = {}
    for name, stream in workload.streams.items():
        for column in stream.valid or (stream.time_column,):
            kind = field_of(schemas[name], f"stream {name}", column).type
            units[f"{name}.{column} ({kind})"] = time_unit(kind, column)
    plain = [text for text, unit in units.items() if unit is None]
    stamped = [text for text, unit in units.items() if unit is not None]
    if plain and stamped:
        raise InputError(f"time columns {plain[0]} and {stamped[0]} do not go together")
    return min((unit for unit in units.values() if unit is not None), default=None)
