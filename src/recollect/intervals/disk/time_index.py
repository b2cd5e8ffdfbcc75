"""The moments at which tuples start or end, in order: between two of them lies a base interval.

A B+ tree of moments with counts, so that a moment goes when its last tuple does. A page is given
back when it is empty; half-empty ones are left alone.

On a page, moments are kept as differences and counts as they are, each in the fewest bytes (1, 2,
4 or 8) that do for the whole page. So a page holds up to two thousand moments, not two hundred.

>>> words = new_page()
>>> write_times(words, np.array([-5, 100, 101]), np.array([1, 300, 2]))
>>> read_times(words)
(array([ -5, 100, 101]), array([  1, 300,   2]))
>>> fitting(np.arange(5_000), np.ones(5_000, np.int64))
2036

References
----------
Woo et al., section 4.1.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from recollect.intervals.disk.layout import LEAST
from recollect.intervals.disk.page import BODY, PAGE_BYTES, Kind, content, head, new_page, set_head
from recollect.intervals.disk.page_tree import PageTree, page_of
from recollect.intervals.disk.replacement import ONCE
from recollect.intervals.disk.store import Store

_SIZES = tuple(np.dtype(kind) for kind in ("u1", "u2", "u4", "u8"))
_FIRST = 8 * BODY
_ROOM = PAGE_BYTES - _FIRST - 8
"""Bytes for differences and counts, behind the first moment."""
MOST_TIMES = _ROOM // 2

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


class TimeIndex(PageTree):
    """The tree of pages with the moments; its entries are first moments and numbers of pages.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from recollect.intervals.disk.layout import Layout
    >>> folder = TemporaryDirectory()
    >>> store = Store(Path(folder.name) / "times", 8, new=Layout())
    >>> times = TimeIndex(store)
    >>> times.change(np.array([3, 8]), np.array([1, 2]))
    >>> times.change(np.array([3, 5]), np.array([-1, 1]))
    >>> list(times.moments())
    [(array([5, 8]), array([1, 2]))]
    >>> store.close()
    """

    name = "times"
    directory = Kind.TIME_DIRECTORY

    def __init__(self, store: Store) -> None:
        super().__init__(store, entry_width=2)

    @classmethod
    def load(cls, store: Store, blocks: Iterable[Times]) -> "TimeIndex":
        """Make an index of moments that come in order.

        The last moment of a block may be the first of the next one again.
        """
        index, entries, words = cls(store), [], new_page()
        times, counts = np.empty(0, np.int64), np.empty(0, np.int64)

        def write(most_left: int) -> None:
            nonlocal times, counts
            while len(times) > most_left:
                count = fitting(times, counts)
                write_times(words, times[:count], counts[:count])
                entries.append((int(times[0]), store.append(words)))
                times, counts = times[count:], counts[count:]

        for more_times, more_counts in blocks:
            if len(times) and times[-1] == more_times[0]:
                counts[-1] += more_counts[0]
                more_times, more_counts = more_times[1:], more_counts[1:]
            times = np.concatenate([times, more_times])
            counts = np.concatenate([counts, more_counts])
            write(MOST_TIMES)
        write(0)
        index.plant(_as_entries(entries), 0)
        return index

    def moments(self, first: int | None = None, after: int | None = None) -> Iterator[Times]:
        """Yield moments in order, from ``first`` on and before ``after``."""
        least = LEAST if first is None else first
        if self.root.page:
            yield from self._moments(self.root.page, self.root.height, least, after)

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
        """Add to the counts of moments, each given once and in order; one that becomes 0 goes."""
        root, height = self.root.page, self.root.height
        if root:
            entry = np.array([LEAST, root])
            self.plant(self._changed(entry, height, times[np.newaxis], changes), height)
        else:
            self.plant(self._leaves((times, changes), []), 0)

    def _changed_leaf(self, entry: np.ndarray, rows: np.ndarray, changes: np.ndarray) -> np.ndarray:
        page = page_of(entry)
        times, counts = read_times(self._pool.get(page))
        moments, sums = summed(np.concatenate([times, rows[0]]), np.concatenate([counts, changes]))
        return self._leaves((moments[sums > 0], sums[sums > 0]), [page])

    def _leaves(self, moments: Times, spare: list[int]) -> np.ndarray:
        """Write moments to as many pages as they need and give the entries of these."""
        entries = []
        for times, counts in _halved(*moments):
            page = self._store.take(spare)
            write_times(self._pool.change(page), times, counts)
            entries.append((int(times[0]), page))
        self._store.give_back(spare)
        return _as_entries(entries)

    def _owners(self, entries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.maximum(0, np.searchsorted(entries[0], rows[0], side="right") - 1)

    def _tidied(self, entries: np.ndarray, level: int, changes: np.ndarray) -> np.ndarray:
        return entries[:, np.argsort(entries[0])]

    def _parts(self, entries: np.ndarray) -> list[np.ndarray]:
        parts = -(-entries.shape[1] // self._fanout)
        return np.array_split(entries, parts, axis=1) if parts else []

    def _entry_above(self, entries: np.ndarray, page: int) -> np.ndarray:
        return _as_entries([(int(entries[0, 0]), page)])


def _as_entries(pairs: list[tuple[int, int]]) -> np.ndarray:
    return np.array(pairs, np.int64).reshape(-1, 2).T


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


def _differences(times: np.ndarray) -> np.ndarray:
    # Unsigned: the distance of two moments may be larger than any of them.
    unsigned = times.view(np.uint64)
    return np.concatenate([np.zeros(1, np.uint64), unsigned[1:] - unsigned[:-1]])


def _reaches(numbers: np.ndarray) -> list[int]:
    """How many of the first numbers fit into each size."""
    reaches = []
    for size in _SIZES:
        beyond = numbers > np.iinfo(size).max
        reaches.append(int(np.argmax(beyond)) if beyond.any() else len(numbers))
    return reaches


def fitting(times: np.ndarray, counts: np.ndarray) -> int:
    """How many of the first moments fit on one page."""
    times, counts = times[:MOST_TIMES], counts[:MOST_TIMES]
    by_counts = _reaches(counts.view(np.uint64))
    return max(
        min(far, near, _ROOM // (wide.itemsize + narrow.itemsize))
        for wide, far in zip(_SIZES, _reaches(_differences(times)), strict=True)
        for narrow, near in zip(_SIZES, by_counts, strict=True)
    )


def write_times(words: np.ndarray, times: np.ndarray, counts: np.ndarray) -> None:
    """Write a page; the moments must be fitting."""
    differences = _differences(times)
    sizes = [int(np.searchsorted(_reaches(part), len(part))) for part in (differences, counts)]
    set_head(words, Kind.TIMES, len(times), detail=sizes[0] << 2 | sizes[1])
    words[BODY] = times[0]
    body = words.view(np.uint8)[_FIRST + 8 :]
    packed = b"".join(
        part.astype(_SIZES[size]).tobytes()
        for part, size in zip((differences, counts), sizes, strict=True)
    )
    body[: len(packed)] = np.frombuffer(packed, np.uint8)


def read_times(words: np.ndarray) -> Times:
    """Read the moments of a page and their counts."""
    count, _, detail = head(words)
    body = words.view(np.uint8)[_FIRST + 8 :]
    wide, narrow = _SIZES[detail >> 2], _SIZES[detail & 3]
    middle = count * wide.itemsize
    differences = np.frombuffer(body[:middle].tobytes(), wide).astype(np.uint64)
    counts = np.frombuffer(body[middle : middle + count * narrow.itemsize].tobytes(), narrow)
    first = words[BODY : BODY + 1].view(np.uint64)
    return (first + np.cumsum(differences)).view(np.int64), counts.astype(np.int64)
