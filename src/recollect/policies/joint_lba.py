"""LBA and ELBA where a tuple takes part in many joins: its value is the sum over them.

In each join the value of a tuple is how many arrivals with its key the locality models of the
streams that it meets there expect, by geometric mean where there are several of them (see
:mod:`recollect.policies.joint`). A model belongs to the keys of a stream in a join. For every
victim all buffered tuples are valued anew: exact and slow, O(h) for each tuple and stream it meets.

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, section 4.1.
"""

from typing import Any, NamedTuple

import numpy as np

from recollect import counting
from recollect.compiled import inlined
from recollect.counting import add, frequency
from recollect.locality.model import fit_from_chance
from recollect.locality.prediction import descendants, predict
from recollect.policies.base import NEWCOMER, Array, Room, key_in, takes_part
from recollect.policies.tournament import NOBODY, remaining

NOT_STARTED = np.iinfo(np.int64).min
ARRIVALS, SQUARES, NEXT_FIT, MOST, HORIZON = range(5)
SEEN, FIRST = range(2)


class JointState(NamedTuple):
    """What is known of the keys of each stream in each join: ``join * streams + stream``."""

    streams: Array
    partners: Array
    """By join, stream and other stream: whether they meet there."""
    counts: Any
    recent: Array
    """The last keys, the latest first."""
    coincidences: Array
    """By lag, from 1: how many tuples equal the one before them at this lag."""
    tally: Array
    """How many ARRIVALS there were, the sum of the SQUARES of the counts of the keys, after how
    many arrivals the NEXT_FIT is due (0 if no stream of this state meets this one), the MOST tuples
    that meet this stream and were buffered since the last, and the HORIZON of predictions."""
    by_lag: Array
    """How many of the next T tuples will descend from the one at each lag."""
    fresh: Array
    """How many of them will descend from fresh draws."""
    weights: Array
    """The model. This and the next two only for lifetimes, see ``elba``."""
    grown: Array
    """By horizon up to T: how many tuples will descend from the next one."""
    drawn: Array
    """By horizon up to T: how many will descend from fresh draws."""
    clocks: Array
    """By stream: how many arrivals were SEEN, and the FIRST moment on its clock."""
    aging: Array
    """1 if a tuple's remaining lifetime counts, 0 if it is T for all."""

    def crowded(self):
        """Whether it is time to fit a model, or the counts have no room for another key."""
        due = counting.crowded(self.counts)
        for tally in self.tally:
            due = due or (tally[NEXT_FIT] > 0 and tally[ARRIVALS] >= tally[NEXT_FIT])
        return due

    def tick(self, buffer, arrival):
        """Learn from the keys of an arrival."""
        streams = self.partners.shape[1]
        for stream in range(streams):
            if self.clocks[stream, FIRST] == NOT_STARTED:
                self.clocks[stream, FIRST] = buffer.clock[stream]
        self.clocks[arrival.stream, SEEN] += 1
        held = 0
        for stream in self.streams:
            held += buffer.live[stream]
        for column in range(len(self.tally)):
            self.tally[column, MOST] = max(self.tally[column, MOST], held)
        for join in range(len(self.partners)):
            column = join * streams + arrival.stream
            if takes_part(arrival, join) and self.tally[column, NEXT_FIT] > 0:
                _learn(self, column, key_in(arrival, join))

    def victim(self, buffer, newcomer):
        """Return the tuple with the least value, or the newcomer if that has less."""
        chosen = NOBODY
        least, least_left = 0.0, np.int64(0)
        for stream in self.streams:
            slot = buffer.oldest[stream]
            while slot != NOBODY:
                worth = 0.0
                for join in range(len(self.partners)):
                    group = buffer.in_group[slot, join]
                    if group >= 0:
                        key = buffer.key[group]
                        worth += _expected(self, buffer, join, stream, key, buffer.expires[slot])
                left = np.int64(remaining(buffer, stream, buffer.expires[slot]))
                if chosen == NOBODY or (worth, left, buffer.serial[slot]) < (
                    least,
                    least_left,
                    buffer.serial[chosen],
                ):
                    chosen, least, least_left = slot, worth, left
                slot = buffer.newer[slot]
        worth = 0.0
        for join in range(len(self.partners)):
            if takes_part(newcomer, join):
                key = key_in(newcomer, join)
                worth += _expected(self, buffer, join, newcomer.stream, key, newcomer.expires)
        return NEWCOMER if worth < least else chosen


