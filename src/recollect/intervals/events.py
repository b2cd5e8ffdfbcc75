"""Starts and ends of tuples in order of time: what a sweep takes, from tuples in memory.

>>> start, end = np.array([5, 1]), np.array([7, 6])
>>> (chunk,) = events_of(start, end)
>>> list(zip(chunk.time.tolist(), chunk.sign.tolist()))
[(1, 1), (5, 1), (6, -1), (7, -1)]
>>> (cut,) = within([chunk], 2, 6)
>>> list(zip(cut.time.tolist(), cut.sign.tolist()))
[(2, 1), (5, 1), (6, -1), (6, -1)]
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from recollect.compiled import cached

CHUNK = 65_536
"""Events that are handed out at once: few enough for the processor's caches."""
DIGIT = 11
"""Bits per pass of the sort: the counters of a digit fit into the processor's fastest cache."""


class Events(NamedTuple):
    """Starts and ends of tuples in order of time, as arrays of int64 (signs of int8)."""

    time: np.ndarray
    sign: np.ndarray
    """1 where the tuple starts at that time, -1 where it ends."""
    start: np.ndarray
    end: np.ndarray
    value: np.ndarray
    """A word (see :mod:`recollect.intervals.words`) per event."""
    group: np.ndarray
    """The number of the tuple's group, from 0."""


def chosen(events: Events, which: np.ndarray) -> Events:
    """Some of the events, by a mask or by their positions."""
    return Events(*(array[which] for array in events))


def within(chunks: Iterable[Events], low: int, high: int) -> Iterator[Events]:
    """Yield the events of the tuples that overlap ``[low, high)``, as if they were cut there."""
    for events in chunks:
        overlapping = (events.start < high) & (events.end > low)
        inside = events if overlapping.all() else chosen(events, overlapping)
        yield inside._replace(
            time=inside.time.clip(low, high),
            start=inside.start.clip(min=low),
            end=inside.end.clip(max=high),
        )


def events_of(
    start: np.ndarray,
    end: np.ndarray,
    value: np.ndarray | None = None,
    group: np.ndarray | None = None,
) -> Iterator[Events]:
    """Yield the starts and ends of tuples in order of time.

    They are sorted apart and merged while they are handed out, so that nothing is ever allocated
    per tuple beyond the two orders.

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


def order_of(numbers: np.ndarray) -> np.ndarray:
    """The positions of int64 numbers from the least to the greatest, equal ones as they came.

    A radix sort: a few passes over the digits instead of many comparisons.

    >>> order_of(np.array([30, -5, 12])).tolist()
    [1, 2, 0]
    """
    positions = np.arange(len(numbers))
    if np.all(numbers[1:] >= numbers[:-1]):
        return positions
    keys = (numbers - numbers.min()).view(np.uint64)  # wraps around into what is right unsigned
    bits = int(keys.max()).bit_length()
    here, there = (keys, positions), (np.empty_like(keys), np.empty_like(positions))
    counts = np.empty(2**DIGIT, np.int64)
    for shift in range(0, bits, DIGIT):
        _distribute(*here, *there, np.uint64(shift), counts)
        here, there = there, here
    return here[1]


@cached
def _distribute(keys, positions, new_keys, new_positions, shift, counts):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(counts) - 1)
    counts[:] = 0
    for key in keys:
        counts[(key >> shift) & mask] += 1
    place = 0
    for digit in range(len(counts)):
        counts[digit], place = place, place + counts[digit]
    for i in range(len(keys)):
        digit = (keys[i] >> shift) & mask
        place = counts[digit]
        counts[digit] = place + 1
        new_keys[place] = keys[i]
        new_positions[place] = positions[i]
