"""Tuples that do not fit in memory, set aside on disk and divided until each part does.

Distribution sort: cut points are taken from a sample, so that parts are about equally large, and a
part that is still too large is divided again, along the next dimension. The files have no names, so
nothing is left behind whatever happens.

>>> from tempfile import gettempdir
>>> from recollect.intervals.entries import everything
>>> spill = Spill(1, Path(gettempdir()))
>>> for block in (np.arange(9), np.arange(5)):
...     spill.append(block[np.newaxis])
>>> parts = list(spill.parts(Layout(), everything(1), most_rows=6))
>>> sum(part.rows for _, part in parts), max(part.rows for _, part in parts) <= 6
(14, True)
"""

import tempfile
from collections.abc import Iterator
from math import ceil, log2
from pathlib import Path

import numpy as np

from recollect.errors import StateError
from recollect.intervals.layout import LEAST, MOST, Layout
from recollect.intervals.partition import Region

SAMPLED = 64
"""One row in so many is in the sample."""
SPARE = 1.3
"""Parts are meant to be so many times smaller than they may be: a sample is not exact."""
MOST_PARTS = 100
"""How many files are written at the same time."""


class Spill:
    """Rows on disk, in blocks.

    Parameters
    ----------
    width
        Words per row.
    folder
        On which disk.
    """

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
        """Divide the rows until no part has more than some number; this spill is used up.

        Only rows that agree in all keys come as a larger part.

        Parameters
        ----------
        layout
            Which words are keys.
        region
            The region of all rows.
        most_rows
            How many rows fit in memory.
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
        for place, spill in enumerate(parts):
            low, high, cuts = region.low.copy(), region.high.copy(), region.cuts.copy()
            low[dimension] = values[place - 1] if place else low[dimension]
            high[dimension] = values[place] - 1 if place < len(values) else high[dimension]
            cuts[dimension] += log2(len(parts))
            yield from spill.parts(layout, Region(low, high, cuts), most_rows)

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
        """Give the room on disk back."""
        self._file.close()
