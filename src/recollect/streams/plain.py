"""Columns in their plain layout: not dictionary-encoded, not as views.

Both are ways to store the same values, but few of Arrow's functions take every one of them
(``take`` of string views, which Polars hands out, is missing), and a dictionary may differ from
batch to batch.
"""

import pyarrow as pa


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema that the columns have once they are plain, without metadata.

    Parameters
    ----------
    schema
        The schema as found.

    Examples
    --------
    >>> plain_schema(pa.schema([("symbol", pa.dictionary(pa.int8(), pa.string()))]))
    symbol: string
    """
    return pa.schema([pa.field(f.name, plain_type(f.type), f.nullable) for f in schema])


def plain_type(type_: pa.DataType) -> pa.DataType:
    """Return the plain type of the same values."""
    if pa.types.is_dictionary(type_):
        return plain_type(type_.value_type)
    if pa.types.is_string_view(type_):
        return pa.string()
    if pa.types.is_binary_view(type_):
        return pa.binary()
    return type_


def plain_array(array: pa.Array) -> pa.Array:
    """Return the same values in their plain layout; what is plain already is not copied.

    Parameters
    ----------
    array
        A column of a batch.

    Examples
    --------
    >>> plain_array(pa.array(["a", "b", "a"]).dictionary_encode()).to_pylist()
    ['a', 'b', 'a']
    """
    if isinstance(array, pa.DictionaryArray):
        values = plain_array(array.dictionary)
        return pa.DictionaryArray.from_arrays(array.indices, values).dictionary_decode()
    type_ = plain_type(array.type)
    return array if type_ == array.type else array.cast(type_)
