"""Tuples in memory as events in order of time, chunk by chunk.

Starts and ends are sorted apart and merged while they are handed out, so that nothing is ever
allocated per tuple beyond the two orders.

>>> start, end = np.array([5, 1]), np.array([7, 6])
>>> (chunk,) = events_of(start, end)
>>> list(zip(chunk.time.tolist(), chunk.sign.tolist()))
[(1, 1), (5, 1), (6, -1), (7, -1)]
"""

from collections.abc import Iterator

import numpy as np

from recollect.compiled import cached
from recollect.intervals.radix import order_of
from recollect.intervals.sweep import Events

CHUNK = 65_536
"""Events that are handed out at once: few enough for the processor's caches."""


def events_of(
    start: np.ndarray,
    end: np.ndarray,
    value: np.ndarray | None = None,
    group: np.ndarray | None = None,
) -> Iterator[Events]:
    """Yield the starts and ends of tuples in order of time.

    Parameters
    ----------
    start, end, value, group
        int64, by tuple: the tuples, the words of their values and the numbers of their groups.
    """
    nothing = np.zeros(len(start), np.int64)
    value, group = (nothing if words is None else words for words in (value, group))
    columns = [_frozen(words) for words in (start, end, value, group)]
    orders = order_of(start), order_of(end)
    position = np.zeros(2, np.int64)
    while position[1] < len(end):
        room = min(CHUNK, 2 * len(start) - int(position.sum()))
        words = [np.empty(room, np.int64) for _ in range(5)]
        events = Events(words[0], np.empty(room, np.int8), *words[1:])
        _merge(*columns, *orders, position, events)
        yield events


def _frozen(array: np.ndarray) -> np.ndarray:
    """Read-only and contiguous, so that the loop is compiled for one kind of array only."""
    array = np.ascontiguousarray(array).view()
    array.flags.writeable = False
    return array


@cached
def _merge(start, end, value, group, starts, ends, position, events):  # type: ignore[no-untyped-def]
    coming, going = position
    for i in range(len(events.time)):
        comes = coming < len(starts) and start[starts[coming]] < end[ends[going]]
        if comes:
            row = starts[coming]
            coming += 1
        else:
            row = ends[going]
            going += 1
        events.time[i] = start[row] if comes else end[row]
        events.sign[i] = 1 if comes else -1
        events.start[i] = start[row]
        events.end[i] = end[row]
        events.value[i] = value[row]
        events.group[i] = group[row]
    position[0] = coming
    position[1] = going
