"""Many tuples into an empty index, in memory that does not grow with their number.

The tuples are set aside on disk and divided along their keys until a part fits in memory, and there
divided on until a part fits on a page. Only the entries of the directory, some 80 bytes per page,
are kept until the end.

Setting aside is a distribution sort: cut points are taken from a sample, so that parts are about
equally large, and a part that is still too large is divided again, along the next dimension. The
files have no names, so nothing is left behind whatever happens.

>>> from tempfile import gettempdir
>>> spill = Spill(1, Path(gettempdir()))
>>> for block in (np.arange(9), np.arange(5)):
...     spill.append(block[np.newaxis])
>>> parts = list(spill.parts(Layout(), everything(1), most_rows=6))
>>> sum(part.rows for _, part in parts), max(part.rows for _, part in parts) <= 6
(14, True)
"""

import tempfile
from collections.abc import Iterable, Iterator
from math import ceil, log2
from pathlib import Path

import numpy as np

from recollect.errors import StateError
from recollect.intervals.disk.grid_file import GridFile
from recollect.intervals.disk.layout import LEAST, MOST, Layout
from recollect.intervals.disk.page import NO_PAGE, Kind, capacity, fill, new_page
from recollect.intervals.disk.regions import Region, divide, everything, make_entry
from recollect.intervals.disk.store import Store
from recollect.intervals.disk.time_index import TimeIndex, Times

SAMPLED = 64
"""One row in so many is in the sample."""
SPARE = 1.3
"""Parts are meant to be so many times smaller than they may be: a sample is not exact."""
MOST_PARTS = 100
"""How many files are written at the same time."""


def bulk_load(store: Store, layout: Layout, batches: Iterable[np.ndarray], memory: int) -> int:
    """Fill an empty index, dividing ``memory`` bytes of tuples in memory; give their number."""
    folder = store.file.path.parent
    tuples, times = Spill(layout.width, folder), Spill(1, folder)
    for rows in batches:
        tuples.append(rows)
        times.append(rows[:2].reshape(1, -1))
    # Half as much as could be: to count moments takes more room than to divide tuples.
    TimeIndex.load(store, _in_order(times, layout, memory // 16))
    entries = np.concatenate(list(_pages(store, layout, tuples, memory)), axis=1)
    GridFile(store, layout).plant(entries, 0)
    return tuples.rows


def _in_order(times: "Spill", layout: Layout, most_rows: int) -> Iterator[Times]:
    for _, part in times.parts(layout, everything(1), most_rows):
        # More rows than fit in memory are all of the same moment.
        blocks = part.blocks() if part.rows > most_rows else [part.together()]
        for block in blocks if part.rows else ():
            moments, counts = np.unique(block, return_counts=True)
            yield moments, counts.astype(np.int64)
        part.close()


def _pages(store: Store, layout: Layout, tuples: "Spill", memory: int) -> Iterator[np.ndarray]:
    """Write the pages of tuples and give their entries."""
    keys, room, words = list(layout.keys), capacity(layout.width), new_page()
    most_rows = memory // (8 * layout.width)
    for region, part in tuples.parts(layout, everything(len(keys)), most_rows):
        if part.rows > most_rows:
            first = _chain(store, words, part.blocks(), room)
            yield make_entry(region, part.low[keys, np.newaxis], first, part.rows)
        else:
            for piece, mine in divide(layout, part.together(), region, room):
                first = _chain(store, words, [mine], room)
                yield make_entry(piece, mine[keys], first, mine.shape[1])
        part.close()


def _chain(store: Store, words: np.ndarray, blocks: Iterable[np.ndarray], room: int) -> int:
    """Write tuples to a page and as many as must continue it, and give the first."""
    following = NO_PAGE
    for block in blocks:
        for begin in range(0, max(1, block.shape[1]), room):
            fill(words, Kind.TUPLES, block[:, begin : begin + room], following)
            following = store.append(words)
    return following


class Spill:
    """Rows of so many words, on the disk of a folder, in blocks."""

    def __init__(self, width: int, folder: Path) -> None:
        self.rows = 0
        self.low, self.high = np.full(width, MOST), np.full(width, LEAST)
        """The least and the greatest of each word."""
        self._width = width
        self._folder = folder
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._blocks: list[int] = []
        self._sample: list[np.ndarray] = []

    def append(self, rows: np.ndarray) -> None:
        """Set some more rows aside."""
        if rows.shape[1]:
            try:
                self._file.write(np.ascontiguousarray(rows).data)
            except OSError as error:
                raise StateError(f"{self._folder}: {error.strerror}") from None
            self._blocks.append(rows.shape[1])
            self._sample.append(rows[:, ::SAMPLED].copy())
            self.rows += rows.shape[1]
            self.low = np.minimum(self.low, rows.min(axis=1))
            self.high = np.maximum(self.high, rows.max(axis=1))

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield all rows, block by block."""
        self._file.seek(0)
        for count in self._blocks:
            block = np.empty((self._width, count), np.int64)
            self._file.readinto(block.data)
            yield block

    def together(self) -> np.ndarray:
        """Read all rows into memory."""
        rows, begin = np.empty((self._width, self.rows), np.int64), 0
        for block in self.blocks():
            rows[:, begin : begin + block.shape[1]] = block
            begin += block.shape[1]
        return rows

    def parts(
        self, layout: Layout, region: Region, most_rows: int
    ) -> Iterator[tuple[Region, "Spill"]]:
        """Divide the rows until no part has more than ``most_rows``; this spill is used up.

        Only rows that agree in all keys come as a larger part.
        """
        cut = self._cut(layout, region, most_rows) if self.rows > most_rows else None
        if cut is None:
            yield region, self
            return
        dimension, values = cut
        parts = [Spill(self._width, self._folder) for _ in range(len(values) + 1)]
        for block in self.blocks():
            part = np.searchsorted(values, block[layout.keys[dimension]], side="right")
            order = np.argsort(part, kind="stable")
            ends = np.cumsum(np.bincount(part, minlength=len(parts)))
            for spill, mine in zip(parts, np.split(order, ends[:-1]), strict=True):
                spill.append(block[:, mine])
        self.close()
        lows, highs = [None, *values.tolist()], [*(values - 1).tolist(), None]
        for spill, low, high in zip(parts, lows, highs, strict=True):
            inside = region.part(dimension, low, high, log2(len(parts)))
            yield from spill.parts(layout, inside, most_rows)

    def _cut(self, layout: Layout, region: Region, most_rows: int) -> tuple[int, np.ndarray] | None:
        """Choose a dimension and the values at which to cut it, or None if there is none."""
        wanted = min(MOST_PARTS, ceil(SPARE * self.rows / most_rows))
        dimensions = np.argsort(region.cuts, kind="stable").tolist()
        sample = np.concatenate(self._sample, axis=1)
        for dimension in dimensions:
            keys = np.sort(sample[layout.keys[dimension]])
            values = np.unique(keys[np.arange(1, wanted) * len(keys) // wanted])
            values = values[values > keys[0]]
            if values.size:
                return dimension, values
        for dimension in dimensions:
            # The sample is all alike, but the rows are not.
            row = layout.keys[dimension]
            if self.low[row] < self.high[row]:
                return dimension, self.high[row : row + 1]
        return None

    def close(self) -> None:
        """Free the room on disk."""
        self._file.close()
