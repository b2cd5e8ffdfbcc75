"""How many bytes each row of a record batch takes, measured from its Arrow buffers."""

import numpy as np
import pyarrow as pa

from recollect.hashing import bit_width


def row_bytes(batch: pa.RecordBatch) -> np.ndarray:
    """The bytes of each row, with one byte per column for validity.

    >>> batch = pa.record_batch({"id": [1, 2], "name": ["a", "long name"]})
    >>> row_bytes(batch)
    array([15, 23])
    """
    total = np.full(batch.num_rows, batch.num_columns, np.int64)
    for column in batch.columns:
        total += value_bytes(column)
    return total


def value_bytes(array: pa.Array) -> np.ndarray:
    """The bytes of each value of a column."""
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return value_bytes(array.storage)
    if pa.types.is_struct(kind):
        return sum((value_bytes(child) for child in array.flatten()), start=_same(array, 0))
    if pa.types.is_dictionary(kind):
        return _same(array, kind.index_type.bit_width // 8)
    if pa.types.is_fixed_size_list(kind):
        start = array.offset * kind.list_size
        items = array.values.slice(start, len(array) * kind.list_size)
        return value_bytes(items).reshape(len(array), kind.list_size).sum(axis=1)
    if pa.types.is_map(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        items = array.values if not pa.types.is_map(kind) else array.keys
        inside = value_bytes(items)
        if pa.types.is_map(kind):
            inside = inside + value_bytes(array.items)
        large = pa.types.is_large_list(kind)
        offsets = _offsets(array, np.int64 if large else np.int32)
        before = np.concatenate([[0], np.cumsum(inside)])
        return before[offsets[1:]] - before[offsets[:-1]] + (8 if large else 4)
    if pa.types.is_null(kind):
        return _same(array, 0)
    if not pa.types.is_nested(kind) and (bits := bit_width(kind)) is not None:
        return _same(array, max(1, bits // 8))
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return value_bytes(array.cast(pa.large_binary())) + 8
    large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if large or pa.types.is_string(kind) or pa.types.is_binary(kind):
        offsets = _offsets(array, np.int64 if large else np.int32)
        return np.diff(offsets) + (8 if large else 4)
    # Rarer layouts: what a value takes in the mean.
    return _same(array, -(-array.nbytes // max(1, len(array))))


def _same(array: pa.Array, size: int) -> np.ndarray:
    return np.full(len(array), size, np.int64)


def _offsets(array: pa.Array, kind: type) -> np.ndarray:
    if len(array) == 0:
        return np.zeros(1, np.int64)
    offsets: np.ndarray = np.frombuffer(array.buffers()[1], kind)
    return offsets[array.offset : array.offset + len(array) + 1].astype(np.int64)
