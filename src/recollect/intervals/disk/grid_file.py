"""The multilevel grid file: tuples as points (start, end, further keys) on pages of a file.

Each page holds the tuples of one region of space. A directory says which region has which page, and
where in the region tuples really are (the MBR variant); it lies on pages too, with a directory
above, and so on. Inserting, deleting and updating are one descent (see
:mod:`~recollect.intervals.disk.page_tree`). Nothing is computed ahead for aggregates, so changes
cost nothing extra.

A region with tuples that agree in all keys cannot be split; its page is continued by others.

References
----------
Whang, Krishnamurthy: Multilevel Grid Files, 1985; Song et al.: Spatial Join Processing Using Corner
Transformation, 1999 (MBR); Woo et al., section 2.2.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from recollect.errors import InputError
from recollect.intervals.disk.layout import END, LEAST, MOST, START, Layout
from recollect.intervals.disk.page import NO_PAGE, Kind, capacity, content, fill, head, table
from recollect.intervals.disk.page_tree import PageTree, page_of
from recollect.intervals.disk.regions import (
    corners,
    count_of,
    divide,
    entry_width,
    everything,
    groups,
    make_entry,
    merged_entry,
    overlapping,
    owners,
    region_of,
)
from recollect.intervals.disk.replacement import Extent
from recollect.intervals.disk.store import Store

SPARSE = 4
"""A page that is less than 1/SPARSE full is put together with its neighbours."""
_ANY_TIME = Extent(MOST, LEAST, MOST)


class Leaf(NamedTuple):
    """A page of tuples that a search has to look at."""

    page: int
    extent: Extent


class GridFile(PageTree):
    """The tree of pages with the tuples; its root is ``store.header.grid``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> folder, layout = TemporaryDirectory(), Layout()
    >>> store = Store(Path(folder.name) / "grid", 8, new=layout)
    >>> grid = GridFile(store, layout)
    >>> grid.plant(make_entry(everything(2), np.empty((2, 0), np.int64), store.take(), 0), 0)
    >>> grid.change(np.array([[1, 2, 5], [4, 9, 6]]), np.array([1, 1, 1]))
    >>> low, high = layout.box({1: (None, 5)})
    >>> (leaf,) = grid.leaves(low[np.newaxis], high[np.newaxis])
    >>> content(store.pool.get(leaf.page), layout.width).T.tolist()
    [[1, 4], [2, 9], [5, 6]]
    >>> store.close()
    """

    name = "grid"
    directory = Kind.DIRECTORY

    def __init__(self, store: Store, layout: Layout) -> None:
        super().__init__(store, entry_width(len(layout.keys)))
        self._layout = layout
        self._keys = list(layout.keys)
        self._room = capacity(layout.width)
        self._found = np.empty(self._fanout, np.int64)

    def leaves(self, low: np.ndarray, high: np.ndarray) -> list[Leaf]:
        """Find the pages that may hold tuples in any of some boxes, whose corners are rows."""
        level = [Leaf(self.root.page, _ANY_TIME)]
        dimensions = len(self._keys)
        for _ in range(self.root.height):
            below = [np.empty((2 * dimensions + 1, 0), np.int64)]
            for page, extent in level:
                words = self._pool.get(page, extent)
                entries = table(words, self._entry_width)
                amount = overlapping(entries, head(words)[0], low, high, self._found)
                below.append(entries[2 * dimensions :, self._found[:amount]])
            found = np.concatenate(below, axis=1)
            columns = (
                found[-1] & 0xFFFF_FFFF,
                found[dimensions + START],
                found[END],
                found[dimensions + END],
            )
            level = [
                Leaf(page, Extent(*extent))
                for page, *extent in zip(*(column.tolist() for column in columns), strict=True)
            ]
        return level

    def change(self, rows: np.ndarray, signs: np.ndarray) -> None:
        """Insert (sign 1) and delete (sign -1) tuples; one may be both deleted and inserted."""
        root, height = self.root.page, self.root.height
        region = everything(len(self._keys))
        entry = make_entry(region, np.empty((len(self._keys), 0), np.int64), root, 0)
        self.plant(self._changed(entry[:, 0], height, rows, signs), height)

    def _changed_leaf(self, entry: np.ndarray, rows: np.ndarray, changes: np.ndarray) -> np.ndarray:
        present, pages = self._read_chain(page_of(entry))
        present = _without(present, rows[:, changes < 0])
        present = np.concatenate([present, rows[:, changes > 0]], axis=1)
        entries = []
        for part, mine in divide(self._layout, present, region_of(entry), self._room):
            first = self._write_chain(mine, pages)
            entries.append(make_entry(part, mine[self._keys], first, mine.shape[1]))
        self._store.give_back(pages)
        return np.concatenate(entries, axis=1)

    def _owners(self, entries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        owner = np.empty(rows.shape[1], np.int64)
        owners(entries, rows[self._keys], owner)
        return owner

    def _tidied(self, entries: np.ndarray, level: int, changes: np.ndarray) -> np.ndarray:
        """Merge neighbours that fit on one page, with some room left for what comes."""
        room = self._fanout if level else self._room
        counts = count_of(entries)
        if not ((changes < 0).any() and (counts * SPARSE < room).any()):
            return entries
        most = room - room // SPARSE
        result = []
        for group in groups(
            *corners(entries), lambda boxes: bool(counts[boxes].sum() <= most), MOST
        ):
            merged = entries[:, group]
            result.append(self._merged(merged, level) if len(group) > 1 else merged)
        return np.concatenate(result, axis=1)

    def _merged(self, entries: np.ndarray, level: int) -> np.ndarray:
        pages = [page_of(entry) for entry in entries.T]
        if level:
            below = [content(self._pool.get(page), self._entry_width) for page in pages]
            return self._directories(np.concatenate(below, axis=1), pages)
        chains = [self._read_chain(page) for page in pages]
        rows = np.concatenate([rows for rows, _ in chains], axis=1)
        spare = [page for _, chain in chains for page in chain]
        merged = merged_entry(entries, self._write_chain(rows, spare), rows.shape[1])
        self._store.give_back(spare)
        return merged

    def _parts(self, entries: np.ndarray) -> Iterator[np.ndarray]:
        low, high = corners(entries)
        for group in groups(low, high, lambda boxes: len(boxes) <= self._fanout, self._fanout):
            yield entries[:, group]

    def _entry_above(self, entries: np.ndarray, page: int) -> np.ndarray:
        return merged_entry(entries, page, entries.shape[1])

    def _read_chain(self, page: int) -> tuple[np.ndarray, list[int]]:
        """Read a page of tuples and those that continue it."""
        parts, pages = [], []
        while page != NO_PAGE:
            words = self._pool.get(page)
            parts.append(content(words, self._layout.width))
            pages.append(page)
            _, page, _ = head(words)
        return np.concatenate(parts, axis=1), pages

    def _write_chain(self, rows: np.ndarray, spare: list[int]) -> int:
        """Write tuples to a page and as many as must continue it, and give the first."""
        following = NO_PAGE
        for end in range(rows.shape[1], -1 if not rows.size else 0, -self._room):
            page = self._store.take(spare)
            part = rows[:, max(0, end - self._room) : end]
            fill(self._pool.change(page), Kind.TUPLES, part, following)
            following = page
        return following


def _without(present: np.ndarray, leaving: np.ndarray) -> np.ndarray:
    """Take tuples away, each once; an error if one is not there.

    >>> _without(np.array([[1, 1, 2], [5, 5, 6]]), np.array([[1], [5]])).T.tolist()
    [[1, 5], [2, 6]]
    """
    if not leaving.size:
        return present
    both = np.concatenate([present, leaving], axis=1)
    order = np.lexsort(both)
    new = np.any(both[:, order[1:]] != both[:, order[:-1]], axis=0)
    firsts = np.concatenate([[0], 1 + np.flatnonzero(new)])
    kind_in_order = np.cumsum(np.concatenate([[0], new]))
    # Equal tuples stand together, those present first: so each has a place among its equals.
    kind, place = np.empty_like(order), np.empty_like(order)
    kind[order] = kind_in_order
    place[order] = np.arange(len(order)) - firsts[kind_in_order]
    there = present.shape[1]
    wanted = np.bincount(kind[there:], minlength=len(firsts))
    missing = np.flatnonzero(wanted > np.bincount(kind[:there], minlength=len(firsts)))
    if missing.size:
        tuple_ = both[:, order[firsts[missing[0]]]].tolist()
        raise InputError(f"the tuple {tuple_} is to be deleted, but is not (or not as often) there")
    return present[:, place[:there] >= wanted[kind[:there]]]
