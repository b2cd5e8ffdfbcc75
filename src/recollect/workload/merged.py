"""The merged input of a workload: all streams in order of arrival, as the kernel needs them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from recollect.errors import InputError, NullKeyError, TimeOrderError
from recollect.hashing import code_of_columns, missing
from recollect.join.encoding import cast_key
from recollect.join.kernel import COUNT, FOREVER, LANDMARK, UNLIMITED
from recollect.join.query import common_type
from recollect.join.where import Where, compile_where
from recollect.join.window import resolve, time_unit
from recollect.streams import Source, open_source
from recollect.streams.python_values import text_of
from recollect.workload.declaration import RATE, JoinOn, Stream, Workload
from recollect.workload.engine import NONE, Shape
from recollect.workload.kernel import Feed

LAST = np.iinfo(np.int64).max


class Part(NamedTuple):
    """One stream, encoded."""

    time: np.ndarray
    moment: np.ndarray
    expires: np.ndarray
    length: np.ndarray
    """How long each tuple may match, in units of its clock."""
    subject: np.ndarray
    has_validity: np.ndarray
    """0 for tuples whose validity is empty."""


@dataclass(frozen=True)
class Merged:
    """What a workload is run on.

    Parameters
    ----------
    streams, joins
        Their names.
    feed
        The merged input.
    length
        By arrival: how long it may match, in units of the clock of its stream.
    row
        By arrival: its row in its own stream.
    unit
        The nanoseconds of a unit of time; None if times are plain numbers.
    """

    streams: tuple[str, ...]
    joins: tuple[JoinOn, ...]
    join_names: tuple[str, ...]
    shape: Shape
    feed: Feed
    length: np.ndarray
    row: np.ndarray
    unit: int | None

    @property
    def arrivals(self) -> list[int]:
        """By stream: how many tuples it has."""
        return np.bincount(self.feed.stream, minlength=len(self.streams)).tolist()


def _field(source: Source, name: str, column: str) -> pa.Field:
    found = source.schema.get_all_field_indices(column)
    if len(found) != 1:
        there = ", ".join(repr(other) for other in source.schema.names) or "none"
        count = "no column" if not found else f"{len(found)} columns called"
        raise InputError(f"stream {name} has {count} {column!r}; its columns are {there}")
    return source.schema.field(found[0])


def merge(workload: Workload, progress: Callable[[str, int], None]) -> Merged:
    """Read and encode all streams of a workload."""
    names = tuple(workload.streams)
    joins = workload.parsed_joins
    sources = {name: open_source(stream.source) for name, stream in workload.streams.items()}
    filters = _filters(joins, sources)
    wanted = _columns(workload, joins, filters)
    unit = _common_unit(workload, sources)
    key_types = [_key_types(join, sources) for join in joins.values()]
    batches = {}
    for name, source in sources.items():
        for column in wanted[name]:
            _field(source, name, column)
        parts = []
        for batch in source.batches(wanted[name], batch_rows=65_536):
            parts.append(batch)
            progress("reading", batch.num_rows)
        schema = pa.schema([source.schema.field(column) for column in wanted[name]])
        table = pa.Table.from_batches(parts, schema).combine_chunks()
        batches[name] = (table.to_batches() or [pa.RecordBatch.from_pylist([], schema)])[0]

    parts = []
    subjects = 0
    for name, stream in workload.streams.items():
        part = _encode(name, stream, batches[name], unit, subjects)
        subjects = max(subjects, int(part.subject.max(initial=NONE)) + 1)
        parts.append(part)
    sizes = [len(part.time) for part in parts]
    offsets = dict(zip(names, np.cumsum([0, *sizes[:-1]]), strict=True))
    total = sum(sizes)
    number = np.repeat(np.arange(len(names), dtype=np.int32), sizes)
    row = np.concatenate([np.arange(size) for size in sizes])

    keys = np.zeros((total, len(joins)), np.int64)
    present = np.zeros((total, len(joins)), np.uint8)
    for place, (join, types) in enumerate(zip(joins.values(), key_types, strict=True)):
        for name, columns in zip(join.streams, join.columns, strict=True):
            batch = batches[name]
            arrays = [
                cast_key(batch.column(column), kind, column)
                for column, kind in zip(columns, types, strict=True)
            ]
            rows = slice(offsets[name], offsets[name] + batch.num_rows)
            keys[rows, place] = code_of_columns(arrays)
            absent = missing(arrays)
            if absent is not None and workload.null_keys == "error":
                raise NullKeyError(
                    f"a key of stream {name} ({', '.join(columns)}) is NULL or NaN in row"
                    f" {absent.argmax()}; such keys never match (null_keys='skip' passes over them)"
                )
            present[rows, place] = 1 if absent is None else ~absent
    joined = Part(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    present *= joined.has_validity[:, None]

    order = np.lexsort((number, joined.time))
    feed = Feed(
        stream=number[order],
        time=joined.time[order],
        moment=joined.moment[order],
        expires=joined.expires[order],
        keys=keys[order],
        present=present[order],
        subject=joined.subject[order],
        extra=np.ascontiguousarray(_extra(joins, filters, batches, offsets, total)[:, order]),
    )
    windows = [stream.parsed_window for stream in workload.streams.values()]
    shape = Shape(
        joins=tuple(tuple(names.index(name) for name in join.streams) for join in joins.values()),
        counting=tuple(window is not None and window.kind == COUNT for window in windows),
        validity=tuple(window is None for window in windows),
        by_rate=tuple(stream.shed == RATE for stream in workload.streams.values()),
        filters=tuple(None if where is None else where.code for where in filters.values()),
    )
    return Merged(
        names, tuple(joins.values()), tuple(joins), shape, feed,
        joined.length[order], row[order], unit,
    )  # fmt: skip


def _filters(joins: dict[str, JoinOn], sources: dict[str, Source]) -> dict[str, Where | None]:
    return {
        name: None
        if join.where is None
        else compile_where(join.where, *(sources[stream].schema for stream in join.streams))
        for name, join in joins.items()
    }


def _columns(
    workload: Workload, joins: dict[str, JoinOn], filters: dict[str, Where | None]
) -> dict[str, list[str]]:
    """By stream: the columns that must be read."""
    wanted: dict[str, list[str]] = {}
    for name, stream in workload.streams.items():
        wanted[name] = [stream.time_column, *(stream.valid or ())[1:]]
        wanted[name] += [] if stream.subject is None else [stream.subject]
    for join, where in zip(joins.values(), filters.values(), strict=True):
        for side, (name, columns) in enumerate(zip(join.streams, join.columns, strict=True)):
            wanted[name] += columns
            wanted[name] += [] if where is None else where.columns[side]
    return {name: list(dict.fromkeys(columns)) for name, columns in wanted.items()}


def _common_unit(workload: Workload, sources: dict[str, Source]) -> int | None:
    """The finest unit of all time columns; None if they are plain numbers."""
    units = {}
    for name, stream in workload.streams.items():
        for column in stream.valid or (stream.time_column,):
            kind = _field(sources[name], name, column).type
            units[f"{name}.{column} ({kind})"] = time_unit(kind, column)
    plain = [text for text, unit in units.items() if unit is None]
    stamped = [text for text, unit in units.items() if unit is not None]
    if plain and stamped:
        raise InputError(f"time columns {plain[0]} and {stamped[0]} do not go together")
    return min((unit for unit in units.values() if unit is not None), default=None)


def _key_types(join: JoinOn, sources: dict[str, Source]) -> list[pa.DataType]:
    """The types in which the keys of a join are compared, by condition."""
    types = []
    for columns in zip(*join.columns, strict=True):
        fields = [
            _field(sources[name], name, column).type
            for name, column in zip(join.streams, columns, strict=True)
        ]
        types.append(reduce(lambda one, two: common_type(one, two, join.on), fields))
    return types


def _encode(
    name: str, stream: Stream, batch: pa.RecordBatch, unit: int | None, subjects: int
) -> Part:
    times = _times(name, stream.time_column, batch, unit)
    if len(times) and np.any(times[1:] < times[:-1]):
        row = 1 + int(np.flatnonzero(times[1:] < times[:-1])[0])
        column = batch.column(stream.time_column)
        raise TimeOrderError(
            f"time goes backwards in row {row} of stream {name}:"
            f" {text_of(column[row])} after {text_of(column[row - 1])}; sort it"
        )
    moment = times
    window = stream.parsed_window
    valid = np.ones(len(times), np.uint8)
    if window is None:
        assert stream.valid is not None
        end = _times(name, stream.valid[1], batch, unit, if_null=LAST)
        valid = (end > times).astype(np.uint8)
        expires = np.where(end == LAST, FOREVER, end - 1)
        length = np.where(end == LAST, LAST, end - times).astype(np.float64)
    else:
        span = resolve(window, unit)
        length = np.full(len(times), float(span))
        if window.kind == COUNT:
            moment = np.arange(1, len(times) + 1)
            expires = moment + span - 1
        elif window.kind == UNLIMITED:
            expires = np.full(len(times), FOREVER)
            length[:] = LAST
        elif window.kind == LANDMARK:
            expires = (times // span + 1) * span - 1
            length = (expires - times).astype(np.float64)
        else:
            expires = np.where(times > FOREVER - span, FOREVER, times + span)
    about = np.full(len(times), NONE, np.int64)
    if stream.subject is not None and len(times):
        column = batch.column(stream.subject)
        there = column.is_valid().to_numpy(zero_copy_only=False)
        _, codes = np.unique(code_of_columns([column]), return_inverse=True)
        about[there] = codes[there] + subjects
    return Part(times, moment, expires, length, about, valid)


def _times(
    name: str, column: str, batch: pa.RecordBatch, unit: int | None, if_null: int | None = None
) -> np.ndarray:
    array = batch.column(column)
    nulls = array.is_null().to_numpy(zero_copy_only=False)
    if nulls.any() and if_null is None:
        raise InputError(f"time column {column!r} of stream {name} is NULL in row {nulls.argmax()}")
    own = time_unit(array.type, column)
    scale = 1 if own is None or unit is None else own // unit
    times = code_of_columns([array])
    there = times[~nulls]
    largest = max(abs(int(there.min())), int(there.max())) if len(there) else 0
    if largest > LAST // scale or (pa.types.is_uint64(array.type) and (there < 0).any()):
        raise InputError(f"time column {column!r} of stream {name} goes beyond 64 bits")
    return times * scale if if_null is None else np.where(nulls, if_null, times * scale)


def _extra(
    joins: dict[str, JoinOn],
    filters: dict[str, Where | None],
    batches: dict[str, pa.RecordBatch],
    offsets: dict[str, np.int64],
    total: int,
) -> np.ndarray:
    """What filters look at, see :class:`recollect.workload.kernel.Feed`."""
    given = [(join, where) for join, where in zip(joins.values(), filters.values(), strict=True)
             if where is not None]  # fmt: skip
    width = max((where.width for _, where in given), default=0)
    extra = np.zeros((2 * len(given), total, width), np.int64)
    for number, (join, where) in enumerate(given):
        for side, name in enumerate(join.streams):
            words = where.encode(side, batches[name])
            lines = extra[2 * number + side, offsets[name] : offsets[name] + len(words)]
            lines[:, : where.width - 1] = words[:, :-1]
            lines[:, -1] = words[:, -1]  # which of them are NULL
    return extra
