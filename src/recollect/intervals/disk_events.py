"""The tuples of an index as events in order of time, read through a pool that knows the order.

The sweep takes base intervals in steps. For each step it wants the pages with tuples that start in
it and those with tuples that end in it, and tells the pool where it is, so that order-based
replacement can keep what comes next.

How wide is a step? A page is wanted in every step between its first and last start, and again
between its first and last end. One step per base interval would ask for each page once per moment
in that time. With :data:`WIDTH` times the square root of the number of pages, in events, a sweep
asks for less than one page per two tuples, however large the index is, and a step takes only a few
pages' worth of memory.

References
----------
Woo et al., sections 4.2 and 5.
"""

from collections.abc import Iterator, Mapping
from math import isqrt

import numpy as np

from recollect.compiled import cached
from recollect.errors import WindowError
from recollect.intervals.grid_file import GridFile, Leaf
from recollect.intervals.layout import END, LEAST, MOST, START, Layout, Range
from recollect.intervals.page import BODY, NO_PAGE, head_of
from recollect.intervals.store import Store
from recollect.intervals.time_index import TimeIndex, Times

WIDTH = 8
DONE = -1
CHUNK = 16_384
"""Events that are handed out at once."""

Chunk = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Times, signs (int8: 1 for a start, -1 for an end) and tuples, one column per event."""
TIME, SIGN, TUPLE = range(3)
"""The rows of a matrix of events; the tuple takes all that follow."""


class DiskEvents:
    """The sweep over an index, to be iterated over once.

    Parameters
    ----------
    store
        The pages.
    layout
        The columns.
    from_, to
        The window: tuples outside of it do not come, and others are cut to it. None: no limit.
    where
        Ranges of indexed columns.
    """

    def __init__(
        self,
        store: Store,
        layout: Layout,
        from_: int | None,
        to: int | None,
        where: Mapping[str, Range],
    ) -> None:
        begin, end = LEAST if from_ is None else from_, MOST if to is None else to
        if begin >= end:
            raise WindowError(f"the window [{begin}, {end}) is empty; it must end after it begins")
        self._pool = store.pool
        self._grid = GridFile(store, layout)
        self._times = TimeIndex(store)
        self._from, self._to = begin, end
        self._low, self._high = layout.box(where)
        self._keys = np.array(layout.keys)
        self._events_per_step = min(CHUNK, WIDTH * max(1, isqrt(store.header.pages)))
        self._events = np.empty((TUPLE + layout.width, CHUNK), np.int64)
        self._count = 0
        """Events collected and not handed out yet."""

    def __iter__(self) -> Iterator[Chunk]:
        """Yield the events, a chunk at a time; at equal times, ends before starts."""
        self._pool.move(LEAST, LEAST)
        if self._from > LEAST:
            # What has begun before the window and goes on in it starts with it.
            yield from self._step(self._from, self._from, [self._present(self._from, 1)])
        moments = self._times.moments(self._from, self._to if self._to < MOST else None)
        for first, last, events in _steps(moments, self._events_per_step):
            ends, starts = self._ending(first, last), self._starting(first, last)
            if first == last:
                # These may be more events than can be held, so they are not sorted but come apart.
                yield from self._step(first, last, [ends])
                yield from self._step(first, last, [starts])
                continue
            if self._count + events > CHUNK:
                yield self._hand_out()
            begin = self._count
            yield from self._step(first, last, [ends, starts])
            self._sort(begin)
        if self._to < MOST:
            # What is still there when the window ends, ends with it.
            yield from self._step(self._to, self._to, [self._present(self._to, -1)])
        if self._count:
            yield self._hand_out()
        self._pool.move(LEAST, LEAST)

    # A want is a box of the space of keys and the sign of the events that the tuples in it make.

    def _starting(self, first: int, last: int) -> "_Want":
        return self._want(1, START, first, last)

    def _ending(self, first: int, last: int) -> "_Want":
        # What ends as the window begins is not in the window.
        return self._want(-1, END, max(first, self._from + 1), last)

    def _present(self, moment: int, sign: int) -> "_Want":
        """Tuples there before a moment and, if they are to start, after it."""
        low, high, _ = self._want(sign, START, LEAST, moment - 1)
        low[END] = max(low[END], self._from + 1, moment if sign < 0 else moment + 1)
        return low, high, sign

    def _want(self, sign: int, dimension: int, least: int, most: int) -> "_Want":
        low, high = self._low.copy(), self._high.copy()
        low[dimension] = max(low[dimension], least)
        high[dimension] = min(high[dimension], most)
        return low, high, sign

    def _step(self, first: int, last: int, wants: list["_Want"]) -> Iterator[Chunk]:
        """Collect events from all pages with wanted tuples; hand out what does not fit."""
        self._pool.move(first, last)
        low, high, signs = (np.array(part) for part in zip(*wants, strict=True))
        window = self._from, self._to
        for following, extent in sorted(self._grid.leaves(low, high), key=_first_end):
            while following != NO_PAGE:
                page, begin = following, 0
                while begin != DONE:
                    if begin:
                        yield self._hand_out()
                    words, events, count = self._pool.get(page, extent), self._events, self._count
                    begin, self._count, following = _collect(
                        words, begin, self._keys, low, high, signs, window, events, count
                    )

    def _sort(self, begin: int) -> None:
        mine = self._events[:, begin : self._count]
        mine[:] = mine[:, np.lexsort((mine[SIGN], mine[TIME]))]

    def _hand_out(self) -> Chunk:
        events = self._events[:, : self._count].copy()
        self._count = 0
        return events[TIME], events[SIGN].astype(np.int8), events[TUPLE:]


_Want = tuple[np.ndarray, np.ndarray, int]


def _first_end(leaf: Leaf) -> int:
    return leaf.extent.first_end


def _steps(moments: Iterator[Times], events: int) -> Iterator[tuple[int, int, int]]:
    """Put moments together to steps of so many events; a moment that has more is a step alone.

    >>> list(_steps(iter([(np.array([1, 2, 5]), np.array([2, 1, 9]))]), 4))
    [(1, 2, 3), (5, 5, 9)]
    """
    first, last, held = 0, 0, 0
    for times, counts in moments:
        begin, sums = 0, np.cumsum(counts)
        while begin < len(times):
            before = int(sums[begin - 1]) if begin else 0
            end = int(np.searchsorted(sums, before + events - held, side="right"))
            if end <= begin and held:
                yield first, last, held
                held = 0
                continue
            end = max(end, begin + 1)
            first = first if held else int(times[begin])
            last = int(times[end - 1])
            held += int(sums[end - 1]) - before
            begin = end
    if held:
        yield first, last, held


@cached
def _collect(
    words: np.ndarray,
    begin: int,
    keys: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    signs: np.ndarray,
    window: tuple[int, int],
    events: np.ndarray,
    filled: int,
) -> tuple[int, int, int]:
    """Make events of the tuples of a page that are in any of some boxes.

    Gives the tuple at which to go on, for there may not be room for all, or ``DONE``; how many
    events there are now; and the page that continues this one.
    """
    count, following = head_of(words)
    width = len(events) - TUPLE
    room = (len(words) - BODY) // width
    for place in range(begin, count):
        if filled + len(signs) > events.shape[1]:
            return place, filled, following
        for box in range(len(signs)):
            inside = True
            for dimension in range(len(keys)):
                key = words[BODY + keys[dimension] * room + place]
                if key < low[box, dimension] or key > high[box, dimension]:
                    inside = False
                    break
            if inside:
                for row in range(width):
                    events[TUPLE + row, filled] = words[BODY + row * room + place]
                start = max(events[TUPLE + START, filled], window[0])
                end = min(events[TUPLE + END, filled], window[1])
                events[TUPLE + START, filled] = start
                events[TUPLE + END, filled] = end
                events[SIGN, filled] = signs[box]
                events[TIME, filled] = start if signs[box] > 0 else end
                filled += 1
    return DONE, filled, following
