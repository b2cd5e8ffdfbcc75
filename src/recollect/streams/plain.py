"""Columns in their plain layout: not dictionary- or run-end-encoded, not as views.

These are ways to store the same values, but few of Arrow's functions take every one of them
(``take`` of string views, which Polars hands out, is missing), and a dictionary may differ from
batch to batch.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema that the columns have once they are plain, without metadata.

    Examples
    --------
    >>> plain_schema(pa.schema([("symbol", pa.dictionary(pa.int8(), pa.string()))]))
    symbol: string
    """
    return pa.schema([pa.field(f.name, plain_type(f.type), f.nullable) for f in schema])


def plain_type(type_: pa.DataType) -> pa.DataType:
    """Return the plain type of the same values, also inside lists and structs.

    >>> plain_type(pa.list_(pa.string_view()))
    ListType(list<item: string>)
    """
    if pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_):
        return plain_type(type_.value_type)
    if pa.types.is_string_view(type_):
        return pa.string()
    if pa.types.is_binary_view(type_):
        return pa.binary()
    if pa.types.is_list(type_) or pa.types.is_list_view(type_):
        return pa.list_(_plain_inside(type_.value_field))
    if pa.types.is_large_list(type_) or pa.types.is_large_list_view(type_):
        return pa.large_list(_plain_inside(type_.value_field))
    if pa.types.is_struct(type_):
        return pa.struct([_plain_inside(field) for field in type_])
    return type_


def _plain_inside(field: pa.Field) -> pa.Field:
    # Dictionaries inside nested values stay: they can be taken, and Arrow cannot cast them away.
    return field if pa.types.is_dictionary(field.type) else field.with_type(plain_type(field.type))


def plain_array(array: pa.Array) -> pa.Array:
    """Return the same values in their plain layout; what is plain already is not copied.

    Examples
    --------
    >>> plain_array(pa.array(["a", "b", "a"]).dictionary_encode()).to_pylist()
    ['a', 'b', 'a']
    """
    if isinstance(array, pa.DictionaryArray):
        values = plain_array(array.dictionary)
        return pa.DictionaryArray.from_arrays(array.indices, values).dictionary_decode()
    if isinstance(array, pa.RunEndEncodedArray):
        return plain_array(pc.run_end_decode(array))
    type_ = plain_type(array.type)
    if type_ == array.type:
        return array
    if pa.types.is_struct(type_):
        members = [_plain_member(array.field(i)) for i in range(type_.num_fields)]
        return pa.StructArray.from_arrays(members, fields=list(type_), mask=array.is_null())
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return _plain_list(array, type_)
    return array.cast(type_)


def _plain_list(array: pa.Array, type_: pa.DataType) -> pa.Array:
    # Arrow's own cast from views makes too few offsets, and wrong ones at NULLs (pyarrow 26).
    large = pa.types.is_large_list(type_)
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    offsets = np.zeros(len(array) + 1, np.int64 if large else np.int32)
    np.cumsum(lengths, out=offsets[1:])
    made = pa.LargeListArray if large else pa.ListArray
    values = _plain_member(pc.list_flatten(array))
    return made.from_arrays(pa.array(offsets), values, type=type_, mask=array.is_null())


def _plain_member(values: pa.Array) -> pa.Array:
    return values if pa.types.is_dictionary(values.type) else plain_array(values)
