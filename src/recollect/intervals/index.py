"""A relation of intervals in one file, larger than memory, ready to be swept in order of time.

>>> from tempfile import TemporaryDirectory
>>> folder = TemporaryDirectory()
>>> path = Path(folder.name) / "salaries"
>>> columns = [Column("salary"), Column("department", indexed=True)]
>>> with IntervalIndex.create(path, columns) as index:
...     batch = {
...         "start": [5, 8, 14, 18], "end": [12, 12, 23, 25],
...         "salary": [35, 45, 37, 40], "department": [1, 2, 2, 1],
...     }
...     index.bulk_load([batch])
...     index.insert({"start": [30], "end": [31], "salary": [50], "department": [3]})
>>> with IntervalIndex.open(path, pool_pages=16) as index:
...     index.search(end=(None, 12), where={"department": (2, 3)})["salary"].tolist()
...     for time, sign, rows in index.events(from_=10, to=20, where={"department": (1, 1)}):
...         print(time.tolist(), sign.tolist(), rows["salary"].tolist())
[45]
[10, 12, 18, 20] [1, -1, 1, -1] [35, 35, 40, 40]

References
----------
Woo, Lee, Lee, Lee, Whang: Transformation-based temporal aggregation using order-based buffer
replacement strategy.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from recollect.errors import StateError
from recollect.intervals.bulk_load import bulk_load
from recollect.intervals.disk_events import DiskEvents
from recollect.intervals.grid_file import GridFile
from recollect.intervals.layout import Column, Layout, Range
from recollect.intervals.store import Store
from recollect.intervals.time_index import TimeIndex, summed

POOL_PAGES = 4096
"""The default size of the pool: 16 MiB."""
MEMORY = 8 << 20
"""Bytes of tuples that a load divides in memory; this takes about three times as much."""

Arrays = Mapping[str, Any]
"""Whole numbers by name of the column: ``start``, ``end`` and all others."""
_ANY: Range = (None, None)


@dataclass(frozen=True)
class Counters:
    """What reading cost so far."""

    page_reads: int
    """Pages that were fetched from the file."""
    buffer_hits: int
    """Pages that were in the pool already."""


class IntervalIndex:
    """A file of intervals; made by :meth:`create` or :meth:`open`, to be closed or used in a with.

    Every change happens whole or not at all, whatever happens to the process. One process at a time
    may change an index; many may read it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._layout = Layout(store.header.columns)

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        columns: Sequence[Column],
        pool_pages: int = POOL_PAGES,
        replacement: str = "order",
    ) -> "IntervalIndex":
        """Begin a new index.

        It takes its place, and that of an index that may be there, with the first load or insert
        that succeeds, or when it is closed.

        Parameters
        ----------
        path
            The file.
        columns
            The columns besides start and end.
        pool_pages
            How many pages of 4 KiB to hold in memory.
        replacement
            Which page leaves when these are full: ``order`` or ``lru``.
        """
        layout = Layout(tuple(columns))
        return cls(Store.create(Path(path), layout.columns, pool_pages, replacement))

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        pool_pages: int = POOL_PAGES,
        replacement: str = "order",
    ) -> "IntervalIndex":
        """Open an index.

        Parameters
        ----------
        path
            The file.
        pool_pages
            How many pages of 4 KiB to hold in memory.
        replacement
            Which page leaves when these are full: ``order`` or ``lru``.
        """
        return cls(Store.open(Path(path), pool_pages, replacement))

    @property
    def tuples(self) -> int:
        """How many tuples there are."""
        return self._store.header.tuples

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns besides start and end."""
        return self._layout.columns

    @property
    def pages(self) -> int:
        """How many pages the file has."""
        return self._store.header.pages

    @property
    def counters(self) -> Counters:
        """What reading cost since the index was opened."""
        return Counters(self._store.pool.reads, self._store.pool.hits)

    def bulk_load(self, batches: Iterable[Arrays]) -> None:
        """Fill an index that is new, in memory that does not grow with the number of tuples.

        Parameters
        ----------
        batches
            Tuples, by column.
        """
        if not self._store.file.is_new:
            raise StateError(
                f"{self._store.file.path} is not new, it has {self.tuples} tuples; insert into it,"
                " or create another"
            )
        with self._store.all_or_nothing():
            rows = map(self._layout.rows, batches)
            tuples = bulk_load(self._store, self._layout, rows, MEMORY)
            self._store.header = replace(self._store.header, tuples=tuples)

    def insert(self, arrays: Arrays) -> None:
        """Insert tuples."""
        self._change(self._none(), self._layout.rows(arrays))

    def delete(self, arrays: Arrays) -> None:
        """Delete tuples, one copy for each that is given; an error if one is not there."""
        self._change(self._layout.rows(arrays), self._none())

    def update(self, old: Arrays, new: Arrays) -> None:
        """Delete tuples and insert others, both or neither."""
        self._change(self._layout.rows(old), self._layout.rows(new))

    def _change(self, old: np.ndarray, new: np.ndarray) -> None:
        with self._store.all_or_nothing():
            if not self._store.header.grid.root:
                GridFile.empty(self._store, self._layout)
            rows = np.concatenate([old, new], axis=1)
            signs = np.repeat([-1, 1], [old.shape[1], new.shape[1]])
            if signs.size:
                GridFile(self._store, self._layout).change(rows, signs)
                TimeIndex(self._store).change(*summed(rows[:2].ravel(), np.tile(signs, 2)))
            tuples = self.tuples + int(signs.sum())
            self._store.header = replace(self._store.header, tuples=tuples)

    def _none(self) -> np.ndarray:
        return np.empty((self._layout.width, 0), np.int64)

    def search(
        self, start: Range = _ANY, end: Range = _ANY, where: Mapping[str, Range] | None = None
    ) -> dict[str, np.ndarray]:
        """Find the tuples whose start, end and further columns are in some ranges.

        Parameters
        ----------
        start, end
            The least and the greatest value wanted, both included; None for no limit.
        where
            The same for indexed columns.
        """
        low, high = self._layout.box({"start": start, "end": end, **(where or {})})
        found = [self._none()]
        if self._store.header.grid.root:
            found += GridFile(self._store, self._layout).search(low, high)
        return self._layout.arrays(np.concatenate(found, axis=1))

    def events(
        self,
        from_: int | None = None,
        to: int | None = None,
        where: Mapping[str, Range] | None = None,
    ) -> Iterator[tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]]:
        """Yield starts and ends of tuples in order of time, at equal times ends before starts.

        Each chunk has the times, the signs (1 where a tuple starts, -1 where it ends) and the
        tuples by column. An index must not be changed meanwhile.

        Parameters
        ----------
        from_, to
            A window: tuples outside of it do not come, others are cut to it.
        where
            Ranges of indexed columns.
        """
        sweep = DiskEvents(self._store, self._layout, from_, to, where or {})
        for time, sign, rows in sweep if self.tuples else ():
            yield time, sign, self._layout.arrays(rows)

    def close(self) -> None:
        """Let go of the file."""
        if self._store.file.is_new and not self._store.file.closed:
            self._change(self._none(), self._none())
        self._store.close()

    def __enter__(self) -> "IntervalIndex":
        """Use the index in a with statement."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the index; a new one is given up after an error."""
        if error is None:
            self.close()
        else:
            self._store.close()
