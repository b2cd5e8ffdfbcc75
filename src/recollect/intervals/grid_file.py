"""The multilevel grid file: tuples as points (start, end, further keys) on pages of a file.

Each page holds the tuples of one region of space. A directory says which region has which page, and
where in the region tuples really are (the MBR variant); it lies on pages too, with a directory
above, and so on. All leaves are equally deep. Inserting, deleting and updating are one descent:
the tuples of a batch are handed down to the pages they belong to, and each page answers with the
entries that shall stand for it from now on, several if it was split. Nothing is computed ahead for
aggregates, so changes cost nothing extra.

A region with tuples that agree in all keys cannot be split; its page is continued by others.

References
----------
Whang, Krishnamurthy: Multilevel Grid Files, 1985; Song et al.: Spatial Join Processing Using Corner
Transformation, 1999 (MBR); Woo et al., section 2.2.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from recollect.errors import InputError
from recollect.intervals.entries import (
    corners,
    count_of,
    entry_width,
    everything,
    make_entry,
    merged_entry,
    overlapping,
    owners,
    page_of,
    region_of,
)
from recollect.intervals.header import Tree
from recollect.intervals.layout import END, LEAST, MOST, START, Layout
from recollect.intervals.page import NO_PAGE, Kind, capacity, content, fill, head, table
from recollect.intervals.partition import Region, divide, groups
from recollect.intervals.replacement import Extent
from recollect.intervals.store import Store

SPARSE = 4
"""A page that is less than 1/SPARSE full is put together with its neighbours."""
_ANYWHEN = Extent(MOST, LEAST, MOST)


class Leaf(NamedTuple):
    """A page of tuples that a search has to look at."""

    page: int
    extent: Extent


class GridFile:
    """The tree of pages with the tuples.

    Parameters
    ----------
    store
        Where the pages are. ``store.header.grid`` is the root.
    layout
        The columns.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> folder, layout = TemporaryDirectory(), Layout()
    >>> store = Store.create(Path(folder.name) / "grid", layout.columns, 8)
    >>> grid = GridFile.empty(store, layout)
    >>> grid.change(np.array([[1, 2, 5], [4, 9, 6]]), np.array([1, 1, 1]))
    >>> low, high = layout.box({"start": (2, None), "end": (None, 9)})
    >>> np.concatenate(list(grid.search(low, high)), axis=1).T.tolist()
    [[2, 9], [5, 6]]
    >>> store.close()
    """

    def __init__(self, store: Store, layout: Layout) -> None:
        self._store = store
        self._pool = store.pool
        self._layout = layout
        self._keys = list(layout.keys)
        self._room = capacity(layout.width)
        self._entry_width = entry_width(len(self._keys))
        self._fanout = capacity(self._entry_width)
        self._found = np.empty(self._fanout, np.int64)

    @classmethod
    def empty(cls, store: Store, layout: Layout) -> "GridFile":
        """Begin a grid file without tuples."""
        grid = cls(store, layout)
        page = grid._write_chain(np.empty((layout.width, 0), np.int64), [])
        store.header = replace(store.header, grid=Tree(page))
        return grid

    @classmethod
    def of_entries(cls, store: Store, layout: Layout, entries: np.ndarray) -> "GridFile":
        """Put a directory above pages of tuples that fill all space."""
        grid = cls(store, layout)
        grid._plant(entries, 0)
        return grid

    # Reading

    def leaves(self, low: np.ndarray, high: np.ndarray) -> list[Leaf]:
        """Find the pages that may hold tuples in any of some boxes.

        Parameters
        ----------
        low, high
            The corners of the boxes, a row per box.
        """
        root, height = self._store.header.grid.root, self._store.header.grid.height
        level = [Leaf(root, _ANYWHEN)]
        dimensions = len(self._keys)
        for _ in range(height):
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

    def search(self, low: np.ndarray, high: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the tuples in a box, page by page.

        Parameters
        ----------
        low, high
            The corners of the box, both included.
        """
        for page, _ in self.leaves(low[np.newaxis], high[np.newaxis]):
            following = page
            while following != NO_PAGE:
                words = self._pool.get(following)
                count, following, _ = head(words)
                rows = table(words, self._layout.width)[:, :count]
                keys = rows[self._keys]
                inside = np.all(
                    (keys >= low[:, np.newaxis]) & (keys <= high[:, np.newaxis]), axis=0
                )
                yield rows[:, inside]

    # Changing

    def change(self, rows: np.ndarray, signs: np.ndarray) -> None:
        """Insert and delete tuples.

        Parameters
        ----------
        rows
            Tuples.
        signs
            1 for a tuple to insert, -1 for one to delete; a tuple may be both deleted and inserted.
        """
        tree = self._store.header.grid
        region = everything(len(self._keys))
        root = make_entry(region, np.empty((len(self._keys), 0), np.int64), tree.root, 0)
        self._plant(self._changed(root[:, 0], tree.height, rows, signs), tree.height)

    def _plant(self, entries: np.ndarray, height: int) -> None:
        """Make the root above some entries, or drop roots that lead to one page only."""
        while entries.shape[1] > 1:
            entries = self._directories(entries, [])
            height += 1
        root = page_of(entries[:, 0])
        while height:
            words = self._pool.get(root)
            if head(words)[0] > 1:
                break
            only = page_of(content(words, self._entry_width)[:, 0])
            self._store.give_back(root)
            root, height = only, height - 1
        self._store.header = replace(self._store.header, grid=Tree(root, height))

    def _changed(
        self, entry: np.ndarray, level: int, rows: np.ndarray, signs: np.ndarray
    ) -> np.ndarray:
        """Change what is below an entry and give the entries that replace it."""
        page = page_of(entry)
        if level == 0:
            return self._changed_leaf(region_of(entry), page, rows, signs)
        entries = content(self._pool.get(page), self._entry_width)
        owner = np.empty(rows.shape[1], np.int64)
        owners(entries, rows[self._keys], owner)
        order = np.argsort(owner, kind="stable")
        touched, starts = np.unique(owner[order], return_index=True)
        changed = []
        for place, mine in zip(touched.tolist(), np.split(order, starts[1:]), strict=True):
            changed.append(self._changed(entries[:, place], level - 1, rows[:, mine], signs[mine]))
        result = np.concatenate([np.delete(entries, touched, axis=1), *changed], axis=1)
        room = self._room if level == 1 else self._fanout
        if (signs < 0).any() and (count_of(result) * SPARSE < room).any():
            result = self._put_together(result, level - 1, room)
        return self._directories(result, [page])

    def _changed_leaf(
        self, region: Region, page: int, rows: np.ndarray, signs: np.ndarray
    ) -> np.ndarray:
        present, pages = self._read_chain(page)
        present = _without(present, rows[:, signs < 0])
        present = np.concatenate([present, rows[:, signs > 0]], axis=1)
        entries = []
        for part, mine in divide(self._layout, present, region, self._room):
            first = self._write_chain(mine, pages)
            entries.append(make_entry(part, mine[self._keys], first, mine.shape[1]))
        for spare in pages:
            self._store.give_back(spare)
        return np.concatenate(entries, axis=1)

    def _put_together(self, entries: np.ndarray, level: int, room: int) -> np.ndarray:
        """Merge neighbours that fit on one page, with some room left for what comes."""
        counts = count_of(entries)
        most = room - room // SPARSE
        result = []
        for group in groups(
            *corners(entries), lambda boxes: bool(counts[boxes].sum() <= most), MOST
        ):
            merged = entries[:, group]
            if len(group) > 1:
                merged = self._merged(merged, level)
            result.append(merged)
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
        for page in spare:
            self._store.give_back(page)
        return merged

    def _directories(self, entries: np.ndarray, spare: list[int]) -> np.ndarray:
        """Write entries to as many pages as they need and give the entries of these.

        Parameters
        ----------
        entries
            Entries that together fill a box.
        spare
            Pages to use first; those not needed are given back.
        """
        result = []
        for group in groups(
            *corners(entries), lambda boxes: len(boxes) <= self._fanout, self._fanout
        ):
            page = spare.pop(0) if spare else self._store.take()
            fill(self._pool.change(page), Kind.DIRECTORY, entries[:, group])
            result.append(merged_entry(entries[:, group], page, len(group)))
        for page in spare:
            self._store.give_back(page)
        return np.concatenate(result, axis=1)

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
            page = spare.pop(0) if spare else self._store.take()
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
