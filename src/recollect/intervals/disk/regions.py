"""How space is divided: points by cuts through them, boxes by cuts that go between them.

Local splitting, as in the multilevel grid file: only the region that overflows is cut, along one
dimension after the other. Where the file of Whang and Krishnamurthy halves a region, here the cut
goes through the middle of the tuples, so pages are equally full whatever the distribution.

Regions made by cutting again and again can be put apart in the same way: there is always a line
that goes through none of them. So a page of the directory is split without splitting what is below.

The entries of a directory say, for each page below, its region and where its tuples really are.
Entries are the columns of a matrix of int64. With d dimensions, rows 0 to d-1 are the low corner of
the region, then come its high corner, the low and the high corner of the minimum bounding region
(MBR) of the tuples, and one word that packs the number of the page, the dimension to be cut next
and how many things the page holds.

>>> whole = everything(2)
>>> entry = make_entry(whole, np.array([[1, 5], [4, 9]]), page=7, count=2)
>>> count_of(entry).tolist(), entry[4:8, 0].tolist()
([2], [1, 4, 5, 9])

References
----------
Whang, Krishnamurthy: Multilevel Grid Files, 1985.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from recollect.compiled import cached
from recollect.intervals.disk.layout import LEAST, MOST, Layout
from recollect.intervals.disk.page_tree import PAGE_BITS

_TURN_BITS = 8
_COUNT_SHIFT = PAGE_BITS + _TURN_BITS
MOST_COUNTED = (1 << (63 - _COUNT_SHIFT)) - 1
"""A page (with those that continue it) of more things counts as one of so many."""


class Region(NamedTuple):
    """A box of the space of keys, corners included, and how often each dimension was cut."""

    low: np.ndarray
    high: np.ndarray
    cuts: np.ndarray

    def part(self, dimension: int, low: int | None, high: int | None, cuts: float) -> "Region":
        """What is left of the region if one dimension is limited further by so many cuts."""
        part = Region(*(corner.copy() for corner in self))
        if low is not None:
            part.low[dimension] = low
        if high is not None:
            part.high[dimension] = high
        part.cuts[dimension] += cuts
        return part


def everything(dimensions: int) -> Region:
    """The region that holds all tuples."""
    low, high = np.full(dimensions, LEAST), np.full(dimensions, MOST)
    return Region(low, high, np.zeros(dimensions))


def middle(values: np.ndarray, below: int) -> int | None:
    """Find the value that has about so many others below it, and at least one on each side.

    >>> middle(np.array([7, 3, 3, 3, 9]), 2)
    7
    >>> middle(np.array([3, 3]), 1) is None
    True
    """
    pivot = np.partition(values, below)[below]
    less = np.count_nonzero(values < pivot)
    above = values[values > pivot]
    if less and (not above.size or below - less <= len(values) - above.size - below):
        return int(pivot)
    return int(above.min()) if above.size else None


def divide(
    layout: Layout, rows: np.ndarray, region: Region, room: int
) -> Iterator[tuple[Region, np.ndarray]]:
    """Divide a region so that no part has more tuples than fit on a page (``room``).

    Tuples that agree in all keys cannot be divided and come as one part, however many they are.
    """
    count = rows.shape[1]
    if count > room:
        pages = -(-count // room)
        below = count * (pages // 2) // pages
        for dimension in np.argsort(region.cuts, kind="stable").tolist():
            keys = rows[layout.keys[dimension]]
            value = middle(keys, below)
            if value is not None:
                left = keys < value
                lower = region.part(dimension, None, value - 1, 1)
                yield from divide(layout, rows[:, left], lower, room)
                upper = region.part(dimension, value, None, 1)
                yield from divide(layout, rows[:, ~left], upper, room)
                return
    yield region, rows


def groups(
    low: np.ndarray, high: np.ndarray, fits: Callable[[np.ndarray], bool], room: int
) -> Iterator[np.ndarray]:
    """Divide boxes into groups, each filling a box of its own, until each ``fits``.

    ``room`` is how many boxes a group should have at most; it steers where cuts go.
    """
    pending = [np.arange(low.shape[1])]
    while pending:
        boxes = pending.pop()
        if len(boxes) == 1 or fits(boxes):
            yield boxes
        else:
            pending.extend(_between(low, high, boxes, room))


def _between(
    low: np.ndarray, high: np.ndarray, boxes: np.ndarray, room: int
) -> tuple[np.ndarray, np.ndarray]:
    pages = -(-len(boxes) // room)
    wanted = len(boxes) * (pages // 2) / pages if pages > 1 else len(boxes) / 2
    best: tuple[float, np.ndarray, int] | None = None
    for lows, highs in zip(low[:, boxes], high[:, boxes], strict=True):
        order = np.argsort(lows, kind="stable")
        reach = np.maximum.accumulate(highs[order])
        places = 1 + np.flatnonzero(lows[order[1:]] > reach[:-1])
        if places.size:
            distance = np.abs(places - wanted)
            place = int(np.argmin(distance))
            if best is None or distance[place] < best[0]:
                best = float(distance[place]), order, int(places[place])
    if best is None:
        raise AssertionError("regions that were not made by cuts")
    _, order, place = best
    return boxes[order[:place]], boxes[order[place:]]


def entry_width(dimensions: int) -> int:
    """Words per entry."""
    return 4 * dimensions + 1


def make_entry(region: Region, keys: np.ndarray, page: int, count: int) -> np.ndarray:
    """The entry, a matrix of one column, of a page with so many tuples that have these keys."""
    low = keys.min(axis=1, initial=MOST)
    high = keys.max(axis=1, initial=LEAST)
    turn = int(np.argmin(region.cuts))
    packed = page | turn << PAGE_BITS | min(count, MOST_COUNTED) << _COUNT_SHIFT
    return np.concatenate([region.low, region.high, low, high, [packed]])[:, np.newaxis]


def merged_entry(entries: np.ndarray, page: int, count: int) -> np.ndarray:
    """The entry of a page whose region is that of several entries together."""
    low, high, least, most = _four_corners(entries)
    packed = page | min(count, MOST_COUNTED) << _COUNT_SHIFT
    corners = low.min(axis=1), high.max(axis=1), least.min(axis=1), most.max(axis=1)
    return np.concatenate([*corners, [packed]])[:, np.newaxis]


def _four_corners(entries: np.ndarray) -> list[np.ndarray]:
    """The low and the high corner of the region, and those of the MBR."""
    dimensions = len(entries) // 4
    return [entries[part * dimensions : (part + 1) * dimensions] for part in range(4)]


def count_of(entries: np.ndarray) -> np.ndarray:
    """How many things the pages of entries hold."""
    return entries[-1] >> _COUNT_SHIFT


def region_of(entry: np.ndarray) -> Region:
    """The region of one entry, in which the dimensions before the next have been cut once more."""
    low, high, _, _ = _four_corners(entry)
    turn = (int(entry[-1]) >> PAGE_BITS) & ((1 << _TURN_BITS) - 1)
    return Region(low, high, np.where(np.arange(len(low)) < turn, 1.0, 0.0))


def corners(entries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of the regions, a row per dimension."""
    low, high, _, _ = _four_corners(entries)
    return low, high


