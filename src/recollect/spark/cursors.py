"""Reading on where the last read ended, although every read is a task of its own.

A generator, and most file formats, can only be read from their start. A worker process outlives
its tasks, so it keeps its readers: to get to a row it takes the one that came closest and skips
the rest. So each worker reads what is replayed once, not once per micro-batch.
"""

import os
from collections.abc import Hashable, Iterator, Sequence

import pyarrow as pa

from recollect.errors import InputError
from recollect.streams import Generator, Source, open_source

PIECE_ROWS = 65_536
MOST_PARKED = 8


class Cursor:
    """A place in a source, which moves forward only."""

    def __init__(self, source: Source, columns: Sequence[str], identity: Hashable) -> None:
        self.row = 0
        self.identity = identity
        self._name = source.name
        self._batches = source.batches(columns, PIECE_ROWS)
        self._rest: pa.RecordBatch | None = None

    def read(self, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows from ``start``, which must not lie behind, to the one before ``stop``."""
        while self.row < stop:
            self._rest = self._rest or next(self._batches, None)
            if self._rest is None:
                raise InputError(f"{self._name} ends before row {stop}: it has {self.row} rows")
            skipping = self.row < start
            piece = self._rest.slice(0, (start if skipping else stop) - self.row)
            self._rest = self._rest.slice(piece.num_rows)
            self.row += piece.num_rows
            if not skipping:
                yield piece


_parked: list[Cursor] = []
"""Those of this process that no task is using, the one used last at the end."""


def read_rows(
    data: str | Generator, columns: Sequence[str], start: int, stop: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows from ``start`` to the one before ``stop``.

    Parameters
    ----------
    data
        A path or a generator.
    columns
        The columns wanted, in this order.
    start, stop
        Row numbers, from 0.

    Examples
    --------
    >>> from recollect.streams import ZipfStream
    >>> [batch["time"].to_pylist() for batch in read_rows(ZipfStream(9), ["time"], 2, 5)]
    [[2, 3, 4]]
    """
    identity = (data, tuple(columns), _version(data))
    cursor = _nearest(identity, start) or Cursor(open_source(data), columns, identity)
    yield from cursor.read(start, stop)
    # Only now: a read that failed or was given up has left the cursor nobody knows where.
    _parked.append(cursor)
    del _parked[:-MOST_PARKED]


def _version(data: str | Generator) -> Hashable:
    """What changes when a file is written anew."""
    if isinstance(data, Generator):
        return None
    if not os.path.exists(data):
        raise InputError(f"{data} does not exist on the worker that is to read it")
    found = os.stat(data)
    return found.st_mtime_ns, found.st_size


def _nearest(identity: Hashable, row: int) -> Cursor | None:
    near = [cursor for cursor in _parked if cursor.identity == identity and cursor.row <= row]
    if not near:
        return None
    nearest = max(near, key=lambda cursor: cursor.row)
    _parked.remove(nearest)
    return nearest
