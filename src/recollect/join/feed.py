"""Batches as the engine needs them: keys as codes, windows as moments, all streams in one order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from recollect.errors import InputError
from recollect.hashing import code_of_columns, missing
from recollect.join.kernel import FOREVER, Feed
from recollect.join.payload import SLACK
from recollect.join.query import Bound
from recollect.join.sizes import row_bytes
from recollect.join.window import lifetimes

NO_SIZES = np.empty(0, np.int64)
LEAST_ROOM = 4_096


class Encoded(NamedTuple):
    """A batch of one stream as numbers, in order of time, and the batch itself."""

    time: np.ndarray
    moment: np.ndarray
    expires: np.ndarray
    keys: np.ndarray
    """By tuple and join; in a last column the subject, if facts replace each other."""
    present: np.ndarray | None
    """None if every tuple has a key in every join."""
    size: np.ndarray
    extra: np.ndarray
    batch: pa.RecordBatch | None = None
    null_keys: int = 0
    """How many tuples have a NULL or NaN in a key."""
    before: int = 0
    """How many tuples of the stream came before."""


def encoded(
    bound: Bound,
    number: int,
    batch: pa.RecordBatch,
    times: np.ndarray,
    *,
    before: int = 0,
    measure: bool = False,
    codes: np.ndarray | None = None,
) -> Encoded:
    """Encode a batch of a stream.

    Parameters
    ----------
    bound
        The query.
    number
        The number of the stream.
    batch, times
        The tuples in order of time, and their times in the query's unit.
    before
        How many tuples of the stream came before.
    measure
        Whether the bytes of each row are wanted.
    codes
        The codes of the keys, if they are known already; for one join.
    """
    stream, setting = bound.streams[number], bound.setting
    count = batch.num_rows
    keys = np.zeros((count, setting.tables), np.int64)
    present: np.ndarray | None = np.zeros((count, setting.tables), np.uint8)
    assert present is not None
    extra = np.zeros((count, setting.width), np.int64)
    incomplete = np.zeros(count, bool)
    for place, join in enumerate(bound.joins):
        for side, its in enumerate(join.streams):
            if its != number:
                continue
            arrays = keys_of(bound, number, batch, place)
            keys[:, place] = code_of_columns(arrays) if codes is None else codes
            absent = missing(arrays)
            present[:, place] = 1 if absent is None else ~absent
            if absent is not None:
                incomplete |= absent
            if join.filter is not None:
                begin = setting.words[place][side]
                extra[:, begin : begin + join.filter.width] = join.filter.encode(side, batch)
    if stream.subject is not None:
        subject = batch.column(stream.subject)
        keys[:, -1] = code_of_columns([subject])
        present[:, -1] = subject.is_valid().to_numpy(zero_copy_only=False)
    if stream.window is None:
        assert stream.end is not None
        end = times_of(bound, number, batch, stream.end, if_null=FOREVER)
        moments, expires = times, np.where(end == FOREVER, FOREVER, end - 1)
        present[end <= times, : len(bound.joins)] = 0  # an empty fact replaces all the same
    else:
        moments, expires = lifetimes(stream.window.kind, stream.span, times, before)
    sizes = np.ceil(SLACK * row_bytes(batch)).astype(np.int64) if measure else NO_SIZES
    nulls = int(incomplete.sum())
    if setting.plain and not nulls:
        present = None
    return Encoded(times, moments, expires, keys, present, sizes, extra, batch, nulls, before)


def of_codes(
    bound: Bound, number: int, codes: np.ndarray, times: np.ndarray, sizes: np.ndarray = NO_SIZES
) -> Encoded:
    """Encode tuples of a join of two streams of which only numbers are known."""
    window = bound.streams[number].window
    assert window is not None
    moments, expires = lifetimes(window.kind, bound.streams[number].span, times, 0)
    extra = np.zeros((len(times), bound.setting.width), np.int64)
    return Encoded(times, moments, expires, codes[:, None], None, sizes, extra)


def times_of(
    bound: Bound, number: int, batch: pa.RecordBatch, column: str, if_null: int | None = None
) -> np.ndarray:
    """A time column in the query's unit.

    Parameters
    ----------
    bound, number, batch, column
        The query, the stream, the tuples, the column.
    if_null
        What a NULL counts as; without it, it is an error, of which only the row is told.
    """
    stream = bound.streams[number]
    scale = stream.scale if column == stream.time else stream.end_scale
    array = batch.column(column)
    times = code_of_columns([array])
    nulls = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    there = times if nulls is None else times[~nulls]
    if pa.types.is_uint64(array.type) and len(there) and there.min() < 0:
        raise InputError(f"time column {column!r} of {stream.title} has values above 2^63 - 1")
    if scale > 1 and len(there):
        if max(abs(int(there.min())), abs(int(there.max()))) > FOREVER // scale:
            raise InputError(
                f"time column {column!r} of {stream.title} goes beyond what the finer"
                " unit of another one can express"
            )
        times = times * scale
    return times if nulls is None or if_null is None else np.where(nulls, if_null, times)


def keys_of(bound: Bound, number: int, batch: pa.RecordBatch, join: int = 0) -> list[pa.Array]:
    """The key columns of a batch in a join, in the types in which they are compared."""
    its = bound.joins[join]
    columns = its.columns[its.streams.index(number)]
    return [
        cast_key(batch.column(name), kind, name)
        for name, kind in zip(columns, its.key_types, strict=True)
    ]


def cast_key(array: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    """A key column in the type in which it is compared with others."""
    if array.type == kind:
        return array
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    # Whole numbers and fractions are compared as in SQL, as fractions, however large.
    rounding = pa.types.is_integer(array.type) and pa.types.is_floating(kind)
    try:
        return array.cast(kind, safe=not rounding)
    except pa.ArrowInvalid as error:
        raise InputError(f"key column {name!r} cannot be compared as {kind}: {error}") from None


class Piece(NamedTuple):
    """A piece of what waits in a stream."""

    stream: int
    encoded: Encoded
    start: int
    stop: int
    row: int = 0
    """The number of its first row in the payload store."""


class Space:
    """Memory that is used for one feed after the other, since new memory is slow at first."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}
        self.ones = np.ones((0, 1), np.uint8)

    def joined(self, name: str, parts: Sequence[np.ndarray]) -> np.ndarray:
        """Put arrays behind each other."""
        total = sum(map(len, parts))
        array = self._arrays.get(name)
        if array is None or len(array) < total:
            array = np.empty((max(total, LEAST_ROOM), *parts[0].shape[1:]), parts[0].dtype)
            self._arrays[name] = array
        return np.concatenate(parts, out=array[:total])

    def all_present(self, count: int, width: int) -> np.ndarray:
        """Ones."""
        if len(self.ones) < count or self.ones.shape[1] != width:
            self.ones = np.ones((max(count, LEAST_ROOM), width), np.uint8)
        return self.ones[:count]


