"""How space is divided: points by cuts through them, boxes by cuts that go between them.

Local splitting, as in the multilevel grid file: only the region that overflows is cut, along one
dimension after the other. Where the file of Whang and Krishnamurthy halves a region, here the cut
goes through the middle of the tuples, so pages are equally full whatever the distribution.

Regions made by cutting again and again can be put apart in the same way: there is always a line
that goes through none of them. So a page of the directory is split without splitting what is below.

References
----------
Whang, Krishnamurthy: Multilevel Grid Files, 1985.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from recollect.intervals.layout import Layout


class Region(NamedTuple):
    """A box of the space of keys, corners included, and how often each dimension was cut."""

    low: np.ndarray
    high: np.ndarray
    cuts: np.ndarray

    def halves(self, dimension: int, value: int) -> tuple["Region", "Region"]:
        """Cut the region into what is below a value and the rest."""
        low, high, cuts = self.low.copy(), self.high.copy(), self.cuts.copy()
        low[dimension] = value
        high[dimension] = value - 1
        cuts[dimension] += 1
        return Region(self.low, high, cuts), Region(low, self.high, cuts)


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
    """Divide a region so that no part has more tuples than fit on a page.

    Tuples that agree in all keys cannot be divided and come as one part, however many they are.

    Parameters
    ----------
    layout
        Which rows are keys.
    rows
        The tuples in the region.
    region
        Where they are.
    room
        How many tuples fit on a page.
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
                for part, inside in zip(
                    region.halves(dimension, value), (left, ~left), strict=True
                ):
                    yield from divide(layout, rows[:, inside], part, room)
                return
    yield region, rows


def groups(
    low: np.ndarray, high: np.ndarray, fits: Callable[[np.ndarray], bool], room: int
) -> Iterator[np.ndarray]:
    """Divide boxes into groups, each filling a box of its own.

    Parameters
    ----------
    low, high
        The corners of the boxes, a row per dimension.
    fits
        Whether the boxes with these numbers may be one group.
    room
        How many boxes a group should have at most; it steers where cuts go.
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
