"""CSV in which floats look like floats: 35.0, which Arrow's writer makes 35.

A reader that looks at the first rows would take a column of these for whole numbers, and fail at
the first fraction. Everything else is as Arrow's writer has it.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from pyarrow import types

from recollect.streams.plain import plain_array

PIECE_ROWS = 16_384
"""How many rows are text at the same time."""


class CsvOfFloats:
    """Writes batches as CSV.

    Examples
    --------
    >>> stream = pa.BufferOutputStream()
    >>> batch = pa.record_batch({"x": [35.0, 0.5, None], "name": ["a", None, 'b"c']})
    >>> CsvOfFloats(stream, batch.schema, ",").write(batch)
    >>> print(stream.getvalue().to_pybytes().decode(), end="")
    "x","name"
    35.0,"a"
    0.5,
    ,"b""c"
    """

    def __init__(self, stream: Any, schema: pa.Schema, delimiter: str) -> None:
        self._stream = stream
        self._delimiter = delimiter
        options = pa.csv.WriteOptions(delimiter=delimiter)
        # Writes the header, and raises if a column cannot be written.
        pa.csv.CSVWriter(stream, schema, write_options=options).close()

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch."""
        for start in range(0, batch.num_rows, PIECE_ROWS):
            piece = batch.slice(start, PIECE_ROWS)
            cells = [_cells(plain_array(column)) for column in piece.columns]
            lines = _joined(*cells, by=self._delimiter, nulls="replace")
            all_lines = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
            text = pc.binary_join(all_lines, pa.scalar("\n", pa.large_string()))
            self._stream.write(text[0].as_buffer())
            self._stream.write(b"\n")

    def close(self) -> None:
        """Nothing is missing at the end."""


def _cells(column: pa.Array) -> pa.Array:
    texts = column.cast(pa.large_string())
    if types.is_floating(column.type):
        return pc.replace_substring_regex(texts, r"^(-?[0-9]+)$", r"\1.0")
    if types.is_large_string(column.type) or types.is_string(column.type) or _is_bytes(column.type):
        return _joined('"', pc.replace_substring(texts, '"', '""'), '"', by="", nulls="emit_null")
    return texts


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(
        types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    )


def _joined(*parts: pa.Array | str, by: str, nulls: str) -> pa.Array:
    texts = [pa.scalar(p, pa.large_string()) if isinstance(p, str) else p for p in parts]
    separator = pa.scalar(by, pa.large_string())
    return pc.binary_join_element_wise(*texts, separator, null_handling=nulls, null_replacement="")
