"""HIST: learn from tuples that leave what a tuple at some distance from its partner stream brings.

It needs no parameters of a law, only that the partner stream moves: along a trend, or as a walk.
What is kept time-invariant is the distance of a value from where the partner stream is now: its
level, on a line laid through its values, or its last value, whichever foretells it better. When
a tuple leaves, its results and its lifetime are entered into a histogram at the distance that it
had when it came. A value is worth the mean of the results divided by the mean of the lifetimes at
its present distance, interpolated between the middles of the buckets; it is worth nothing farther
away than any tuple was when it came, as are those that the partner stream has passed.

The histograms are in :mod:`~recollect.policies.histograms`, where streams are in
:mod:`~recollect.policies.tracks`. Before the first histogram the oldest tuple goes. Where tuples
take part in several joins, or in joins of several streams, see
:mod:`recollect.policies.joint_hist`.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 6.2.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.errors import PolicyError
from recollect.policies import by_value, joint_hist
from recollect.policies.base import NEWCOMER, Array, Policy, Room
from recollect.policies.by_value import ByValue, enter, first_from, leave, new_by_value
from recollect.policies.histograms import (
    Histograms,
    middle_of,
    new_histograms,
    observe,
    worth_at,
)
from recollect.policies.tournament import NOBODY, STREAMS
from recollect.policies.tracks import POSITION, SEEN, follow, new_tracks


class State(NamedTuple):
    """Where the streams are, and what tuples brought by their distance from there."""

    streams: Array
    by_value: ByValue
    tracks: Array
    """By stream: where it is."""
    histograms: Histograms
    """By stream: what its tuples brought; lifetimes are in arrivals of both, so that tuples of the
    slower stream are worth as much as they bring."""
    results: Array
    """By slot: the results of the tuple so far."""
    since: Array
    """By slot: how many arrivals there were when the tuple came."""
    entered: Array
    """By slot: the distance at which it came."""

    def tick(self, buffer, arrival):
        """See where the stream is now."""
        follow(self.tracks[arrival.stream], np.float64(arrival.key))

    def match(self, buffer, slot):
        """Count a result."""
        self.results[slot] += 1

    def admit(self, buffer, slot):
        """Note how a tuple begins."""
        enter(self.by_value, buffer, slot)
        stream = buffer.stream[slot]
        self.results[slot] = 0
        self.since[slot] = _arrivals(self)
        self.entered[slot] = _distance(self, stream, buffer.key[buffer.group[slot]])

    def forget(self, buffer, slot):
        """Learn from what a tuple brought."""
        leave(self.by_value, buffer, slot)
        stream = buffer.stream[slot]
        lifetime = max(_arrivals(self) - self.since[slot], 1.0)
        observe(self.histograms, stream, self.entered[slot], self.results[slot], lifetime)

    def victim(self, buffer, newcomer):
        """Return the tuple that is worth least, or the newcomer if that is worth less."""
        for stream in self.streams:
            if self.histograms.observed[stream] < self.histograms.period[0]:
                return _oldest(self, buffer)
        chosen, least = NOBODY, np.inf
        for stream in self.streams:
            chosen, least = _least(self, buffer, stream, chosen, least)
        distance = _distance(self, newcomer.stream, newcomer.key)
        worth = worth_at(self.histograms, newcomer.stream, distance)
        return NEWCOMER if worth < least else chosen


@inlined
def _arrivals(state):
    return state.tracks[0, SEEN] + state.tracks[1, SEEN]


@inlined
def _distance(state, stream, value):
    return np.float64(value) - state.tracks[1 - stream, POSITION]


@inlined
def _oldest(state, buffer):
    chosen = NOBODY
    for stream in state.streams:
        slot = buffer.oldest[stream]
        if slot >= 0 and (chosen == NOBODY or buffer.serial[slot] < buffer.serial[chosen]):
            chosen = slot
    return chosen


@inlined
def _least(state, buffer, stream, chosen, least):
    """Of a tuple with some worth and those of a stream: the one with the least.

    Between the middles of two buckets worth only rises or only falls: the least is at an end. Below
    the first bucket and above the last one all are worth nothing.
    """
    values, groups = state.by_value.values[stream], state.by_value.groups[stream]
    count = state.by_value.distinct[stream]
    buckets = state.histograms.heights.shape[1]
    position, top = state.tracks[1 - stream, POSITION], state.histograms.edges[stream, buckets]
    begin = 0
    for number in range(buckets + 2):
        end = count
        if number < buckets:
            middle = middle_of(state.histograms, stream, number)
            end = max(begin, first_from(values, count, middle + position))
        elif number == buckets:
            end = max(begin, first_from(values, count, top + position))
            if end < count and _distance(state, stream, values[end]) <= top:
                end += 1
        for place in (begin, end - 1):
            if begin < end:
                distance = _distance(state, stream, values[place])
                worth = worth_at(state.histograms, stream, distance)
                if worth < least:
                    chosen, least = buffer.first[groups[place], stream], worth
        begin = end
    return chosen, least


@dataclass(frozen=True)
class Hist(Policy, name="hist"):
    """Forget the tuple at whose distance from the partner stream tuples have brought least.

    Parameters
    ----------
    buckets
        How many a histogram has.
    period
        After how many tuples that left the buckets change.
    decay
        What then remains of the weight of what was observed.
    """

    thorough = True

    buckets: int = 32
    period: int = 64
    decay: float = 0.95

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        for name, smallest, largest in (
            ("buckets", 3, 1000),
            ("period", 1, 2**40),
            ("decay", 0.01, 1.0),
        ):
            value = getattr(self, name)
            if not smallest <= value <= largest:
                raise PolicyError(f"hist: {name}={value} is not from {smallest} to {largest}")

    def start(self, room: Room) -> Any:
        """See :class:`Policy`."""
        if not room.is_pair:
            return joint_hist.start(room, self.buckets, self.period, self.decay)
        return State(
            streams=np.array(room.streams, np.int64),
            by_value=new_by_value(room.slots),
            tracks=new_tracks(STREAMS),
            histograms=new_histograms(STREAMS, self.buckets, self.period, self.decay),
            results=np.zeros(room.slots, np.int64),
            since=np.zeros(room.slots),
            entered=np.zeros(room.slots),
        )

    def grow(self, state: Any, room: Room) -> Any:
        """See :class:`Policy`."""
        larger: dict[str, Any] = {}
        for name in ("results", "since", "entered"):
            old = getattr(state, name)
            larger[name] = np.zeros((room.slots, *old.shape[1:]), old.dtype)
            larger[name][: len(old)] = old
        if room.is_pair:
            larger["by_value"] = by_value.enlarge(state.by_value, room.slots)
        return state._replace(**larger)
