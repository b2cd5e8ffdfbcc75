"""HIST: learn from tuples that leave what a tuple at some distance from its partner stream brings.

It needs no parameters of a law, only that the partner stream moves: along a trend, or as a walk.
What is kept time-invariant is the distance of a value from where the partner stream is now: its
level, on a line laid through its values, or its last value, whichever predicts it better. When a
tuple leaves, its results and its lifetime are entered into a histogram at the distance that it had
when it came. A value is worth the mean of the results divided by the mean of the lifetimes at its
present distance, interpolated between the middles of the buckets; it is worth nothing farther away
than any tuple was when it came, as are those that the partner stream has passed.

Every result is completed by an arrival of one other stream, so there is a histogram for each
stream, join and other stream, and a tuple is worth the sum of what it is worth in its histograms.
Lifetimes are in arrivals of all streams, so that tuples of slower streams are worth as much as they
bring. In a join of more than two streams that is what a tuple brought on average, the third streams
being what they were; an arrival counts once, with however many combinations it completes.

In a join of two streams the distinct values are kept in order, so that few of them need a look.
Elsewhere all buffered tuples are valued anew for every victim: exact and slow. Before the first
histograms the oldest tuple goes. They are in :mod:`~recollect.policies.histograms`, where streams
are in :mod:`~recollect.policies.tracks`.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 6.2.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import hook, inlined
from recollect.errors import PolicyError
from recollect.policies.base import NEWCOMER, Array, Policy, Room
from recollect.policies.histograms import (
    Histograms,
    mean_worth,
    middle_of,
    new_histograms,
    observe,
    worth_at,
)
from recollect.policies.search import by_value
from recollect.policies.search.by_value import ByValue, enter, first_from, leave, new_by_value
from recollect.policies.search.scan import (
    Everywhere,
    find_least,
    let_go,
    take_in,
    worth_of,
)
from recollect.policies.search.tournament import NOBODY
from recollect.policies.shape import column, joins, key_in, other, others, takes_part
from recollect.policies.tracks import POSITION, follow, new_tracks

ARRIVALS, LEFT, COMING = range(3)


@hook
def has_learnt(search, state):
    """Whether enough tuples have left to choose by what they brought."""
    return state.tally[LEFT] >= state.histograms.period[0]


class InOrder(NamedTuple):
    """The search in a join of two streams: among the values at the ends of the buckets."""

    by_value: ByValue

    def take_in(self, state, buffer, slot):
        """See the function of this name, here and below."""
        enter(self.by_value, buffer, slot)

    def let_go(self, state, buffer, slot):  # noqa: D102
        leave(self.by_value, buffer, slot)

    def has_learnt(self, state):  # noqa: D102
        for stream in state.streams:
            if (
                state.histograms.observed[_line(2, 0, stream, 1 - stream)]
                < (state.histograms.period[0])
            ):
                return False
        return True

    def find_least(self, state, buffer, newcomer):  # noqa: D102
        chosen, least = NOBODY, np.inf
        for stream in state.streams:
            chosen, least = _least(self.by_value, state, buffer, stream, chosen, least)
        return NEWCOMER if worth_of(state, buffer, newcomer) < least else chosen


@inlined
def _least(values, state, buffer, stream, chosen, least):
    """Of a tuple with some worth and those of a stream: the one with the least.

    Between the middles of two buckets worth only rises or only falls: the least is at an end. Below
    the first bucket and above the last one all are worth nothing.
    """
    partner = 1 - stream
    line = _line(2, 0, stream, partner)
    numbers, groups = values.values[stream], values.groups[stream]
    count = values.distinct[stream]
    buckets = state.histograms.heights.shape[1]
    position = state.tracks[partner, POSITION]
    top = state.histograms.edges[line, buckets]
    begin = 0
    for number in range(buckets + 2):
        end = count
        if number < buckets:
            middle = middle_of(state.histograms, line, number)
            end = max(begin, first_from(numbers, count, middle + position))
        elif number == buckets:
            end = max(begin, first_from(numbers, count, top + position))
            if end < count and _distance(state, partner, numbers[end]) <= top:
                end += 1
        for place in (begin, end - 1):
            if begin < end:
                distance = _distance(state, partner, numbers[place])
                worth = worth_at(state.histograms, line, distance)
                if worth < least:
                    chosen, least = buffer.first[groups[place], stream], worth
        begin = end
    return chosen, least


class State(NamedTuple):
    """Where the streams are, and what tuples brought by their distance from there."""

    streams: Array
    tally: Array
    """How many ARRIVALS there were, how many tuples LEFT the buffer, which stream is COMING."""
    tracks: Array
    """By stream in each join: where its keys are."""
    histograms: Histograms
    """By join, stream and other stream: what tuples of the stream brought."""
    results: Array
    """By slot, join and place of the other stream there: the results of the tuple so far."""
    since: Array
    """By slot: how many arrivals there were when the tuple came."""
    entered: Array
    """As ``results``: the distance at which it came."""
    search: Any

    def arrive(self, buffer, arrival):
        """See where the stream is now."""
        self.tally[ARRIVALS] += 1
        self.tally[COMING] = arrival.stream
        for join in range(joins(buffer.shape)):
            if takes_part(buffer.shape, arrival, join):
                number = column(buffer.shape, join, arrival.stream)
                follow(self.tracks[number], np.float64(key_in(buffer.shape, arrival, join)))

    def match_in(self, buffer, slot, join):
        """Count a result."""
        stream = buffer.stream[slot]
        for place in range(others(buffer.shape, join, stream)):
            if other(buffer.shape, join, stream, place) == self.tally[COMING]:
                self.results[slot, join, place] += 1

    def admit(self, buffer, slot):
        """Note how a tuple begins."""
        shape, stream = buffer.shape, buffer.stream[slot]
        take_in(self.search, self, buffer, slot)
        self.since[slot] = self.tally[ARRIVALS]
        for join in range(joins(shape)):
            group = buffer.group[slot, join]
            if group < 0:
                continue
            for place in range(others(shape, join, stream)):
                partner = column(shape, join, other(shape, join, stream, place))
                self.results[slot, join, place] = 0
                self.entered[slot, join, place] = _distance(self, partner, buffer.key[group])

    def forget(self, buffer, slot):
        """Learn from what a tuple brought."""
        shape, stream = buffer.shape, buffer.stream[slot]
        let_go(self.search, self, buffer, slot)
        self.tally[LEFT] += 1
        lifetime = np.float64(max(self.tally[ARRIVALS] - self.since[slot], 1))
        for join in range(joins(shape)):
            if buffer.group[slot, join] < 0:
                continue
            for place in range(others(shape, join, stream)):
                partner = other(shape, join, stream, place)
                observe(
                    self.histograms, _line(_streams(self, shape), join, stream, partner),
                    self.entered[slot, join, place], self.results[slot, join, place], lifetime,
                )  # fmt: skip

    def victim(self, buffer, newcomer):
        """Return the tuple that is worth least, or the newcomer if that is worth less."""
        if has_learnt(self.search, self):
            return find_least(self.search, self, buffer, newcomer)
        chosen = NOBODY
        for stream in self.streams:
            slot = buffer.oldest[stream]
            if slot >= 0 and (chosen == NOBODY or buffer.serial[slot] < buffer.serial[chosen]):
                chosen = slot
        return chosen

    def worth(self, buffer, slot):
        """What a buffered tuple brings per arrival."""
        worth = 0.0
        for join in range(joins(buffer.shape)):
            group = buffer.group[slot, join]
            if group >= 0:
                worth += _worth_in(self, buffer.shape, join, buffer.stream[slot], buffer.key[group])
        return worth

    def worth_of(self, buffer, newcomer):
        """What the arriving tuple brings per arrival."""
        worth = 0.0
        for join in range(joins(buffer.shape)):
            if takes_part(buffer.shape, newcomer, join):
                key = key_in(buffer.shape, newcomer, join)
                worth += _worth_in(self, buffer.shape, join, newcomer.stream, key)
        return worth


@inlined
def _streams(state, shape):
    return len(state.tracks) // joins(shape)


@inlined
def _line(streams, join, stream, partner):
    """The number of a histogram."""
    return (join * streams + stream) * streams + partner


@inlined
def _distance(state, partner, key):
    return np.float64(key) - state.tracks[partner, POSITION]


@inlined
def _worth_in(state, shape, join, stream, key):
    """What a tuple of a stream with a key brings in a join per arrival."""
    worth = 0.0
    for place in range(others(shape, join, stream)):
        partner = other(shape, join, stream, place)
        line = _line(_streams(state, shape), join, stream, partner)
        if state.histograms.observed[line] < state.histograms.period[0]:
            worth += mean_worth(state.histograms, line)
        else:
            distance = _distance(state, column(shape, join, partner), key)
            worth += worth_at(state.histograms, line, distance)
    return worth


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
        count, streams = len(room.joins), room.stream_count
        met = max(map(len, room.joins)) - 1
        return State(
            streams=np.array(room.streams, np.int64),
            tally=np.zeros(3, np.int64),
            tracks=new_tracks(count * streams),
            histograms=new_histograms(
                count * streams * streams, self.buckets, self.period, self.decay
            ),
            results=np.zeros((room.slots, count, met), np.int64),
            since=np.zeros(room.slots, np.int64),
            entered=np.zeros((room.slots, count, met)),
            search=InOrder(new_by_value(room.slots)) if room.is_pair else Everywhere(),
        )

    def grow(self, state: Any, room: Room) -> Any:
        """See :class:`Policy`."""
        larger: dict[str, Any] = {}
        for name in ("results", "since", "entered"):
            old = getattr(state, name)
            larger[name] = np.zeros((room.slots, *old.shape[1:]), old.dtype)
            larger[name][: len(old)] = old
        if room.is_pair:
            values = by_value.with_slots(state.search.by_value, room.slots)
            larger["search"] = InOrder(values)
        return state._replace(**larger)