@cached
def owners(entries: np.ndarray, keys: np.ndarray, owner: np.ndarray) -> None:
    """Find, for each tuple, the entry in whose region it lies."""
    dimensions = len(keys)
    for tuple_ in range(keys.shape[1]):
        for entry in range(entries.shape[1]):
            inside = True
            for dimension in range(dimensions):
                key = keys[dimension, tuple_]
                if key < entries[dimension, entry] or key > entries[dimensions + dimension, entry]:
                    inside = False
                    break
            if inside:
                owner[tuple_] = entry
                break


@cached
def overlapping(
    entries: np.ndarray, count: int, low: np.ndarray, high: np.ndarray, found: np.ndarray
) -> int:
    """Put the numbers of the entries whose MBR meets any of some boxes into ``found``.

    The first ``count`` entries of a page count; the corners of the boxes are rows.
    """
    boxes, dimensions = low.shape
    amount = 0
    for entry in range(count):
        for box in range(boxes):
            meets = True
            for dimension in range(dimensions):
                if (
                    entries[2 * dimensions + dimension, entry] > high[box, dimension]
                    or entries[3 * dimensions + dimension, entry] < low[box, dimension]
                ):
                    meets = False
                    break
            if meets:
                found[amount] = entry
                amount += 1
                break
    return amount
