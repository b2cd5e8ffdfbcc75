"""One reader per file format; each reads a piece at a time, whatever the size of the file."""

import mmap
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet as pq

from recollect.errors import InputError
from recollect.streams.csv_types import csv_schema, later_fractions
from recollect.streams.formats import Format
from recollect.streams.json_types import json_schema

Read: TypeAlias = Callable[[list[str], int], Iterator[pa.RecordBatch]]


MAPPED_BYTES = 16 * 2**20
"""How much of a memory-mapped file may stay resident."""


class Opened(NamedTuple):
    """What a reader knows of its data before reading them, and how to read them."""

    schema: pa.Schema
    read: Read
    """Yields batches with at least the columns asked for, of any size around the one asked for."""


def open_file(path: str, format_: Format) -> Opened:
    """Open a file that has rows; each call of ``read`` opens it anew."""
    if format_ is Format.PARQUET:
        return _open_parquet(path)
    if format_ is Format.IPC:
        return _open_ipc(path)
    if format_ is Format.JSON_LINES:
        return _open_json(path)
    return _open_csv(path, format_)


def _require_rows(path: str, batches: Iterable[pa.RecordBatch]) -> None:
    if not any(batch.num_rows for batch in batches):
        raise InputError(f"{path} has no rows")


def _open_parquet(path: str) -> Opened:
    def file() -> pq.ParquetFile:
        # Pages are read through a small buffer per column instead of whole row groups at once.
        return pq.ParquetFile(path, pre_buffer=False, buffer_size=65_536)

    def read(columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        with file() as opened:
            yield from opened.iter_batches(batch_rows, columns=columns, use_threads=False)

    with file() as opened:
        if opened.metadata.num_rows == 0:
            raise InputError(f"{path} has no rows")
        return Opened(opened.schema_arrow, read)


def _open_csv(path: str, format_: Format) -> Opened:
    def reader(convert: pa.csv.ConvertOptions | None = None) -> pa.csv.CSVStreamingReader:
        delimiter = "\t" if format_ is Format.TSV else ","
        compression: Any = "gzip" if format_ is Format.CSV_GZIP else None
        stream: Any = pa.input_stream(path, compression=compression)
        return pa.csv.open_csv(
            stream,
            read_options=pa.csv.ReadOptions(use_threads=False),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=convert,
        )

    def read(columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        types = {name: schema.field(name).type for name in columns}
        convert = pa.csv.ConvertOptions(include_columns=columns, column_types=types)
        with reader(convert) as opened, later_fractions():
            for batch in opened:
                arrays = [_empty_to_null(column) for column in batch.columns]
                yield pa.RecordBatch.from_arrays(arrays, schema=opened.schema)

    def first_texts(columns: list[str]) -> pa.RecordBatch:
        convert = pa.csv.ConvertOptions(
            include_columns=columns,
            column_types=dict.fromkeys(columns, pa.string()),
            strings_can_be_null=True,
        )
        with reader(convert) as opened:
            return opened.read_next_batch()

    with reader() as opened:
        for field in opened.schema:
            if pa.types.is_binary(field.type):
                raise InputError(f"{path}: column {field.name!r} is not UTF-8 text")
        _require_rows(path, opened)
        schema = csv_schema(opened.schema, first_texts)
    return Opened(schema, read)


def _empty_to_null(column: pa.Array) -> pa.Array:
    # An empty cell is NULL in a column of numbers; let it be NULL in one of text as well.
    if not pa.types.is_string(column.type):
        return column
    empty = pc.equal(column, pa.scalar(""))
    filled: pa.Array = pc.if_else(empty, pa.scalar(None, pa.string()), column)
    return filled


def _open_json(path: str) -> Opened:
    def read(columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        # A field that first shows up late has no place in the schema. When everything is asked
        # for, that is an error; when some columns are, the others do not matter.
        parse = pa.json.ParseOptions(
            explicit_schema=pa.schema([schema.field(name) for name in columns]),
            unexpected_field_behavior="error" if len(columns) == len(schema) else "ignore",
        )
        with pa.json.open_json(path, parse_options=parse) as opened:
            yield from opened

    if not _has_text(path):
        raise InputError(f"{path} has no rows")
    schema = json_schema(path)
    return Opened(schema, read)


def _has_text(path: str) -> bool:
    with open(path, "rb") as file:
        return any(block.strip() for block in iter(lambda: file.read(65_536), b""))


def _open_ipc(path: str) -> Opened:
    with open(path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def reader() -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        # Columns are picked afterwards, for nothing: IpcReadOptions(included_fields=…) would
        # copy them out of the map, a whole batch at a time.
        if mapped[:6] == b"ARROW1":
            file = pa.ipc.open_file(pa.py_buffer(mapped))
            return file.schema, (file.get_batch(i) for i in range(file.num_record_batches))
        stream = pa.ipc.open_stream(pa.py_buffer(mapped))
        return stream.schema, iter(stream)

    def read(columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        _, batches = reader()
        touched = 0
        for batch in batches:
            # The buffers are the file itself. A wrong length or offset in them would end the
            # process, so see that they are as they should be.
            batch.validate()
            wanted = batch.select(columns)
            flat = [name for name in columns if _checked_by_piece(wanted[name].type)]
            for name in set(columns).difference(flat):
                wanted[name].validate(full=True)
                touched += wanted[name].nbytes
            for start in range(0, batch.num_rows, batch_rows):
                piece = wanted.slice(start, batch_rows)
                for name in flat:
                    piece[name].validate(full=True)
                yield piece
                touched += piece.nbytes
                if touched > MAPPED_BYTES and hasattr(mapped, "madvise"):
                    # Pages once read would count as ours until the end of the file. They can be
                    # let go even if somebody still needs them: the system fetches them again.
                    mapped.madvise(mmap.MADV_DONTNEED)
                    touched = 0

    schema, batches = reader()
    _require_rows(path, batches)
    return Opened(schema, read)


def _checked_by_piece(type_: pa.DataType) -> bool:
    # Arrow checks all of the values inside of others, however small the piece: once is enough.
    return not (
        pa.types.is_nested(type_)
        or pa.types.is_dictionary(type_)
        or pa.types.is_run_end_encoded(type_)
        or isinstance(type_, pa.BaseExtensionType)
    )
