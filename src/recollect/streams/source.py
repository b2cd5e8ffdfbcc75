"""Where tuples come from: files and everything that speaks Arrow, behind one small interface."""

from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import pyarrow as pa

from recollect.errors import InputError
from recollect.streams.arrow_errors import plain_errors
from recollect.streams.checks import require_whole
from recollect.streams.file_readers import Opened, open_file
from recollect.streams.formats import format_of
from recollect.streams.generator import Generator
from recollect.streams.memory_readers import open_exporter, open_frame, open_table
from recollect.streams.plain import plain_array, plain_schema

READABLE = (
    "a path, an Arrow table, batch or reader, a pandas or Polars frame, a DuckDB relation, "
    "a generator, or anything with __arrow_c_stream__"
)


class Source:
    """Tuples that can be read batch by batch; made by :func:`open_source`.

    It is ``replayable`` if the data can be read more than once; messages call them by ``name``.
    """

    def __init__(self, name: str, opened: Opened, replayable: bool, action: str) -> None:
        self.name = name
        self.schema: pa.Schema = plain_schema(opened.schema)
        self.replayable = replayable
        self._read = opened.read
        self._action = action
        self._spent = False

    def batches(
        self, columns: Sequence[str] | None = None, batch_rows: int = 8_192
    ) -> Iterator[pa.RecordBatch]:
        """Read the data from the start, holding only a small piece of them at any time.

        Parameters
        ----------
        columns
            Which columns to read, in the order wanted; all if left out.
        batch_rows
            The most rows a batch may have. No batch is empty.
        """
        require_whole("batch_rows", batch_rows, least=1)
        names = list(self.schema.names if columns is None else columns)
        if not names:
            raise InputError(f"{self.name}: no columns to read; it has {self._columns()}")
        schema = pa.schema([self._field(name) for name in names])
        if self._spent:
            raise InputError(f"{self.name} can be read only once, and has been")
        self._spent = not self.replayable
        return self._batches(schema, batch_rows)

    def _field(self, name: str) -> pa.Field:
        found = self.schema.get_all_field_indices(name)
        if len(found) == 1:
            return self.schema.field(found[0])
        if found:
            raise InputError(f"{self.name} has {len(found)} columns called {name!r}")
        raise InputError(f"{self.name} has no column {name!r}; it has {self._columns()}")

    def _columns(self) -> str:
        return ", ".join(repr(name) for name in self.schema.names) or "none at all"

    def _batches(self, schema: pa.Schema, batch_rows: int) -> Iterator[pa.RecordBatch]:
        with plain_errors(self.name, self._action):
            for batch in self._read(schema.names, batch_rows):
                for start in range(0, batch.num_rows, batch_rows):
                    piece = batch.slice(start, batch_rows)
                    arrays = [plain_array(piece.column(name)) for name in schema.names]
                    yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def open_source(data: Any) -> Source:
    """Open a file or an object for reading, without reading more than its head.

    An empty cell of a CSV file is NULL in every column. A file must have rows; a table need not.

    Parameters
    ----------
    data
        The path of a Parquet, CSV, TSV, Arrow IPC or JSON-lines file, told apart by their
        endings; a :class:`pyarrow.Table`, ``RecordBatch`` or ``RecordBatchReader``; a pandas or
        Polars frame; a DuckDB relation; a generator of :mod:`recollect.streams`; or anything
        else with ``__arrow_c_stream__``, which counts as replayable if it has a length.

    Examples
    --------
    >>> from recollect.streams import ZipfStream
    >>> source = open_source(ZipfStream(tuples=20_000))
    >>> source.schema.names, source.replayable
    (['time', 'key'], True)
    >>> [batch.num_rows for batch in source.batches(columns=["key"])]
    [8192, 8192, 3616]
    """
    if isinstance(data, str | PathLike):
        return _open_path(fspath(data))
    name = type(data).__name__
    action = "read as an Arrow stream"
    with plain_errors(name, action):
        opened, replayable = _open_object(data)
    return Source(name, opened, replayable, action)


def _open_path(path: str) -> Source:
    if not path:
        raise InputError("a file is named by an empty text")
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    if not file.exists():
        raise InputError(f"{path} does not exist")
    format_ = format_of(path)
    action = f"read as {format_.value}"
    with plain_errors(path, action):
        if file.stat().st_size == 0:
            raise InputError(f"{path} has no rows: it is 0 bytes long")
        return Source(path, open_file(path, format_), replayable=True, action=action)


def _open_object(data: Any) -> tuple[Opened, bool]:
    if isinstance(data, Generator):
        return Opened(data.schema, lambda columns, batch_rows: data.batches(batch_rows)), True
    if isinstance(data, pa.RecordBatchReader):
        return Opened(data.schema, lambda columns, batch_rows: iter(data)), False
    if isinstance(data, pa.RecordBatch):
        return open_table(pa.Table.from_batches([data])), True
    if isinstance(data, pa.Table):
        return open_table(data), True
    if _is_pandas_frame(data):
        return open_frame(data), True
    if hasattr(data, "__arrow_c_stream__"):
        # What knows its length holds its rows; what does not may be a stream that runs dry.
        if hasattr(data, "__len__"):
            return open_exporter(data), True
        return _open_object(pa.RecordBatchReader.from_stream(data))
    raise InputError(f"cannot read tuples from {type(data).__name__}; give {READABLE}")


def _is_pandas_frame(data: Any) -> bool:
    # By name, because importing pandas only to ask would take a second.
    return any(
        base.__name__ == "DataFrame" and base.__module__.split(".")[0] == "pandas"
        for base in type(data).__mro__
    )
