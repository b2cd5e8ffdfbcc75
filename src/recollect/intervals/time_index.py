"""The moments at which tuples start or end, in order: between two of them lies a base interval.

A B+ tree of moments with counts, so that a moment goes when its last tuple does. A batch of changes
is one descent, and each page answers with the pages that replace it. A page is given back when it
is empty; half-empty ones are left alone.

References
----------
Woo et al., section 4.1.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from recollect.intervals.header import Tree
from recollect.intervals.layout import LEAST
from recollect.intervals.page import Kind, capacity, content, fill, new_page
from recollect.intervals.replacement import ONCE
from recollect.intervals.store import Store
from recollect.intervals.times_page import MOST_TIMES, fitting, read_times, write_times

FANOUT = capacity(2)

Times = tuple[np.ndarray, np.ndarray]
"""Moments in order, each once, and how many tuples start or end there."""


def summed(times: np.ndarray, counts: np.ndarray) -> Times:
    """Sort moments, and add up the counts of those that are there several times.

    >>> summed(np.array([5, 2, 5]), np.array([1, 3, 1]))
    (array([2, 5]), array([3, 2]))
    """
    moments, place = np.unique(times, return_inverse=True)
    sums = np.zeros(len(moments), np.int64)
    np.add.at(sums, place, counts)
    return moments, sums


class TimeIndex:
    """The tree of pages with the moments.

    Parameters
    ----------
    store
        Where the pages are. ``store.header.times`` is the root.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> store = Store.create(Path(folder.name) / "times", (), 8)
    >>> times = TimeIndex.empty(store)
    >>> times.change(np.array([3, 8]), np.array([1, 2]))
    >>> times.change(np.array([3, 5]), np.array([-1, 1]))
    >>> list(times.moments())
    [(array([5, 8]), array([1, 2]))]
    >>> store.close()
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pool = store.pool

    @classmethod
    def empty(cls, store: Store) -> "TimeIndex":
        """Begin an index without moments."""
        store.header = replace(store.header, times=Tree())
        return cls(store)

    @classmethod
    def load(cls, store: Store, blocks: Iterable[Times]) -> "TimeIndex":
        """Make an index of moments that come in order.

        Parameters
        ----------
        store
            Where to.
        blocks
            Moments, at least one; the last of a block may be the first of the next one again.
        """
        index = cls(store)
        firsts: list[int] = []
        pages: list[int] = []
        times, counts = np.empty(0, np.int64), np.empty(0, np.int64)
        words = new_page()
        for more_times, more_counts in blocks:
            if len(times) and times[-1] == more_times[0]:
                counts[-1] += more_counts[0]
                more_times, more_counts = more_times[1:], more_counts[1:]
            times = np.concatenate([times, more_times])
            counts = np.concatenate([counts, more_counts])
            while len(times) > MOST_TIMES:
                times, counts = index._load_page(words, times, counts, firsts, pages)
        while len(times):
            times, counts = index._load_page(words, times, counts, firsts, pages)
        index._plant(np.array([firsts, pages], np.int64), 0)
        return index

    def _load_page(
        self,
        words: np.ndarray,
        times: np.ndarray,
        counts: np.ndarray,
        firsts: list[int],
        pages: list[int],
    ) -> Times:
        count = fitting(times, counts)
        write_times(words, times[:count], counts[:count])
        firsts.append(int(times[0]))
        pages.append(self._store.append(words))
        return times[count:], counts[count:]

    def moments(self, first: int | None = None, after: int | None = None) -> Iterator[Times]:
        """Yield moments in order.

        Parameters
        ----------
        first
            The least moment wanted.
        after
            The moment at which to stop.
        """
        tree = self._store.header.times
        least = LEAST if first is None else first
        if tree.root:
            yield from self._moments(tree.root, tree.height, least, after)

    def _moments(self, page: int, level: int, first: int, after: int | None) -> Iterator[Times]:
        words = self._pool.get(page, ONCE)
        if level:
            firsts, pages = content(words, 2)
            begin = max(0, int(np.searchsorted(firsts, first, side="right")) - 1)
            for moment, child in zip(firsts[begin:].tolist(), pages[begin:].tolist(), strict=True):
                if after is None or moment < after:
                    yield from self._moments(child, level - 1, first, after)
            return
        times, counts = read_times(words)
        begin = int(np.searchsorted(times, first))
        end = len(times) if after is None else int(np.searchsorted(times, after))
        if begin < end:
            yield times[begin:end], counts[begin:end]

    def change(self, times: np.ndarray, changes: np.ndarray) -> None:
        """Change the counts of moments.

        Parameters
        ----------
        times
            Moments in order, each once.
        changes
            What to add to their counts; one that becomes 0 goes.
        """
        tree = self._store.header.times
        if not tree.root:
            self._plant(self._pages_of((times, changes), []), 0)
        else:
            self._plant(self._changed(tree.root, tree.height, times, changes), tree.height)

    def _changed(self, page: int, level: int, times: np.ndarray, changes: np.ndarray) -> np.ndarray:
        """Change what is below a page and give first moments and numbers of what replaces it."""
        words = self._pool.get(page)
        if level == 0:
            return self._pages_of(_merged(read_times(words), (times, changes)), [page])
        children = content(words, 2)
        owner = np.maximum(0, np.searchsorted(children[0], times, side="right") - 1)
        touched, starts = np.unique(owner, return_index=True)
        parts = np.split(children, children.shape[1], axis=1)
        ends = np.append(starts[1:], len(times))
        for place, start, end in zip(touched.tolist(), starts, ends, strict=True):
            child = int(children[1, place])
            parts[place] = self._changed(child, level - 1, times[start:end], changes[start:end])
        return self._directories(np.concatenate(parts, axis=1), [page])

    def _pages_of(self, moments: Times, spare: list[int]) -> np.ndarray:
        """Write moments to as many pages as they need."""
        written = []
        for times, counts in _halved(*moments):
            page = spare.pop(0) if spare else self._store.take()
            write_times(self._pool.change(page), times, counts)
            written.append((int(times[0]), page))
        return self._written(written, spare)

    def _directories(self, children: np.ndarray, spare: list[int]) -> np.ndarray:
        """Write first moments and numbers of pages to as many pages as they need."""
        written = []
        parts = -(-children.shape[1] // FANOUT)
        for part in np.array_split(children, parts, axis=1) if parts else []:
            page = spare.pop(0) if spare else self._store.take()
            fill(self._pool.change(page), Kind.TIME_DIRECTORY, part)
            written.append((int(part[0, 0]), page))
        return self._written(written, spare)

    def _written(self, written: list[tuple[int, int]], spare: list[int]) -> np.ndarray:
        for page in spare:
            self._store.give_back(page)
        return np.array(written, np.int64).reshape(-1, 2).T

    def _plant(self, children: np.ndarray, height: int) -> None:
        """Make the root above some pages, or drop roots that lead to one page only."""
        while children.shape[1] > 1:
            children = self._directories(children, [])
            height += 1
        root = int(children[1, 0]) if children.size else 0
        while root and height:
            below = content(self._pool.get(root), 2)
            if below.shape[1] > 1:
                break
            self._store.give_back(root)
            root, height = int(below[1, 0]), height - 1
        tree = Tree(root, height) if root else Tree()
        self._store.header = replace(self._store.header, times=tree)


def _merged(some: Times, others: Times) -> Times:
    times = np.concatenate([some[0], others[0]])
    moments, sums = summed(times, np.concatenate([some[1], others[1]]))
    return moments[sums > 0], sums[sums > 0]


def _halved(times: np.ndarray, counts: np.ndarray) -> Iterator[Times]:
    """Divide moments until each part fits on a page."""
    if not len(times):
        return
    if fitting(times, counts) == len(times):
        yield times, counts
        return
    half = len(times) // 2
    yield from _halved(times[:half], counts[:half])
    yield from _halved(times[half:], counts[half:])
