"""HIST: learn from tuples that leave what a tuple at some distance from its partner stream brings.

It needs no parameters of a law, only that the partner stream moves: along a trend, or as a walk.
What is kept time-invariant is the distance of a value from where the partner stream is now: its
level, on a line laid through its values, or its last value, whichever foretells it better. When
a tuple leaves, its results and its lifetime are entered into a histogram at the distance that it
had when it came. A value is worth the mean of the results divided by the mean of the lifetimes at
its present distance, interpolated between the middles of the buckets.

The histogram has few buckets. From time to time old observations lose weight, the two neighbours
that differ least become one, and the bucket with the largest sum of squared deviations becomes two.
Before the first histogram the oldest tuple goes.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 6.2.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.errors import PolicyError
from recollect.policies import by_value
from recollect.policies.base import NEWCOMER, Array, Policy, Room
from recollect.policies.by_value import ByValue, enter, first_from, leave, new_by_value
from recollect.policies.tournament import NOBODY, STREAMS

MEMORY = 1 - 1 / 64
"""How much less a value counts than the next one in the line of a stream."""
FADING = 1 / 256
"""The weight of the last error in the mean error of a forecast."""

LEVEL, SLOPE, LAST, LEVEL_ERROR, LAST_ERROR, POSITION = range(6)
WEIGHT, RESULTS, SQUARES, LIFETIME = range(4)
ARRIVALS, OBSERVED = range(2)


class State(NamedTuple):
    """Where the streams are, and what tuples brought by their distance from there."""

    streams: Array
    by_value: ByValue
    track: Array
    """By stream: LEVEL and SLOPE of its line, its LAST value, how far off on average these foretell
    the next one, squared (LEVEL_ERROR, LAST_ERROR), and its POSITION."""
    tally: Array
    """By stream: its ARRIVALS, and how many of its tuples were OBSERVED as they left."""
    edges: Array
    """By stream: where the buckets for its tuples begin, and where the last one ends."""
    buckets: Array
    """By stream and bucket: the WEIGHT of the observations, the mean of their RESULTS and the
    SQUARES of the deviations from that, the mean LIFETIME in arrivals of the partner stream."""
    heights: Array
    """By stream and bucket: what a tuple in the middle of it is worth."""
    results: Array
    """By slot: the results of the tuple so far."""
    since: Array
    """By slot: how many arrivals the partner stream had when the tuple came."""
    entered: Array
    """By slot: the distance at which it came."""
    period: Array
    """After how many observations buckets change."""
    decay: Array

    def tick(self, buffer, arrival):
        """See where the stream is now."""
        _follow(self.track[arrival.stream], self.tally[arrival.stream], np.float64(arrival.key))

    def match(self, buffer, slot):
        """Count a result."""
        self.results[slot] += 1

    def admit(self, buffer, slot):
        """Note how a tuple begins."""
        enter(self.by_value, buffer, slot)
        stream = buffer.stream[slot]
        self.results[slot] = 0
        self.since[slot] = self.tally[1 - stream, ARRIVALS]
        self.entered[slot] = _distance(self, stream, buffer.key[buffer.group[slot]])

    def forget(self, buffer, slot):
        """Learn from what a tuple brought."""
        leave(self.by_value, buffer, slot)
        stream = buffer.stream[slot]
        lifetime = max(self.tally[1 - stream, ARRIVALS] - self.since[slot], 1)
        _observe(self, stream, self.entered[slot], self.results[slot], lifetime)

    def victim(self, buffer, newcomer):
        """Return the tuple that is worth least, or the newcomer if that is worth less."""
        for stream in self.streams:
            if self.tally[stream, OBSERVED] < self.period[0]:
                return _oldest(self, buffer)
        chosen, least = NOBODY, np.inf
        for stream in self.streams:
            chosen, least = _least(self, buffer, stream, chosen, least)
        worth = _worth(self, newcomer.stream, newcomer.key)
        return NEWCOMER if worth < least else chosen


@inlined
def _follow(track, tally, value):
    """Lay a line through the values so far, in which old ones count less and less.

    At first the weights of the last error are those of least squares over all values.
    """
    tally[ARRIVALS] += 1
    n = np.float64(tally[ARRIVALS])
    fading = max(FADING, 1 / n)
    if n == 1:
        track[LEVEL] = track[LAST] = value
    error = value - (track[LEVEL] + track[SLOPE])
    track[LEVEL_ERROR] += fading * (error**2 - track[LEVEL_ERROR])
    track[LAST_ERROR] += fading * ((value - track[LAST]) ** 2 - track[LAST_ERROR])
    track[LEVEL] += track[SLOPE] + error * max(1 - MEMORY**2, 2 * (2 * n - 1) / (n * (n + 1)))
    track[SLOPE] += error * max((1 - MEMORY) ** 2, 6 / (n * (n + 1)))
    track[LAST] = value
    is_line = track[LEVEL_ERROR] < track[LAST_ERROR]
    track[POSITION] = track[LEVEL] if is_line else value


@inlined
def _distance(state, stream, value):
    return np.float64(value) - state.track[1 - stream, POSITION]


@inlined
def _observe(state, stream, distance, results, lifetime):
    """Enter an observation into its bucket; the outer ones are as wide as need be."""
    edges, buckets = state.edges[stream], state.buckets[stream]
    tally = state.tally[stream]
    last = len(buckets) - 1
    if tally[OBSERVED] == 0:
        for number in range(last + 2):
            edges[number] = distance
    edges[0] = min(edges[0], distance)
    edges[last + 1] = max(edges[last + 1], distance)
    number = 0
    while number < last and distance >= edges[number + 1]:
        number += 1
    bucket = buckets[number]
    bucket[WEIGHT] += 1
    deviation = results - bucket[RESULTS]
    bucket[RESULTS] += deviation / bucket[WEIGHT]
    bucket[SQUARES] += deviation * (results - bucket[RESULTS])
    bucket[LIFETIME] += (lifetime - bucket[LIFETIME]) / bucket[WEIGHT]
    tally[OBSERVED] += 1
    first = max(number - 1, 0)
    if tally[OBSERVED] % state.period[0] == 0:
        if tally[OBSERVED] == state.period[0]:
            _lay_out(edges, buckets)
        else:
            _rearrange(edges, buckets, state.decay[0])
        first, number = 0, last
    for changed in range(first, min(number + 1, last) + 1):
        state.heights[stream, changed] = _height(buckets, changed)


@inlined
def _join(one, two):
    """Add a bucket to another one."""
    weight = one[WEIGHT] + two[WEIGHT]
    if weight > 0:
        share = two[WEIGHT] / weight
        apart = two[RESULTS] - one[RESULTS]
        one[SQUARES] += two[SQUARES] + one[WEIGHT] * share * apart**2
        one[RESULTS] += share * apart
        one[LIFETIME] += share * (two[LIFETIME] - one[LIFETIME])
        one[WEIGHT] = weight


@inlined
def _copy(buckets, to, source, share):
    """Let a bucket be another one, with a share of its weight."""
    for part in range(buckets.shape[1]):
        buckets[to, part] = buckets[source, part]
    buckets[to, WEIGHT] *= share
    buckets[to, SQUARES] *= share


@inlined
def _lay_out(edges, buckets):
    """Make buckets of equal width; together they weigh one observation, what is known of all."""
    last = len(buckets) - 1
    for number in range(1, last + 1):
        _join(buckets[0], buckets[number])
        edges[number] = edges[0] + (edges[last + 1] - edges[0]) * number / (last + 1)
    share = 1 / (buckets[0, WEIGHT] * (last + 1))
    for number in range(last, -1, -1):
        _copy(buckets, number, 0, share)


@inlined
def _rearrange(edges, buckets, decay):
    """Let old observations fade, and make one of two neighbours, and two of the most various."""
    last = len(buckets) - 1
    wide = merged = NOBODY
    loss = np.inf
    for number in range(last + 1):
        buckets[number, WEIGHT] *= decay
        buckets[number, SQUARES] *= decay
        if edges[number + 1] - edges[number] >= 2 and (
            wide == NOBODY or buckets[number, SQUARES] > buckets[wide, SQUARES]
        ):
            wide = number
    for number in range(last):
        one, two = buckets[number], buckets[number + 1]
        weight = one[WEIGHT] + two[WEIGHT]
        lost = one[WEIGHT] * two[WEIGHT] * (one[RESULTS] - two[RESULTS]) ** 2
        lost = lost / weight if weight > 0 else 0.0
        if wide not in (number, number + 1) and lost < loss:
            merged, loss = number, lost
    if wide == NOBODY or merged == NOBODY or buckets[wide, SQUARES] <= loss:
        return
    _join(buckets[merged], buckets[merged + 1])
    # Those between move up by one, so that the wide one has a free place beside it.
    for number in range(merged + 1, wide):
        _copy(buckets, number, number + 1, 1.0)
        edges[number] = edges[number + 1]
    for number in range(merged + 1, wide + 1, -1):
        _copy(buckets, number, number - 1, 1.0)
        edges[number] = edges[number - 1]
    first = wide - 1 if merged < wide else wide
    _copy(buckets, first + 1, first, 0.5)
    _copy(buckets, first, first, 0.5)
    end = edges[wide + 1] if merged < wide else edges[wide + 2]
    edges[first + 1] = (edges[first] + end) / 2


@inlined
def _height(buckets, number):
    """Results by lifetime around the middle of a bucket; each neighbour counts half."""
    results = lifetime = 0.0
    for other in range(max(number - 1, 0), min(number + 2, len(buckets))):
        bucket = buckets[other]
        weight = bucket[WEIGHT] if other == number else bucket[WEIGHT] / 2
        results += weight * bucket[RESULTS]
        lifetime += weight * bucket[LIFETIME]
    return results / lifetime if lifetime > 0 else 0.0


@inlined
def _middle(edges, number):
    return (edges[number] + edges[number + 1]) / 2


@inlined
def _worth(state, stream, value):
    """What a tuple with a value brings per arrival of the partner stream."""
    distance = _distance(state, stream, value)
    edges, heights = state.edges[stream], state.heights[stream]
    last = len(heights) - 1
    if distance <= _middle(edges, 0):
        return heights[0]
    for number in range(last):
        low, high = _middle(edges, number), _middle(edges, number + 1)
        if distance < high:
            rise = heights[number + 1] - heights[number]
            return heights[number] + rise * (distance - low) / (high - low)
    return heights[last]


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

    Between the middles of two buckets worth only rises or only falls: the least is at an end.
    """
    values, groups = state.by_value.values[stream], state.by_value.groups[stream]
    count = state.by_value.distinct[stream]
    buckets = state.buckets.shape[1]
    begin = 0
    for number in range(buckets + 1):
        end = count
        if number < buckets:
            middle = _middle(state.edges[stream], number) + state.track[1 - stream, POSITION]
            end = max(begin, first_from(values, count, middle))
        for place in (begin, end - 1):
            if begin < end:
                worth = _worth(state, stream, values[place])
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

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        if not room.is_pair:
            raise PolicyError(
                "hist follows the one partner stream of a tuple, so it is for a join of two"
                " streams; in a workload take prob or clock"
            )
        return State(
            streams=np.array(room.streams, np.int64),
            by_value=new_by_value(room.slots),
            track=np.zeros((STREAMS, 6)),
            tally=np.zeros((STREAMS, 2), np.int64),
            edges=np.zeros((STREAMS, self.buckets + 1)),
            buckets=np.zeros((STREAMS, self.buckets, 4)),
            heights=np.zeros((STREAMS, self.buckets)),
            results=np.zeros(room.slots, np.int64),
            since=np.zeros(room.slots, np.int64),
            entered=np.zeros(room.slots),
            period=np.array([self.period]),
            decay=np.array([self.decay]),
        )

    def grow(self, state: State, room: Room) -> State:
        """See :class:`Policy`."""
        larger = {}
        for name in ("results", "since", "entered"):
            old = getattr(state, name)
            larger[name] = np.zeros(room.slots, old.dtype)
            larger[name][: len(old)] = old
        return state._replace(by_value=by_value.enlarge(state.by_value, room.slots), **larger)
