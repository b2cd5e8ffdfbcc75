"""Where tuples go: a file that is either complete or not there at all."""

import os
import secrets
from contextlib import ExitStack, suppress
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa

from recollect.errors import InputError
from recollect.streams.arrow_errors import plain_errors
from recollect.streams.file_writers import Writer, open_writer, require_writable
from recollect.streams.formats import Format, format_of


class Sink:
    """A file being written, as a context manager; made by :func:`open_sink`."""

    def __init__(self, path: str, schema: pa.Schema) -> None:
        self.name = path
        self.schema = schema
        self._format = format_of(path)
        self._action = f"written as {self._format.value}"
        folder, file = os.path.split(path)
        self._unfinished = Path(folder, f".{file}.{secrets.token_hex(4)}.unfinished")
        self._writer: Writer | None = None
        self._streams = ExitStack()
        require_writable(path, self._format, schema)

    def __enter__(self) -> Self:
        """Begin the file, under a temporary name in the same folder."""
        try:
            with plain_errors(self.name, self._action):
                stream: pa.NativeFile
                stream = self._streams.enter_context(pa.OSFile(str(self._unfinished), "wb"))
                if self._format is Format.CSV_GZIP:
                    stream = self._streams.enter_context(pa.CompressedOutputStream(stream, "gzip"))
                self._writer = open_writer(stream, self._format, self.schema)
        except BaseException:
            self._discard()
            raise
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch with the columns the sink was opened for."""
        if self._writer is None:
            raise InputError(f"{self.name} is not open; write inside `with open_sink(…) as sink:`")
        # Arrow's CSV writer crashes the process if this goes unchecked.
        if batch.schema != self.schema:
            raise InputError(
                f"{self.name} is written with columns {_listed(self.schema)}; "
                f"a batch came with {_listed(batch.schema)}"
            )
        with plain_errors(self.name, self._action):
            self._writer.write(batch)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give the file its name if all went well, else remove every trace of it."""
        writer, self._writer = self._writer, None
        try:
            if writer is None:
                return
            if kind is not None:
                # Arrow's Parquet writer prints a traceback when it is collected unclosed.
                with suppress(Exception):
                    writer.close()
                return
            with plain_errors(self.name, self._action):
                writer.close()
                self._streams.close()
                os.replace(self._unfinished, self.name)
        finally:
            self._discard()

    def _discard(self) -> None:
        try:
            self._streams.close()
        finally:
            self._unfinished.unlink(missing_ok=True)


def open_sink(path: str | PathLike[str], schema: pa.Schema) -> Sink:
    """Open a file for writing, in the format its ending stands for.

    The file appears under its name when the ``with`` block ends well. If the block raises,
    nothing is left behind and a file that had the name before stays as it was.

    JSON lines hold dates and times as ISO 8601 text, decimals and UUIDs as text and bytes as base64
    text; NaN becomes null. CSV holds no nested columns, and reads back empty text as NULL.

    Parameters
    ----------
    path
        The file to write; its folder must exist.
    schema
        The columns of every batch to come.

    Examples
    --------
    >>> import tempfile
    >>> from recollect.streams import ZipfStream, open_source
    >>> stream = ZipfStream(tuples=1000)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/stream.parquet"
    ...     with open_sink(path, stream.schema) as sink:
    ...         for batch in stream.batches():
    ...             sink.write(batch)
    ...     sum(batch.num_rows for batch in open_source(path).batches())
    1000
    """
    name = fspath(path)
    folder = Path(name).parent
    if not folder.is_dir():
        raise InputError(f"{name} cannot be written: there is no folder {folder}")
    if Path(name).is_dir():
        raise InputError(f"{name} is a folder, not a file")
    return Sink(name, schema)


def _listed(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name!r} ({field.type})" for field in schema)
