"""HIST where a tuple takes part in many joins: its worth is the sum over them.

Every result that a buffered tuple gives is completed by an arrival of one other stream. So there is
a histogram for each stream, join and other stream: the results that tuples of the stream gave in
that join with arrivals of that other stream, by the distance that they had from where its keys in
that join were when they came. A tuple is worth the sum of what it is worth in its histograms. In
a join of more than two streams that is what it brought on average, the third streams being what
they were. As everywhere, an arrival counts once, with however many combinations it completes.

Lifetimes are in arrivals of all streams, so that all worths are in the same unit. A histogram with
too few observations to be laid out says the same at every distance. Before as many tuples have left
the oldest goes. For every victim all buffered tuples are valued anew: exact and slow. Of equal
worths the older goes first.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 6.2.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.policies.base import NEWCOMER, Array, Room, key_in, takes_part
from recollect.policies.histograms import (
    Histograms,
    mean_worth,
    new_histograms,
    observe,
    worth_at,
)
from recollect.policies.tournament import NOBODY
from recollect.policies.tracks import POSITION, follow, new_tracks

ARRIVALS, LEFT, COMING = range(3)


class JointState(NamedTuple):
    """Where the keys of each stream in each join are, and what tuples brought by their distance."""

    streams: Array
    partners: Array
    """By join, stream and other stream: whether they meet there."""
    tally: Array
    """How many ARRIVALS there were, how many tuples LEFT the buffer, which stream is COMING."""
    tracks: Array
    """By join and stream: where its keys are."""
    histograms: Histograms
    """By join, stream and other stream."""
    results: Array
    """By slot, join and other stream: the results so far."""
    since: Array
    """By slot: how many arrivals there were when the tuple came."""
    entered: Array
    """By slot, join and other stream: the distance at which it came."""

    def tick(self, buffer, arrival):
        """See where the keys of the stream are now."""
        self.tally[ARRIVALS] += 1
        self.tally[COMING] = arrival.stream
        for join in range(len(self.partners)):
            if takes_part(arrival, join):
                follow(self.tracks[join, arrival.stream], np.float64(key_in(arrival, join)))

    def match_in(self, buffer, slot, join):
        """Count a result."""
        self.results[slot, join, self.tally[COMING]] += 1

    def admit(self, buffer, slot):
        """Note how a tuple begins."""
        self.since[slot] = self.tally[ARRIVALS]
        for join in range(len(self.partners)):
            group = buffer.in_group[slot, join]
            if group < 0:
                continue
            for other in range(self.partners.shape[1]):
                self.results[slot, join, other] = 0
                self.entered[slot, join, other] = _distance(self, join, other, buffer.key[group])

    def forget(self, buffer, slot):
        """Learn from what a tuple brought."""
        self.tally[LEFT] += 1
        stream = buffer.stream[slot]
        lifetime = np.float64(max(self.tally[ARRIVALS] - self.since[slot], 1))
        for join in range(len(self.partners)):
            if buffer.in_group[slot, join] < 0:
                continue
            for other in range(self.partners.shape[1]):
                if self.partners[join, stream, other] != 0:
                    observe(
                        self.histograms, _line(self, join, stream, other),
                        self.entered[slot, join, other], self.results[slot, join, other], lifetime,
                    )  # fmt: skip

    def victim(self, buffer, newcomer):
        """Return the tuple that is worth least, or the newcomer if that is worth less."""
        learnt = self.tally[LEFT] >= self.histograms.period[0]
        chosen, least = NOBODY, 0.0
        for stream in self.streams:
            slot = buffer.oldest[stream]
            while slot != NOBODY:
                worth = _worth(self, buffer, slot) if learnt else 0.0
                if chosen == NOBODY or (worth, buffer.serial[slot]) < (
                    least,
                    buffer.serial[chosen],
                ):
                    chosen, least = slot, worth
                slot = buffer.newer[slot] if learnt else NOBODY
        if not learnt:
            return chosen
        worth = 0.0
        for join in range(len(self.partners)):
            if takes_part(newcomer, join):
                worth += _worth_in(self, join, newcomer.stream, key_in(newcomer, join))
        return NEWCOMER if worth < least else chosen


@inlined
def _line(state, join, stream, other):
    streams = state.partners.shape[1]
    return (join * streams + stream) * streams + other


@inlined
def _distance(state, join, other, key):
    return np.float64(key) - state.tracks[join, other, POSITION]


@inlined
def _worth(state, buffer, slot):
    """What a buffered tuple brings per arrival."""
    worth = 0.0
    for join in range(len(state.partners)):
        group = buffer.in_group[slot, join]
        if group >= 0:
            worth += _worth_in(state, join, buffer.stream[slot], buffer.key[group])
    return worth


@inlined
def _worth_in(state, join, stream, key):
    """What a tuple of a stream with a key brings in a join per arrival."""
    worth = 0.0
    for other in range(state.partners.shape[1]):
        if state.partners[join, stream, other] != 0:
            line = _line(state, join, stream, other)
            if state.histograms.observed[line] < state.histograms.period[0]:
                worth += mean_worth(state.histograms, line)
            else:
                distance = _distance(state, join, other, key)
                worth += worth_at(state.histograms, line, distance)
    return worth


def start(room: Room, buckets: int, period: int, decay: float) -> JointState:
    """Make the state of an empty buffer."""
    partners = room.partners()
    joins, streams = partners.shape[:2]
    return JointState(
        streams=np.array(room.streams, np.int64),
        partners=partners,
        tally=np.zeros(3, np.int64),
        tracks=new_tracks(joins * streams).reshape(joins, streams, -1),
        histograms=new_histograms(joins * streams * streams, buckets, period, decay),
        results=np.zeros((room.slots, joins, streams), np.int64),
        since=np.zeros(room.slots, np.int64),
        entered=np.zeros((room.slots, joins, streams)),
    )
