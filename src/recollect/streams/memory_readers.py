"""Readers of what is in memory already: tables, frames and what exports a stream of batches."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from recollect.errors import InputError
from recollect.streams.file_readers import Opened


def open_table(table: pa.Table) -> Opened:
    """Open an Arrow table."""

    def read(columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        yield from table.select(columns).to_batches(max_chunksize=batch_rows)

    return Opened(table.schema, read)


def open_frame(frame: Any) -> Opened:
    """Open a pandas frame; an index that has a name, and only that, is a column."""
    named = any(name is not None for name in frame.index.names)
    try:
        return open_table(pa.Table.from_pandas(frame, preserve_index=named))
    except (ValueError, TypeError) as error:
        raise InputError(f"DataFrame does not fit into an Arrow table: {error}") from error


def open_exporter(data: Any) -> Opened:
    """Open an object that gives out an Arrow stream each time it is asked."""

    def read(columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        yield from pa.RecordBatchReader.from_stream(data)

    return Opened(pa.RecordBatchReader.from_stream(data).schema, read)