def feed_of(pieces: Sequence[Piece], space: Space | None = None) -> Feed:
    """Tuples of several streams in order of arrival: by time, then by stream.

    Parameters
    ----------
    pieces
        At most one of each stream, in the order of the streams.
    space
        Memory for the feed; what was made in it before is overwritten.
    """
    space = space or Space()
    first = pieces[0].encoded
    cuts = [slice(piece.start, piece.stop) for piece in pieces]
    parts = [piece.encoded for piece in pieces]
    counts = [piece.stop - piece.start for piece in pieces]
    total = sum(counts)

    def column(name: str) -> np.ndarray:
        return space.joined(
            name, [getattr(part, name)[cut] for part, cut in zip(parts, cuts, strict=True)]
        )

    time = column("time")
    width = first.keys.shape[1]
    present = space.all_present(total, width)
    if any(part.present is not None for part in parts):
        present = np.concatenate(
            [
                present[: piece.stop - piece.start]
                if piece.encoded.present is None
                else piece.encoded.present[piece.start : piece.stop]
                for piece in pieces
            ]
        )
    rows = [np.arange(piece.row, piece.row + n) for piece, n in zip(pieces, counts, strict=True)]
    order = np.argsort(time, kind="stable") if len(pieces) > 1 else np.arange(total)
    streams = np.array([piece.stream for piece in pieces], np.int32)
    # Without a sign, the compiled loop need not ask whether a place is counted from the end.
    return Feed(
        order.view(np.uint64), np.repeat(streams, counts), time,
        time if all(part.moment is part.time for part in parts) else column("moment"),
        column("expires"), column("keys"), present, space.joined("row", rows),
        column("size"), column("extra"),
    )  # fmt: skip
