"""Batches as the kernel needs them: keys as codes, times as whole numbers, sizes as bytes."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from recollect.errors import InputError
from recollect.hashing import code_of_columns
from recollect.join.kernel import Feed
from recollect.join.payload import SLACK
from recollect.join.query import Bound
from recollect.join.sizes import row_bytes

NO_SIZES = np.empty(0, np.int64)
NO_SKIPS = np.empty(0, np.uint8)


class Encoded(NamedTuple):
    """A batch as the kernel needs it, and the batch itself."""

    feed: Feed
    batch: pa.RecordBatch


def encoded(
    bound: Bound,
    side: int,
    batch: pa.RecordBatch,
    times: np.ndarray,
    skip: np.ndarray | None = None,
    measure: bool = False,
    codes: np.ndarray | None = None,
) -> Encoded:
    """Encode a batch of a stream.

    Parameters
    ----------
    bound
        The query.
    side
        0 for the left stream, 1 for the right.
    batch, times
        The tuples in order of time, and their times in the query's unit.
    skip
        Which of them match nothing, if any.
    measure
        Whether the bytes of each row are wanted.
    codes
        The codes of the keys, if they have been computed before.
    """
    if codes is None:
        codes = code_of_columns(keys_of(bound, side, batch))
    extra = np.empty((batch.num_rows, 0), np.int64)
    if bound.filter is not None:
        extra = bound.filter.encode(side, batch)
    sizes = np.ceil(SLACK * row_bytes(batch)).astype(np.int64) if measure else NO_SIZES
    return Encoded(
        feed_of(
            codes,
            times,
            sizes,
            NO_SKIPS if skip is None else skip.astype(np.uint8),
            extra,
        ),
        batch,
    )


def feed_of(
    keys: np.ndarray,
    times: np.ndarray,
    sizes: np.ndarray = NO_SIZES,
    skip: np.ndarray = NO_SKIPS,
    extra: np.ndarray | None = None,
) -> Feed:
    """A feed from its columns."""
    if extra is None:
        extra = np.empty((len(times), 0), np.int64)
    return Feed(*(_frozen(array) for array in (keys, times, sizes, skip, extra)))


def no_feed(extra_width: int) -> Feed:
    """A feed without tuples."""
    empty = np.empty(0, np.int64)
    return feed_of(empty, empty, extra=np.empty((0, extra_width), np.int64))


def rest_of(feed: Feed, start: int) -> Feed:
    """What remains of a feed from a tuple on."""
    return Feed(*(array[start:] for array in feed))


def _frozen(array: np.ndarray) -> np.ndarray:
    """Read-only and contiguous, as numba has compiled the kernel for."""
    array = np.ascontiguousarray(array).view()
    array.flags.writeable = False
    return array


def keys_of(bound: Bound, side: int, batch: pa.RecordBatch) -> list[pa.Array]:
    """The key columns of a batch in the types in which both sides are compared."""
    return [
        cast_key(batch.column(name), kind, name)
        for name, kind in zip(bound.query.on[side], bound.key_types, strict=True)
    ]


def cast_key(array: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    """A key column in the type in which both sides are compared."""
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
