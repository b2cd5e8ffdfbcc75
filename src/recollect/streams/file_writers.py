"""One writer per file format; each takes batches and keeps no more than a few of them."""

import base64
import datetime
import decimal
import json
import math
import uuid
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

from recollect.errors import InputError
from recollect.streams.csv_of_floats import CsvOfFloats
from recollect.streams.formats import Format
from recollect.streams.python_values import Seconds, python_values

ROW_GROUP_ROWS = 65_536
PAGE_BYTES = 65_536
"""Small pages: the writer holds several of each column."""
ROW_GROUP_BYTES = 4 * 2**20
"""A row group is held in memory until it is written, so wide rows make shorter ones."""


class Writer(Protocol):
    """What a format has to offer."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch."""

    def close(self) -> None:
        """Write what is missing at the end; the stream underneath stays open."""


def require_writable(path: str, format_: Format, schema: pa.Schema) -> None:
    """Raise if the format has no place for one of the columns."""
    if format_ not in (Format.CSV, Format.CSV_GZIP, Format.TSV):
        return
    for field in schema:
        if pa.types.is_nested(field.type):
            raise InputError(
                f"{path}: {format_.value} cannot hold column {field.name!r} of type {field.type}; "
                "write Parquet, Arrow IPC or JSON lines instead"
            )


def open_writer(stream: Any, format_: Format, schema: pa.Schema) -> Writer:
    """Begin a file."""
    if format_ is Format.PARQUET:
        return _ParquetWriter(stream, schema)
    if format_ is Format.IPC:
        return pa.ipc.new_file(stream, schema)
    if format_ is Format.JSON_LINES:
        return _JsonLinesWriter(stream)
    delimiter = "\t" if format_ is Format.TSV else ","
    if any(pa.types.is_floating(type_) for type_ in schema.types):
        return CsvOfFloats(stream, schema, delimiter)
    options = pa.csv.WriteOptions(delimiter=delimiter)
    return pa.csv.CSVWriter(stream, schema, write_options=options)


class _ParquetWriter:
    """Gathers batches into row groups: Arrow would make one of every batch, however small."""

    def __init__(self, stream: pa.NativeFile, schema: pa.Schema) -> None:
        self._file = pq.ParquetWriter(stream, schema, compression="zstd", data_page_size=PAGE_BYTES)
        self._schema = schema
        self._batches: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._rows >= ROW_GROUP_ROWS or self._bytes >= ROW_GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._file.close()

    def _flush(self) -> None:
        self._file.write_table(pa.Table.from_batches(self._batches, self._schema))
        self._batches, self._rows, self._bytes = [], 0, 0


class _JsonLinesWriter:
    """Writes one object per line, in UTF-8."""

    def __init__(self, stream: pa.NativeFile) -> None:
        self._stream = stream

    def write(self, batch: pa.RecordBatch) -> None:
        names = batch.schema.names
        rows = zip(*(_values(column) for column in batch.columns), strict=True)
        objects = (plain_json(dict(zip(names, row, strict=True))) for row in rows)
        lines = [json.dumps(fields, ensure_ascii=False) for fields in objects]
        self._stream.write("".join(line + "\n" for line in lines).encode())

    def close(self) -> None:
        pass


def _values(column: pa.Array) -> list[Any]:
    # All digits of nanoseconds in every row, so that the first ones tell a reader the unit.
    if not pa.types.is_timestamp(column.type) or column.type.unit != "ns":
        return python_values(column)
    texts = pc.replace_substring(column.cast(pa.string()), " ", "T")
    # Arrow leaves the colon out of an offset.
    iso: pa.Array = pc.replace_substring_regex(texts, r"([+-]\d\d)(\d\d)$", r"\1:\2")
    return iso.to_pylist()


def plain_json(value: Any) -> Any:
    """Return a value as JSON can hold it.

    Dates and times become ISO 8601 text, durations seconds, decimals and UUIDs text, bytes base64
    text; NaN and the infinities, for which JSON has no word, become null.

    Examples
    --------
    >>> plain_json({"at": datetime.date(2024, 5, 1), "raw": b"\\x00\\xff", "x": float("nan")})
    {'at': '2024-05-01', 'raw': 'AP8=', 'x': None}
    """
    match value:
        case dict():
            return {name: plain_json(member) for name, member in value.items()}
        case list() | tuple():
            return [plain_json(member) for member in value]
        case float():
            return value if math.isfinite(value) else None
        case datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta():
            return value.total_seconds()
        case Seconds():
            return float(value)
        case decimal.Decimal() | uuid.UUID():
            return str(value)
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return value
