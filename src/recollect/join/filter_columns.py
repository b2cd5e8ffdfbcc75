"""The columns that a ``where`` filter reads, as 64-bit words in a line per tuple.

A number or a time takes one word, a string two (a 128-bit hash); the last word of a line is a mask
whose bit *p* tells that place *p* is NULL.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from recollect.errors import FilterError
from recollect.hashing import hash_strings


class Kind(StrEnum):
    """What a value is, as far as operators care."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    STRING = "string"
    TIMESTAMP = "timestamp"
    DURATION = "duration"
    TIME = "time of day"
    CONDITION = "condition"


KINDS: dict[Kind, tuple[Callable[[pa.DataType], bool], ...]] = {
    Kind.BOOLEAN: (types.is_boolean,),
    Kind.INTEGER: (types.is_integer,),
    Kind.FLOAT: (types.is_floating, types.is_decimal),
    Kind.STRING: (
        *(types.is_string, types.is_large_string, types.is_string_view),
        *(types.is_binary, types.is_large_binary, types.is_binary_view),
    ),
    Kind.TIMESTAMP: (types.is_timestamp, types.is_date),
    Kind.DURATION: (types.is_duration,),
    Kind.TIME: (types.is_time,),
}


class Column(NamedTuple):
    """A column that the filter reads: where its words go and by what they are multiplied."""

    name: str
    kind: Kind
    place: int
    factor: int


def kind_of(dtype: pa.DataType) -> Kind | None:
    """The kind of a column of this type; None if a filter cannot read it."""
    return next((kind for kind, tests in KINDS.items() if any(fits(dtype) for fits in tests)), None)


def encode(columns: Sequence[Column], width: int, batch: pa.RecordBatch, side: str) -> np.ndarray:
    """Turn a batch into lines of words.

    Parameters
    ----------
    columns
        What to read, and where to put it.
    width
        The length of a line.
    batch
        The tuples.
    side
        What errors call the stream.

    Returns
    -------
    numpy.ndarray
        int64, C-contiguous, shape (rows, width).
    """
    words = np.zeros((batch.num_rows, width), np.int64)
    for column in columns:
        values: Any = batch.column(column.name)
        if types.is_dictionary(values.type):
            values = values.dictionary_decode()
        nulls = values.is_null().to_numpy(zero_copy_only=False).astype(np.int64)
        try:
            for place, word in enumerate(_words(values, column), column.place):
                words[:, place] = word
                words[:, -1] |= nulls << place
        except pa.ArrowInvalid as error:
            raise FilterError(
                f"{side}.{column.name} ({values.type}) has a value that does not fit in "
                f"64 signed bits ({error}); cast the column or leave it out of the filter"
            ) from None
    return words


def _words(values: Any, column: Column) -> list[np.ndarray]:
    if column.kind is Kind.STRING:
        values = values.cast(pa.large_binary())
        return [hash_strings(values, seed) for seed in (1, 2)]
    if column.kind is Kind.FLOAT:
        return [values.cast(pa.float64()).fill_null(0.0).to_numpy().view(np.int64)]
    if types.is_temporal(values.type):
        values = values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())
    values = pc.multiply_checked(values.cast(pa.int64()), column.factor)
    return [values.fill_null(0).to_numpy()]