@inlined
def _learn(state, column, key):
    recent, tally = state.recent[column], state.tally[column]
    for place in range(min(tally[ARRIVALS], len(recent))):
        if recent[place] == key:
            state.coincidences[column, place] += 1
    for place in range(len(recent) - 1, 0, -1):
        recent[place] = recent[place - 1]
    recent[0] = key
    tally[SQUARES] += 2 * frequency(state.counts, column, key) + 1
    add(state.counts, column, key)
    tally[ARRIVALS] += 1


@inlined
def _expected(state, buffer, join, stream, key, expires):
    """How many arrivals with a key are to be expected where a stream meets others in a join."""
    streams = state.partners.shape[1]
    product = 1.0
    others = 0
    for other in range(streams):
        if state.partners[join, stream, other] != 0:
            product *= _from_one(state, buffer, join * streams + other, stream, key, expires)
            others += 1
    return product if others == 1 else product ** (1.0 / others)


@inlined
def _from_one(state, buffer, column, stream, key, expires):
    tally = state.tally[column]
    ahead = tally[HORIZON]
    fresh = state.fresh[column]
    if state.aging[0] != 0:
        now = np.float64(buffer.clock[stream])
        elapsed = max(now - np.float64(state.clocks[stream, FIRST]), 1.0)
        rate = np.float64(tally[ARRIVALS]) / elapsed
        left = max(np.float64(expires) - now, 0.0)
        ahead = 1 + np.int64(min(left * rate, np.float64(ahead - 1)))
        fresh = state.drawn[column, ahead]
    count = np.float64(frequency(state.counts, column, key))
    worth = fresh * count / np.float64(max(tally[ARRIVALS], 1))
    for place in range(min(tally[ARRIVALS], state.recent.shape[1])):
        if state.recent[column, place] != key:
            continue
        if state.aging[0] == 0:
            worth += state.by_lag[column, place]
            continue
        for later in range(place, min(state.weights.shape[1], ahead + place)):
            worth += state.weights[column, later] * state.grown[column, ahead - (later - place)]
    return worth


def start(room: Room, counts: Any, h: int, warmup: int, furthest: int, aging: bool) -> JointState:
    """Make the state of an empty buffer."""
    partners = room.partners()
    joins, streams = partners.shape[:2]
    columns = joins * streams
    heard = partners[:, list(room.streams)].any(axis=1).reshape(columns)
    tally = np.zeros((columns, 5), np.int64)
    tally[heard, NEXT_FIT] = warmup
    tally[:, HORIZON] = 1
    clocks = np.zeros((streams, 2), np.int64)
    clocks[:, FIRST] = NOT_STARTED
    # What an empty model says, only for as far as T is ever looked up.
    ahead = np.arange(furthest + 1 if aging else 2, dtype=np.float64)
    return JointState(
        streams=np.array(room.streams, np.int64),
        partners=partners,
        counts=counts,
        recent=np.zeros((columns, h), np.int64),
        coincidences=np.zeros((columns, h), np.int64),
        tally=tally,
        by_lag=np.zeros((columns, h)),
        fresh=np.ones(columns),
        weights=np.zeros((columns, h)),
        grown=np.tile(np.minimum(ahead, 1), (columns, 1)),
        drawn=np.tile(ahead, (columns, 1)),
        clocks=clocks,
        aging=np.array([int(aging)]),
    )


def fit_due(state: JointState, horizon: int, furthest: int, rarely: int) -> None:
    """Fit the models that are due; ``horizon`` is T, or 0 for as long as tuples are kept."""
    seen = int(state.clocks[state.streams, SEEN].sum())
    for column, tally in enumerate(state.tally):
        arrivals = int(tally[ARRIVALS])
        if not 0 < tally[NEXT_FIT] <= arrivals:
            continue
        kept = int(tally[MOST]) * arrivals // max(seen, 1)
        model = fit_from_chance(
            state.coincidences[column], arrivals, int(tally[SQUARES]) / arrivals**2
        )
        tally[MOST] = 0
        tally[HORIZON] = horizon or min(max(kept, 1), furthest)
        tally[NEXT_FIT] = arrivals + min(arrivals, rarely)
        if state.aging[0]:
            grown = descendants(model, furthest)
            state.weights[column] = model.weights
            state.grown[column] = grown
            state.drawn[column] = model.b * np.cumsum(grown)
        else:
            prediction = predict(model, int(tally[HORIZON]))
            state.by_lag[column] = prediction.by_lag
            state.fresh[column] = prediction.fresh
