"""Which page leaves a full buffer pool.

A sweep over time knows what it will need. At a base interval it wants the pages with tuples that
start or end there, so a page is wanted while the sweep is between its first and last start, and
again between its first and last end. *Order-based* replacement forgets

1. any page all of whose tuples have ended: it will never be wanted again;
2. else, of the pages whose tuples have all started and none has ended, the one whose first end is
   farthest away: of these pages it will be wanted last;
3. else, all pages are wanted in every step; then the one whose first end is farthest away, and of
   equals the one that was used longest ago.

Woo et al. have only the first two rules, so that their algorithm may find no victim (their figure 9
says nothing of pages on the edge of the window). For the third, least recently used would be the
worst choice as soon as the pages on the edge do not all fit: each would be forgotten just before it
is wanted again. A fixed preference keeps as many of them as there is room for.

References
----------
Woo, Lee, Lee, Lee, Whang: Transformation-based temporal aggregation using order-based buffer
replacement strategy, section 5.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from recollect.compiled import cached
from recollect.errors import InputError
from recollect.intervals.layout import LEAST, MOST


class Extent(NamedTuple):
    """When a sweep will want a page."""

    last_start: int
    first_end: int
    last_end: int


ONCE = Extent(LEAST, LEAST, LEAST)
"""For a page that is wanted now and not again."""


class Replacement(Protocol):
    """Chooses among the frames of a pool, which are numbered from 0."""

    def touch(self, frame: int, extent: Extent | None) -> None:
        """Hear that the page in a frame is used, and when it will be wanted, if that is known."""

    def forget(self, frame: int) -> None:
        """Hear that a frame has become empty."""

    def victim(self) -> int:
        """Choose the frame whose page leaves; called when no frame is empty."""

    def move(self, first: int, last: int) -> None:
        """Hear that a sweep is now at the times from ``first`` to ``last``."""


class LeastRecentlyUsed:
    """Forget the page that was used longest ago.

    >>> lru = LeastRecentlyUsed(2)
    >>> for frame in (0, 1, 0):
    ...     lru.touch(frame, None)
    >>> lru.victim()
    1
    """

    def __init__(self, frames: int) -> None:
        self._used: OrderedDict[int, None] = OrderedDict()

    def touch(self, frame: int, extent: Extent | None) -> None:
        """See the protocol."""
        self._used[frame] = None
        self._used.move_to_end(frame)

    def forget(self, frame: int) -> None:
        """See the protocol."""
        del self._used[frame]

    def victim(self) -> int:
        """See the protocol."""
        return next(iter(self._used))

    def move(self, first: int, last: int) -> None:
        """See the protocol."""


class OrderBased:
    """Forget the page that a sweep will want last (see the module).

    >>> order = OrderBased(3)
    >>> order.touch(0, Extent(last_start=40, first_end=45, last_end=60))
    >>> order.touch(1, Extent(last_start=30, first_end=70, last_end=90))
    >>> order.touch(2, Extent(last_start=20, first_end=80, last_end=85))
    >>> order.move(50, 52)
    >>> order.victim()
    2
    >>> order.move(61, 63)
    >>> order.victim()
    0
    """

    def __init__(self, frames: int) -> None:
        self._clock = 0
        self._used = np.zeros(frames, np.int64)
        self._extents = np.full((3, frames), LEAST)
        self._announced = [False] * frames
        self._window = (LEAST, LEAST)

    def touch(self, frame: int, extent: Extent | None) -> None:
        """See the protocol."""
        self._clock += 1
        self._used[frame] = self._clock
        if extent is not None and not self._announced[frame]:
            self._extents[:, frame] = extent
            self._announced[frame] = True

    def forget(self, frame: int) -> None:
        """See the protocol."""
        self._extents[:, frame] = ONCE
        self._announced[frame] = False

    def victim(self) -> int:
        """See the protocol."""
        return int(_pick_victim(self._extents, self._used, *self._window))

    def move(self, first: int, last: int) -> None:
        """See the protocol."""
        if first < self._window[0]:
            # Time went back: this is a new sweep, and the pages may have changed since the last.
            self._extents[:] = LEAST
            self._announced = [False] * len(self._announced)
        self._window = (first, last)


@cached
def _pick_victim(extents: np.ndarray, used: np.ndarray, first: int, last: int) -> int:
    inside, farthest = -1, LEAST
    edge, edge_end, edge_used = -1, LEAST, MOST
    for frame in range(len(used)):
        last_start, first_end, last_end = extents[:, frame]
        if last_end < first:
            return frame
        if first_end > last and last_start < first:
            if first_end > farthest:
                inside, farthest = frame, first_end
        elif (
            edge < 0 or first_end > edge_end or (first_end == edge_end and used[frame] < edge_used)
        ):
            edge, edge_end, edge_used = frame, first_end, used[frame]
    return inside if inside >= 0 else edge


REPLACEMENTS: dict[str, Callable[[int], Replacement]] = {
    "order": OrderBased,
    "lru": LeastRecentlyUsed,
}


def replacement_named(name: str, frames: int) -> Replacement:
    """Make a replacement by its name."""
    if name not in REPLACEMENTS:
        raise InputError(f"replacement {name!r} is unknown; there are {', '.join(REPLACEMENTS)}")
    return REPLACEMENTS[name](frames)
