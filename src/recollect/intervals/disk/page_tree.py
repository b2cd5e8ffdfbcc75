"""A tree of pages that changes in one descent, whatever its leaves hold.

A directory page holds entries, each for one page below. The changes of a batch are handed down to
the leaves they belong to, and each page answers with the entries that stand for it from now on,
several if it was split. All leaves are equally deep.

Entries are the columns of a matrix of int64; the lower half of the last word is the number of the
page.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from recollect.intervals.disk.page import NO_PAGE, Kind, capacity, content, fill
from recollect.intervals.disk.store import Root, Store

PAGE_BITS = 32


def page_of(entry: np.ndarray) -> int:
    """The page of one entry."""
    return int(entry[-1]) & ((1 << PAGE_BITS) - 1)


class PageTree(ABC):
    """A tree of pages whose root is noted in the header of the store."""

    name: str
    """Which field of the header has the root."""
    directory: Kind
    """What its directory pages are marked with."""

    def __init__(self, store: Store, entry_width: int) -> None:
        self._store = store
        self._pool = store.pool
        self._entry_width = entry_width
        self._fanout = capacity(entry_width)

    @property
    def root(self) -> Root:
        """Where the tree begins."""
        return getattr(self._store.header, self.name)

    def plant(self, entries: np.ndarray, height: int) -> None:
        """Make the root above some entries, or drop roots that lead to one page only."""
        while entries.shape[1] > 1:
            entries = self._directories(entries, [])
            height += 1
        root = page_of(entries[:, 0]) if entries.size else NO_PAGE
        while root and height:
            below = content(self._pool.get(root), self._entry_width)
            if below.shape[1] > 1:
                break
            self._store.give_back([root])
            root, height = page_of(below[:, 0]), height - 1
        tree = {self.name: Root(root, height if root else 0)}
        self._store.header = replace(self._store.header, **tree)  # type: ignore[arg-type]

    def _changed(
        self, entry: np.ndarray, level: int, rows: np.ndarray, changes: np.ndarray
    ) -> np.ndarray:
        """Change what is below an entry and give the entries that replace it."""
        if level == 0:
            return self._changed_leaf(entry, rows, changes)
        page = page_of(entry)
        entries = content(self._pool.get(page), self._entry_width)
        owner = self._owners(entries, rows)
        order = np.argsort(owner, kind="stable")
        touched, starts = np.unique(owner[order], return_index=True)
        changed = [
            self._changed(entries[:, place], level - 1, rows[:, mine], changes[mine])
            for place, mine in zip(touched.tolist(), np.split(order, starts[1:]), strict=True)
        ]
        result = np.concatenate([np.delete(entries, touched, axis=1), *changed], axis=1)
        return self._directories(self._tidied(result, level - 1, changes), [page])

    def _directories(self, entries: np.ndarray, spare: list[int]) -> np.ndarray:
        """Write entries to as many pages as they need and give the entries of these.

        Spare pages are used first; those not needed are given back.
        """
        result = [np.empty((self._entry_width, 0), np.int64)]
        for part in self._parts(entries):
            page = self._store.take(spare)
            fill(self._pool.change(page), self.directory, part)
            result.append(self._entry_above(part, page))
        self._store.give_back(spare)
        return np.concatenate(result, axis=1)

    @abstractmethod
    def _changed_leaf(self, entry: np.ndarray, rows: np.ndarray, changes: np.ndarray) -> np.ndarray:
        """Change a leaf and give the entries that replace its entry."""

    @abstractmethod
    def _owners(self, entries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """For each row, the entry below which it belongs."""

    @abstractmethod
    def _tidied(self, entries: np.ndarray, level: int, changes: np.ndarray) -> np.ndarray:
        """The entries of pages of a level, after changes, as they shall stand in a directory."""

    @abstractmethod
    def _parts(self, entries: np.ndarray) -> Iterable[np.ndarray]:
        """Divide entries into parts that fit on a page."""

    @abstractmethod
    def _entry_above(self, entries: np.ndarray, page: int) -> np.ndarray:
        """The entry of a page that holds these entries."""
