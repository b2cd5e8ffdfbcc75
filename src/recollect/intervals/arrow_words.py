"""Columns of 64-bit words from and to numpy, by their buffers.

pyarrow's own conversions (``pa.array``, ``fill_null``) load pandas, if it is installed, to see
whether they were given something of it. That takes 40 MB, which a sweep would rather do without.

>>> column = arrow_column(np.array([7, 8, 9]), pa.int64(), np.array([False, True, False]))
>>> column.to_pylist(), numpy_words(column)[::2].tolist()
([7, None, 9], [7, 9])
"""

import numpy as np
import pyarrow as pa


def numpy_words(array: pa.Array) -> np.ndarray:
    """The words of an array of a 64-bit type, as int64; those of NULLs are anything."""
    if not len(array):
        return np.empty(0, np.int64)
    return np.frombuffer(array.buffers()[1], np.int64, len(array), 8 * array.offset)


def arrow_column(words: np.ndarray, kind: pa.DataType, nulls: np.ndarray | None) -> pa.Array:
    """A column with NULLs where a mask says so.

    Parameters
    ----------
    words
        Its values: a word each or, for 128-bit types, a row of words each.
    kind
        Its type.
    nulls
        The mask; None if there is no NULL.
    """
    validity = None
    if nulls is not None:
        validity = pa.py_buffer(np.packbits(~nulls, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(words))
    return pa.Array.from_buffers(kind, len(words), [validity, data])
