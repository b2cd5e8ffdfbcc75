"""One sweep over start and end times, for all aggregates and all groups at once.

The events of a relation, each tuple's start and its end, come in order of time. Between two of them
nothing changes: that is a base interval, and its aggregates follow from those of the one before and
from the tuples that came or went (Woo et al., section 4.2). Neighbouring base intervals with equal
aggregates become one constant interval.

===========  ======================================================================================
COUNT        the tuples whose value is not NULL; all tuples if there is no value; 0 where there is
             none
SUM          exact for whole numbers and decimals; for floats the exact sum rounded once
AVG          SUM / COUNT as a float
MIN, MAX     by :mod:`recollect.intervals.staircase`; NaN is greater than all other numbers
===========  ======================================================================================

SUM, AVG, MIN and MAX are NULL where COUNT is 0. Nothing depends on the order of events at the same
time, on how the events are cut into chunks or on where they come from.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from recollect.compiled import cached, inlined
from recollect.intervals.events import Events
from recollect.intervals.exact_sum import (
    BITS,
    FLOAT_LANES,
    INTEGER_LANES,
    MASK,
    add_float,
    add_integer,
    lane_of,
    rounded_float,
    rounded_integer,
)
from recollect.intervals.staircase import least, new_stairs, put, with_room
from recollect.intervals.words import NULL, bits_of

AGGREGATES = ("count", "sum", "avg", "min", "max")
COUNT, SUM, AVG, MIN, MAX = range(len(AGGREGATES))
HIGH = len(AGGREGATES)
"""The place of the high half of the sum of whole numbers."""
WORDS = HIGH + 1


class Rows(NamedTuple):
    """Constant intervals: on each of them, all aggregates asked for stay the same."""

    group: np.ndarray
    start: np.ndarray
    end: np.ndarray
    words: np.ndarray
    """A line per aggregate, and one for the high half of the sum."""


class Asked(NamedTuple):
    """What the compiled loop computes."""

    counts: bool
    sums: bool
    means: bool
    minima: bool
    maxima: bool
    floats: bool
    unit: float
    """By what the words of the values must be divided."""


class State(NamedTuple):
    """What is known of each group; indexed by group unless said otherwise."""

    seen: np.ndarray
    """Whether an event of the group has come: 0 or 1."""
    last: np.ndarray
    """The time of its last event."""
    active: np.ndarray
    """How many tuples with a value there are now."""
    lanes: np.ndarray
    reach: np.ndarray
    """Two numbers: the lowest and the highest lane that any value reached into."""
    since: np.ndarray
    """The start of the constant interval that has not been handed out yet."""
    words: np.ndarray
    """Its aggregates."""
    held: np.ndarray
    """Whether there is such an interval: 0 or 1."""
    changes: np.ndarray
    """By aggregate: how many constant intervals it has of its own."""
    fresh: np.ndarray
    digits: np.ndarray
    """Room to work in."""


class Sweep:
    """The sweep over chunks of events, each no earlier than those before.

    Parameters
    ----------
    aggregates
        Names out of ``AGGREGATES``.
    floats
        Whether the values are floats; else they are whole numbers.
    unit
        By what whole numbers must be divided for an average (decimals are kept as whole numbers).
    """

    def __init__(
        self, aggregates: Sequence[str] = AGGREGATES, floats: bool = False, unit: float = 1.0
    ) -> None:
        count, sum_, avg, min_, max_ = (name in aggregates for name in AGGREGATES)
        self.asked = Asked(count, sum_, avg, min_, max_, floats, unit)
        self._state = _new_state(1, FLOAT_LANES if floats else INTEGER_LANES)
        self._least, self._most = new_stairs(1, 1), new_stairs(1, 1)

    def run(self, chunks: Iterable[Events]) -> Iterator[Rows]:
        """Give the intervals that are complete after each chunk; in the end those held back."""
        for events in chunks:
            if len(events.time):
                yield self._advanced(events)
        rows = _no_rows(len(self._state.seen))
        yield _first(rows, _flush(self._state, rows))

    def _advanced(self, events: Events) -> Rows:
        groups = int(events.group.max()) + 1
        if groups > len(self._state.seen):
            self._state = _enlarged(self._state, 2 * groups)
        groups, more = len(self._state.seen), len(events.time)
        if self.asked.minima:
            self._least = with_room(self._least, groups, more)
        if self.asked.maxima:
            self._most = with_room(self._most, groups, more)
        rows = _no_rows(more)
        found = _advance(self.asked, self._state, self._least, self._most, events, rows)
        return _first(rows, found)

    @property
    def constant_intervals(self) -> dict[str, int]:
        """How many constant intervals each aggregate has of its own, so far."""
        return {
            name: int(changes)
            for name, changes, asked in zip(
                AGGREGATES, self._state.changes, self.asked[: len(AGGREGATES)], strict=True
            )
            if asked
        }


def _new_state(groups: int, lanes: int) -> State:
    def zeros(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.int64)

    reach = np.array([lanes, 0] if lanes == FLOAT_LANES else [0, lanes - 1])
    return State(
        seen=zeros(groups), last=zeros(groups), active=zeros(groups), lanes=zeros(groups, lanes),
        reach=reach, since=zeros(groups), words=zeros(groups, WORDS), held=zeros(groups),
        changes=zeros(len(AGGREGATES)), fresh=zeros(WORDS), digits=zeros(FLOAT_LANES),
    )  # fmt: skip


def _enlarged(state: State, groups: int) -> State:
    larger = _new_state(groups, state.lanes.shape[1])
    for new, old in zip(larger, state, strict=True):
        new[: len(old)] = old
    return larger


def _no_rows(room: int) -> Rows:
    group, start, end = (np.empty(room, np.int64) for _ in range(3))
    return Rows(group, start, end, np.empty((WORDS, room), np.int64))


def _first(rows: Rows, count: int) -> Rows:
    found = Rows(*(array[..., :count] for array in rows))
    # Few rows must not keep the room for many.
    return found if 2 * count > len(rows.start) else Rows(*(array.copy() for array in found))


def together(parts: Sequence[Rows]) -> Rows:
    """Several parts as one."""
    return Rows(*(np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)))


@cached
def _advance(asked, state, lower, upper, events, rows):
    found = 0
    for i in range(len(events.time)):
        time, end, group = events.time[i], events.end[i], events.group[i]
        if events.start[i] >= end:
            continue  # covers no time
        if state.seen[group] == 0:
            state.seen[group] = 1
            state.last[group] = time
        elif time > state.last[group]:
            found = _close(asked, state, lower, upper, group, rows, found)
            state.last[group] = time
        word, sign = events.value[i], np.int64(events.sign[i])
        if word == NULL:
            continue
        state.active[group] += sign
        if asked.sums or asked.means:
            if asked.floats:
                bits = bits_of(word)
                lane = lane_of(bits)
                state.reach[0] = min(state.reach[0], lane)
                state.reach[1] = max(state.reach[1], lane + 2)
                add_float(state.lanes[group], bits, sign)
            else:
                add_integer(state.lanes[group], word, sign)
        if sign > 0:
            if asked.minima:
                put(lower, group, word, end)
            if asked.maxima:
                put(upper, group, ~word, end)
    return found


@inlined
def _close(asked, state, lower, upper, group, rows, found):
    """A base interval of a group is complete: hand out the interval before it if it differs."""
    _aggregate(asked, state, lower, upper, group, state.fresh)
    held = state.held[group] == 1
    same = held
    if held:
        for place in range(WORDS):
            if state.words[group, place] != state.fresh[place]:
                same = False
    if same:
        return found
    empty = state.fresh[COUNT] == 0
    was_empty = state.words[group, COUNT] == 0
    for place in range(len(state.changes)):
        changed = state.words[group, place] != state.fresh[place]
        if place == SUM and state.words[group, HIGH] != state.fresh[HIGH]:
            changed = True
        if place != COUNT and empty != was_empty:
            changed = True
        if changed or not held:
            state.changes[place] += 1
    if held:
        _write(state, group, rows, found)
        found += 1
    state.held[group] = 1
    state.since[group] = state.last[group]
    for place in range(WORDS):
        state.words[group, place] = state.fresh[place]
    return found


@inlined
def _aggregate(asked, state, lower, upper, group, words):
    """The aggregates from the last event of a group on; what was not asked for stays 0."""
    count = state.active[group]
    # Where COUNT was not asked for, only whether there is any value makes a difference.
    words[COUNT] = count if asked.counts else min(count, 1)
    words[SUM] = words[HIGH] = words[AVG] = words[MIN] = words[MAX] = 0
    if count == 0:
        return
    if asked.sums or asked.means:
        lanes = state.lanes[group]
        if asked.floats:
            total = rounded_float(lanes, state.reach[0], state.reach[1], state.digits)
            if asked.sums:
                words[SUM] = np.float64(total).view(np.int64)
        else:
            if asked.means:
                total = rounded_integer(lanes, state.digits)
            if asked.sums:
                high = lanes[1] + (lanes[0] >> BITS)
                words[SUM] = (high << BITS) | (lanes[0] & MASK)
                words[HIGH] = high >> BITS
        if asked.means:
            mean = total / (count * asked.unit)
            words[AVG] = np.float64(mean).view(np.int64)
    if asked.minima:
        words[MIN] = least(lower, group, state.last[group])
    if asked.maxima:
        words[MAX] = ~least(upper, group, state.last[group])


@inlined
def _write(state, group, rows, row):
    rows.group[row] = group
    rows.start[row] = state.since[group]
    rows.end[row] = state.last[group]
    for place in range(WORDS):
        rows.words[place, row] = state.words[group, place]


@cached
def _flush(state, rows):
    found = 0
    for group in range(len(state.held)):
        if state.held[group] == 1:
            _write(state, group, rows, found)
            found += 1
    return found
