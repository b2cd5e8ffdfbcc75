"""A query window: only what lies inside ``[from, to)`` is asked for.

>>> from recollect.intervals.events import events_of
>>> (chunk,) = events_of(np.array([1, 5, 9]), np.array([4, 9, 12]))
>>> (cut,) = within([chunk], 3, 8)
>>> list(zip(cut.time.tolist(), cut.sign.tolist()))
[(3, 1), (4, -1), (5, 1), (8, -1)]
"""

from collections.abc import Iterable, Iterator

import numpy as np

from recollect.intervals.sweep import Events


def within(chunks: Iterable[Events], low: int, high: int) -> Iterator[Events]:
    """Yield the events of the tuples that overlap a window, as if they were cut at its edges.

    Parameters
    ----------
    chunks
        Events in order of time.
    low, high
        The window ``[low, high)``.
    """
    for events in chunks:
        overlapping = (events.start < high) & (events.end > low)
        inside = events if overlapping.all() else chosen(events, overlapping)
        yield inside._replace(
            time=inside.time.clip(low, high),
            start=inside.start.clip(min=low),
            end=inside.end.clip(max=high),
        )


def chosen(events: Events, which: np.ndarray) -> Events:
    """Some of the events, by a mask or by their positions."""
    return Events(*(array[which] for array in events))
