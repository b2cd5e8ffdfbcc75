"""The types of the columns of a CSV file, where its first block says more than Arrow infers."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

Block = Callable[[list[str]], pa.RecordBatch]
"""Gives the first rows of some columns, as texts."""


def csv_schema(inferred: pa.Schema, block: Block) -> pa.Schema:
    """Return the schema in which a file is to be read.

    Arrow takes whole numbers beyond 2^63 for doubles, which makes many of them equal. Here they
    are ``uint64`` or, where not even that holds them, texts.
    """
    once = [field for field in inferred if inferred.names.count(field.name) == 1]
    doubles = [field.name for field in once if types.is_float64(field.type)]
    texts = block(doubles) if doubles else None
    fields = []
    for name, type_ in zip(inferred.names, inferred.types, strict=True):
        if types.is_null(type_):
            type_ = pa.string()  # there may be values later
        elif types.is_timestamp(type_) and type_.unit == "s":
            type_ = pa.timestamp("us", type_.tz)  # there may be fractions later
        elif texts is not None and name in doubles:
            type_ = _number_type(texts[name])
        fields.append(pa.field(name, type_))
    return pa.schema(fields)


@contextmanager
def later_fractions() -> Iterator[None]:
    """Say what to do if a column of whole numbers has a fraction after the first block."""
    try:
        yield
    except pa.ArrowInvalid as error:
        if re.search(r"error to u?int64: invalid value '[-+.\deE]+'", str(error)) is None:
            raise
        raise pa.ArrowInvalid(
            f"{error}; the column begins with whole numbers: write one of them as 1.0, or convert"
            " the file to Parquet"
        ) from error


def _number_type(texts: pa.Array) -> pa.DataType:
    texts = pc.utf8_trim_whitespace(texts)
    if not pc.all(pc.match_substring_regex(texts, r"^-?[0-9]+$")).as_py():
        return pa.float64()
    for type_ in (pa.int64(), pa.uint64()):
        try:
            texts.cast(type_)
        except pa.ArrowInvalid:
            continue
        return type_
    return pa.string()
