"""A relation of intervals in one file, larger than memory, ready to be swept in order of time.

>>> from tempfile import TemporaryDirectory
>>> folder = TemporaryDirectory()
>>> path = Path(folder.name) / "salaries"
>>> salaries = [[5, 8, 14, 18], [12, 12, 23, 25], [35, 45, 37, 40]]
>>> departments = [1, 2, 2, 1]
>>> batches = [np.array([*salaries, departments])]
>>> with IntervalIndex.create(path, [False, True], batches) as index:
...     index.insert(np.array([[30], [31], [50], [3]]))
>>> with IntervalIndex.open(path, pool_pages=16) as index:
...     for time, sign, rows in index.events(from_=10, to=20, where={3: (1, 1)}):
...         print(time.tolist(), sign.tolist(), rows[2].tolist())
[10, 12, 18, 20] [1, -1, 1, -1] [35, 35, 40, 40]

References
----------
Woo, Lee, Lee, Lee, Whang: Transformation-based temporal aggregation using order-based buffer
replacement strategy.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from recollect.intervals.disk.bulk_load import bulk_load
from recollect.intervals.disk.grid_file import GridFile
from recollect.intervals.disk.layout import Layout, Range
from recollect.intervals.disk.scan import Chunk, Scan
from recollect.intervals.disk.store import Store
from recollect.intervals.disk.time_index import TimeIndex, summed

POOL_PAGES = 16_384
"""The pages of a buffer pool if nobody says how many: 64 MiB."""
MEMORY = 8 << 20
"""Bytes of tuples that a load divides in memory; this takes about three times as much."""


class IntervalIndex:
    """A file of intervals; made by :meth:`create` or :meth:`open`, to be closed or used in a with.

    Every change happens whole or not at all, whatever happens to the process. One process at a time
    may change an index; many may read it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._layout = store.header.layout

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        indexed: Sequence[bool],
        batches: Iterable[np.ndarray],
        pool_pages: int = POOL_PAGES,
        replacement: str = "order",
    ) -> "IntervalIndex":
        """Make an index, in memory that does not grow with the number of tuples.

        Once it is complete, it takes its place, and that of an index that may be there.

        ``indexed`` says for each column besides start and end whether it is a dimension of the
        index. Batches are matrices of int64 with a row per column: start, end and the others. The
        pool holds ``pool_pages`` pages of 4 KiB; when it is full, ``replacement``, ``order`` or
        ``lru``, says which leaves.
        """
        layout = Layout(tuple(indexed))
        store = Store(Path(path), pool_pages, replacement, layout)
        with store.all_or_nothing():
            tuples = bulk_load(store, layout, batches, MEMORY)
            store.header = replace(store.header, tuples=tuples)
        return cls(store)

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        pool_pages: int = POOL_PAGES,
        replacement: str = "order",
    ) -> "IntervalIndex":
        """Open an index; the parameters are those of :meth:`create`."""
        return cls(Store(Path(path), pool_pages, replacement))

    @property
    def tuples(self) -> int:
        """How many tuples there are."""
        return self._store.header.tuples

    @property
    def indexed(self) -> tuple[bool, ...]:
        """For each column besides start and end, whether it is a dimension of the index."""
        return self._layout.indexed

    @property
    def pages(self) -> int:
        """How many pages the file has."""
        return self._store.header.pages

    @property
    def counters(self) -> tuple[int, int]:
        """Pages read from the file and pages found in the pool since the index was opened."""
        return self._store.pool.reads, self._store.pool.hits

    def insert(self, rows: np.ndarray) -> None:
        """Insert tuples."""
        self._change(self._none(), rows)

    def delete(self, rows: np.ndarray) -> None:
        """Delete tuples, one copy for each that is given; an error if one is not there."""
        self._change(rows, self._none())

    def update(self, old: np.ndarray, new: np.ndarray) -> None:
        """Delete tuples and insert others, both or neither."""
        self._change(old, new)

    def _change(self, old: np.ndarray, new: np.ndarray) -> None:
        with self._store.all_or_nothing():
            rows = np.concatenate([old, new], axis=1)
            signs = np.repeat([-1, 1], [old.shape[1], new.shape[1]])
            if signs.size:
                GridFile(self._store, self._layout).change(rows, signs)
                TimeIndex(self._store).change(*summed(rows[:2].ravel(), np.tile(signs, 2)))
            tuples = self.tuples + int(signs.sum())
            self._store.header = replace(self._store.header, tuples=tuples)

    def _none(self) -> np.ndarray:
        return np.empty((self._layout.width, 0), np.int64)

    def events(
        self,
        from_: int | None = None,
        to: int | None = None,
        where: Mapping[int, Range] | None = None,
    ) -> Iterator[Chunk]:
        """Yield starts and ends of tuples in order of time, at equal times ends before starts.

        Each chunk has the times, the signs (1 where a tuple starts, -1 where it ends) and the
        tuples. Tuples outside of the window do not come, others are cut to it. ``where`` limits
        indexed columns, by their row. An index must not be changed meanwhile.
        """
        scan = Scan(self._store, self._layout, from_, to, where or {})
        if self.tuples:
            yield from scan

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def __enter__(self) -> "IntervalIndex":
        """Use the index in a with statement."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()
