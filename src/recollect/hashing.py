"""Arrow values of any type as 64-bit codes, vectorised.

Values of at most 64 bits are their own code, so equal codes mean equal values. Everything longer
(strings, decimals, nested values, several columns) is hashed; two different values may then share
a code, and the engine compares the values themselves before it hands out a pair.

>>> import pyarrow as pa
>>> codes = code_of(pa.array(["a", "b", "a"]))
>>> bool(codes[0] == codes[2]), bool(codes[0] == codes[1])
(True, False)
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recollect.compiled import light, mix
from recollect.errors import InputError

Codes = np.ndarray
NULL_INSIDE = np.int64(-7046029254386353131)
"""The code of a NULL inside a nested value."""


@light
def _hash_bytes(codes, starts, ends, data, seed):  # type: ignore[no-untyped-def]
    """FNV-1a over each ``data[start:end]``, then :func:`mix`, so that all 64 bits are good."""
    for i in range(len(starts)):
        bits = np.uint64(0xCBF29CE484222325) ^ (np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15))
        for position in range(starts[i], ends[i]):
            bits = (bits ^ np.uint64(data[position])) * np.uint64(0x100000001B3)
        codes[i] = mix(np.int64(bits ^ np.uint64(ends[i] - starts[i])))


@light
def _hash_lists(codes, starts, ends, items):  # type: ignore[no-untyped-def]
    for i in range(len(starts)):
        code = mix(ends[i] - starts[i])
        for position in range(starts[i], ends[i]):
            code = mix(code * 31 + items[position])
        codes[i] = code


@light
def _combine(codes, more):  # type: ignore[no-untyped-def]
    for i in range(len(codes)):
        codes[i] = mix(mix(codes[i]) + more[i])


def _bounds(array: pa.Array, offset_type: type) -> tuple[np.ndarray, np.ndarray]:
    offsets: np.ndarray = np.frombuffer(array.buffers()[1], offset_type)
    offsets = offsets[array.offset : array.offset + len(array) + 1].astype(np.int64)
    return offsets[:-1], offsets[1:]


def hash_strings(array: pa.Array, seed: int = 0) -> Codes:
    """One 64-bit hash per string or binary value; a NULL gets an arbitrary one.

    >>> hash_strings(pa.array(["a", "b"])) == hash_strings(pa.array(["a", "c"]))
    array([ True, False])
    """
    if len(array) == 0:
        return np.empty(0, np.int64)
    large = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    starts, ends = _bounds(array, np.int64 if large else np.int32)
    data = array.buffers()[2]
    contents = np.frombuffer(data if data is not None else b"", np.uint8)
    codes = np.empty(len(array), np.int64)
    _hash_bytes(codes, starts, ends, contents, seed)
    return codes


def _hash_fixed(array: pa.Array, width: int) -> Codes:
    starts = np.arange(array.offset, array.offset + len(array), dtype=np.int64) * width
    codes = np.empty(len(array), np.int64)
    _hash_bytes(codes, starts, starts + width, np.frombuffer(array.buffers()[1], np.uint8), 0)
    return codes


def bit_width(kind: pa.DataType) -> int | None:
    """The bits of a value of this type; None if that differs from value to value."""
    try:
        return int(kind.bit_width)
    except ValueError:
        return None


def fits_in_64_bits(kind: pa.DataType) -> bool:
    """Whether values of this type are their own code."""
    return bool(pa.types.is_primitive(kind) and kind.bit_width <= 64)


def _code_of_primitive(array: pa.Array) -> Codes:
    if pa.types.is_floating(array.type):
        # + 0.0 turns -0.0 into 0.0, which are equal but differ in their bits, as NaNs may.
        numbers = array.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0
        numbers[np.isnan(numbers)] = np.nan
        return np.ascontiguousarray(numbers).view(np.int64)
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    width = array.type.bit_width
    unsigned = pa.types.is_unsigned_integer(array.type)
    whole = np.frombuffer(array.buffers()[1], f"{'u' if unsigned else 'i'}{width // 8}")
    part = whole[array.offset : array.offset + len(array)]
    return part.view(np.int64) if width == 64 else part.astype(np.int64)


def code_of(array: pa.Array) -> Codes:
    """One 64-bit code per value of an Arrow array of any type."""
    kind = array.type
    if len(array) == 0 or pa.types.is_null(kind):
        return np.zeros(len(array), np.int64)
    if isinstance(array, pa.ExtensionArray):
        return code_of(array.storage)
    if pa.types.is_dictionary(kind):
        return code_of(array.dictionary_decode())
    if fits_in_64_bits(kind):
        return _code_of_primitive(array)
    if pa.types.is_string_view(kind):
        return hash_strings(array.cast(pa.large_string()))
    if pa.types.is_binary_view(kind):
        return hash_strings(array.cast(pa.large_binary()))
    if (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
        or (pa.types.is_binary(kind) and not pa.types.is_fixed_size_binary(kind))
    ):
        return hash_strings(array)
    codes = np.zeros(len(array), np.int64)
    if pa.types.is_struct(kind):
        for child in array.flatten():
            _combine(codes, _code_inside(child))
        return codes
    if pa.types.is_fixed_size_list(kind):
        starts = np.arange(array.offset, array.offset + len(array), dtype=np.int64) * kind.list_size
        _hash_lists(codes, starts, starts + kind.list_size, _code_inside(array.values))
        return codes
    if pa.types.is_list(kind) or pa.types.is_map(kind) or pa.types.is_large_list(kind):
        starts, ends = _bounds(array, np.int64 if pa.types.is_large_list(kind) else np.int32)
        if pa.types.is_map(kind):
            items = _code_inside(array.keys).copy()
            _combine(items, _code_inside(array.items))
        else:
            items = _code_inside(array.values)
        _hash_lists(codes, starts, ends, items)
        return codes
    if (bits := bit_width(kind)) is not None:
        return _hash_fixed(array, bits // 8)
    raise InputError(f"a key of type {kind} cannot be compared; cast the column first")


def _code_inside(array: pa.Array) -> Codes:
    codes = code_of(array)
    if array.null_count:
        codes = np.where(array.is_valid().to_numpy(zero_copy_only=False), codes, NULL_INSIDE)
    return codes


def code_of_columns(columns: list[pa.Array]) -> Codes:
    """One 64-bit code per row of several columns.

    >>> codes = code_of_columns([pa.array([1, 1, 2]), pa.array(["x", "y", "x"])])
    >>> len(set(codes.tolist()))
    3
    """
    codes = code_of(columns[0])
    if len(columns) > 1:
        codes = codes.copy()  # the first may be Arrow's own memory
    for column in columns[1:]:
        _combine(codes, code_of(column))
    return codes


def missing(columns: list[pa.Array]) -> np.ndarray | None:
    """Which rows have a NULL or NaN among these columns; None if no row has.

    >>> missing([pa.array([1.0, None, float("nan")])])
    array([False,  True,  True])
    """
    mask = None
    for column in columns:
        if column.null_count or pa.types.is_floating(column.type):
            nulls = pc.is_null(column, nan_is_null=True).to_numpy(zero_copy_only=False)
            mask = nulls if mask is None else mask | nulls
    return mask if mask is not None and mask.any() else None
