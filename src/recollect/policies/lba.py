"""LBA: forget the tuple whose key the partner stream will show least often in the next T arrivals.

How often is what the locality model of the partner stream expects: a share for each time the key is
among its last h tuples, by the column sums of M^T, and a share of its popularity. At most h keys
have a share of the first kind, so the others stand in the tournament of PROB, in the order of their
popularity, and only the few recent ones are valued one by one: O(h) per arrival.

The model is learnt while the stream runs, from counts of keys and of coincidences at each lag, and
fitted anew each time the stream has doubled, or has gone on for long. Until the first fit this is
PROB. T is how many arrivals the partner stream has while as many come in as the buffer holds, about
as long as a tuple is kept, but no more than 8h: beyond that only popularity gains weight. It needs
no window, so windows may be of any kind. (The paper takes the length of the window; ``horizon``
sets that.)

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, section 4.1, algorithm 1.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recollect import counting
from recollect.compiled import inlined
from recollect.counting import add, frequency
from recollect.errors import PolicyError
from recollect.locality.model import fit_from_chance
from recollect.locality.prediction import descendants, predict
from recollect.policies import joint_lba, tournament
from recollect.policies.base import NEWCOMER, Array, Room
from recollect.policies.prob import Prob
from recollect.policies.tournament import (
    NOBODY,
    STREAMS,
    Tournament,
    enter,
    least,
    leave,
    remaining,
)

REACH = 8
"""T is at most so many times h, unless it is given."""
FURTHEST = 100_000
"""The largest T that may be given."""
RARELY = 65_536
"""After so many arrivals the model is fitted again, however long the stream is."""
NOT_STARTED = np.iinfo(np.int64).min

ARRIVALS, SQUARES, NEXT_FIT, MOST, FIRST, HORIZON = range(6)


class State(NamedTuple):
    """What is known of each stream, and a tournament of the keys that are not recent."""

    streams: Array
    counts: Any
    trees: Tournament
    recent: Array
    """By stream: its last keys, the latest first."""
    near: Array
    """By stream: the groups of these keys; a group that has since gone is not to be trusted."""
    coincidences: Array
    """By stream and lag, from 1: how many tuples equal the one before them at this lag."""
    tally: Array
    """By stream: how many ARRIVALS it had, the sum of the SQUARES of the counts of its keys, after
    how many arrivals the NEXT_FIT is due, the MOST tuples that were buffered since the last one,
    the FIRST moment on its clock, and the HORIZON: how far ahead is predicted."""
    by_lag: Array
    """By stream and lag: how many of its next T tuples will descend from the one at this lag."""
    fresh: Array
    """By stream: how many of them will descend from fresh draws."""
    weights: Array
    """By stream and lag: the model. This and the next two only for lifetimes, see ``elba``."""
    grown: Array
    """By stream and horizon up to T: how many tuples will descend from the next one."""
    drawn: Array
    """By stream and horizon up to T: how many will descend from fresh draws."""
    worth: Array
    """By slot: room for the values that are being compared."""
    aging: Array
    """1 if a tuple's remaining lifetime counts, 0 if it is T for all."""

    def crowded(self):
        """Whether it is time to fit a model, or the counts have no room for another key."""
        due = counting.crowded(self.counts)
        for stream in self.streams:
            partner = self.tally[1 - stream]
            due = due or partner[ARRIVALS] >= partner[NEXT_FIT]
        return due

    def tick(self, buffer, arrival):
        """Learn from the partner's arrivals."""
        held = 0
        for stream in self.streams:
            held += buffer.live[stream]
        for stream in self.streams:
            tally = self.tally[stream]
            tally[MOST] = max(tally[MOST], held)
            if tally[FIRST] == NOT_STARTED:
                tally[FIRST] = buffer.clock[stream]
            if stream != arrival.stream:
                _learn(self, buffer, stream, arrival)
        self.tally[arrival.stream, ARRIVALS] += 1

    def admit(self, buffer, slot):
        """If it is the only one with its key, take part, unless the key is a recent one."""
        stream = buffer.stream[slot]
        group = buffer.group[slot]
        if buffer.first[group, stream] == slot:
            key = buffer.key[group]
            weight = np.float64(frequency(self.counts, 1 - stream, key))
            self.trees.weight[slot] = weight
            is_recent = False
            for place in range(_known(self, 1 - stream)):
                if self.recent[1 - stream, place] == key:
                    self.near[1 - stream, place] = group
                    is_recent = True
            if not is_recent:
                enter(self.trees, buffer, slot, weight)

    def forget(self, buffer, slot):
        """Make room for the next one with the same key."""
        stream = buffer.stream[slot]
        if buffer.first[buffer.group[slot], stream] != slot:
            return
        heir = buffer.next[slot]
        takes_part = _takes_part(self, stream, slot)
        if takes_part:
            leave(self.trees, buffer, slot)
        if heir >= 0:
            self.trees.weight[heir] = self.trees.weight[slot]
            if takes_part:
                enter(self.trees, buffer, heir, self.trees.weight[heir])

    def victim(self, buffer, newcomer):
        """Return the tuple with the least value, or the newcomer if that has less."""
        chosen = NOBODY
        for stream in self.streams:
            chosen = _least_alone(self, buffer, stream, chosen)
            chosen = _least_recent(self, buffer, stream, chosen)
        return NEWCOMER if _worth_of(self, buffer, newcomer) < self.worth[chosen] else chosen


@inlined
def _takes_part(state, stream, slot):
    """Whether a tuple is in the tournament: the oldest of a key that is not recent."""
    winner = state.trees.winner
    return winner[stream, winner.shape[1] // 2 + slot] != NOBODY


@inlined
def _known(state, stream):
    """How many keys of a stream are remembered as recent."""
    return min(state.tally[stream, ARRIVALS], state.recent.shape[1])


@inlined
def _recent_slot(state, buffer, stream, place):
    """The oldest tuple of a stream with the key at a place of the partner's recent ones."""
    group = state.near[1 - stream, place]
    if (
        group >= 0
        and buffer.population[group, stream] > 0
        and buffer.key[group] == state.recent[1 - stream, place]
    ):
        return buffer.first[group, stream]
    return NOBODY


@inlined
def _learn(state, buffer, stream, arrival):
    """Enter an arrival of the partner of a stream into the statistics."""
    came, key = arrival.stream, arrival.key
    recent, near = state.recent[came], state.near[came]
    last = len(recent) - 1
    known = _known(state, came)
    for place in range(known):
        if recent[place] == key:
            state.coincidences[came, place] += 1
    state.tally[came, SQUARES] += 2 * frequency(state.counts, came, key) + 1
    add(state.counts, came, key)

    # The key at the last place is no longer recent, unless it is also at another.
    slot = _recent_slot(state, buffer, stream, last) if known > last else NOBODY
    leaving = recent[last]
    for place in range(last, 0, -1):
        recent[place] = recent[place - 1]
        near[place] = near[place - 1]
        if recent[place] == leaving:
            slot = NOBODY
    recent[0] = key
    near[0] = arrival.group
    if slot != NOBODY:
        enter(state.trees, buffer, slot, state.trees.weight[slot])
    if arrival.group >= 0 and buffer.first[arrival.group, stream] >= 0:
        slot = buffer.first[arrival.group, stream]
        state.trees.weight[slot] = np.float64(frequency(state.counts, came, key))
        leave(state.trees, buffer, slot)


@inlined
def _ahead(state, buffer, stream, expires):
    """How many arrivals of the partner a tuple of a stream will yet see, at most T."""
    most = state.tally[1 - stream, HORIZON]
    first = state.tally[stream, FIRST]
    if state.aging[0] == 0 or first == NOT_STARTED:
        return most
    elapsed = max(buffer.clock[stream] - first, 1)
    rate = np.float64(state.tally[1 - stream, ARRIVALS]) / np.float64(elapsed)
    # A tuple that came late may have outlived its window already.
    lifetime = np.float64(max(remaining(buffer, stream, expires), 0))
    return 1 + np.int64(min(lifetime * rate, np.float64(most - 1)))


@inlined
def _popular(state, stream, count, ahead):
    """How many of the next tuples of a stream will descend from fresh draws of a key."""
    arrivals = np.float64(max(state.tally[stream, ARRIVALS], 1))
    fresh = state.fresh[stream] if state.aging[0] == 0 else state.drawn[stream, ahead]
    return fresh * count / arrivals


@inlined
def _copied(state, stream, lag, ahead):
    """How many of the next tuples of a stream will descend from the one at a lag."""
    if state.aging[0] == 0:
        return state.by_lag[stream, lag - 1]
    total = 0.0
    for later in range(lag, min(state.weights.shape[1], ahead + lag - 1) + 1):
        total += state.weights[stream, later - 1] * state.grown[stream, ahead - (later - lag)]
    return total


@inlined
def _value_alone(state, buffer, slot):
    """Set the value of a tuple whose key is not recent."""
    stream = buffer.stream[slot]
    ahead = _ahead(state, buffer, stream, buffer.expires[slot])
    state.worth[slot] = _popular(state, 1 - stream, state.trees.weight[slot], ahead)


@inlined
def _lesser(state, buffer, one, two):
    """The tuple to go first: of less value, of a rarer key, that expires sooner, the older."""
    if two == NOBODY:
        return one
    if state.worth[one] != state.worth[two]:
        return one if state.worth[one] < state.worth[two] else two
    if state.trees.weight[one] != state.trees.weight[two]:
        return one if state.trees.weight[one] < state.trees.weight[two] else two
    left = remaining(buffer, buffer.stream[one], buffer.expires[one])
    other = remaining(buffer, buffer.stream[two], buffer.expires[two])
    return one if (left, buffer.serial[one]) < (other, buffer.serial[two]) else two


@inlined
def _least_alone(state, buffer, stream, chosen):
    """Of a tuple and those of a stream whose keys are not recent: the one to go first."""
    if state.aging[0] == 0:
        slot = least(state.trees, buffer, stream)
        if slot != NOBODY:
            _value_alone(state, buffer, slot)
            chosen = _lesser(state, buffer, slot, chosen)
        return chosen
    for slot in range(len(state.worth)):
        if _takes_part(state, stream, slot):
            _value_alone(state, buffer, slot)
            chosen = _lesser(state, buffer, slot, chosen)
    return chosen


@inlined
def _least_recent(state, buffer, stream, chosen):
    """Of a tuple and those of a stream whose keys are recent: the one to go first."""
    partner = 1 - stream
    for step in range(3):
        for place in range(_known(state, partner)):
            slot = _recent_slot(state, buffer, stream, place)
            if slot == NOBODY:
                continue
            if step == 0:
                _value_alone(state, buffer, slot)
            elif step == 1:  # as often as its key is recent
                ahead = _ahead(state, buffer, stream, buffer.expires[slot])
                state.worth[slot] += _copied(state, partner, place + 1, ahead)
            else:
                chosen = _lesser(state, buffer, slot, chosen)
    return chosen


@inlined
def _worth_of(state, buffer, newcomer):
    """The value of a tuple that is not in the buffer."""
    partner = 1 - newcomer.stream
    ahead = _ahead(state, buffer, newcomer.stream, newcomer.expires)
    count = np.float64(frequency(state.counts, partner, newcomer.key))
    worth = _popular(state, partner, count, ahead)
    for place in range(_known(state, partner)):
        if state.recent[partner, place] == newcomer.key:
            worth += _copied(state, partner, place + 1, ahead)
    return worth


@dataclass(frozen=True)
class Lba(Prob, name="lba"):
    """Forget the tuple that the partner's locality model expects to match least in the next T.

    Parameters
    ----------
    counts, entries
        How keys are counted, as for :class:`~recollect.policies.prob.Prob`.
    h
        How far back the locality model looks.
    warmup
        How many tuples of the partner stream come before the first fit.
    horizon
        T, in arrivals of the partner stream. 0: as many as a tuple is kept for, at most 8h.
    """

    h: int = 50
    warmup: int = 256
    horizon: int = 0

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        super().__post_init__()
        for name, smallest, largest in (
            ("h", 1, 200),
            ("warmup", 1, 2**62),
            ("horizon", 0, FURTHEST),
        ):
            value = getattr(self, name)
            if not smallest <= value <= largest:
                raise PolicyError(
                    f"{self.name}: {name}={value} is not from {smallest} to {largest}"
                )

    @property
    def by_lifetime(self) -> bool:
        """Whether a tuple's remaining lifetime counts."""
        return False

    @property
    def _furthest(self) -> int:
        """The largest T."""
        return self.horizon or REACH * self.h

    def start(self, room: Room) -> Any:
        """See :class:`Policy`."""
        if not room.is_pair:
            counts = self._new_counts(room)
            return joint_lba.start(
                room, counts, self.h, self.warmup, self._furthest, self.by_lifetime
            )
        popular = super().start(room)
        tally = np.zeros((STREAMS, 6), np.int64)
        tally[:, NEXT_FIT] = self.warmup
        tally[:, FIRST] = NOT_STARTED
        tally[:, HORIZON] = 1
        # What an empty model says, only for as far as T is ever looked up.
        ahead = np.arange(self._furthest + 1 if self.by_lifetime else 2, dtype=np.float64)
        return State(
            streams=popular.streams,
            counts=popular.counts,
            trees=popular.trees,
            recent=np.zeros((STREAMS, self.h), np.int64),
            near=np.zeros((STREAMS, self.h), np.int64),
            coincidences=np.zeros((STREAMS, self.h), np.int64),
            tally=tally,
            by_lag=np.zeros((STREAMS, self.h)),
            fresh=np.ones(STREAMS),
            weights=np.zeros((STREAMS, self.h)),
            grown=np.tile(np.minimum(ahead, 1), (STREAMS, 1)),
            drawn=np.tile(ahead, (STREAMS, 1)),
            worth=np.zeros(room.slots),
            aging=np.array([int(self.by_lifetime)]),
        )

    def grow(self, state: Any, room: Room) -> Any:
        """See :class:`Policy`."""
        if not room.is_pair:
            return state  # which has nothing by slot
        trees = tournament.enlarge(state.trees, room.slots)
        return state._replace(trees=trees, worth=np.zeros(room.slots))

    def enlarge(self, state: Any) -> Any:
        """Fit the models that are due, and give the counts more room if they need it."""
        if counting.crowded(state.counts):
            state = state._replace(counts=counting.enlarge(state.counts))
        if isinstance(state, joint_lba.JointState):
            joint_lba.fit_due(state, self.horizon, self._furthest, RARELY)
            return state
        for stream in state.streams:
            partner = state.tally[1 - stream]
            if partner[ARRIVALS] >= partner[NEXT_FIT]:
                self._fit(state, int(stream))
        return state

    def _fit(self, state: State, stream: int) -> None:
        """Fit the model of the partner of a stream."""
        partner = 1 - stream
        tally = state.tally[partner]
        arrivals = int(tally[ARRIVALS])
        chance = int(tally[SQUARES]) / arrivals**2
        model = fit_from_chance(state.coincidences[partner], arrivals, chance)
        # Of all streams in the buffer, so that T is the same time for each of them.
        seen = int(state.tally[state.streams, ARRIVALS].sum())
        kept = int(state.tally[stream, MOST]) * arrivals // max(seen, 1)
        horizon = self.horizon or min(max(kept, 1), self._furthest)
        state.tally[stream, MOST] = 0
        tally[HORIZON] = horizon
        tally[NEXT_FIT] = arrivals + min(arrivals, RARELY)
        if self.by_lifetime:
            grown = descendants(model, self._furthest)
            state.weights[partner] = model.weights
            state.grown[partner] = grown
            state.drawn[partner] = model.b * np.cumsum(grown)
        else:
            prediction = predict(model, horizon)
            state.by_lag[partner] = prediction.by_lag
            state.fresh[partner] = prediction.fresh
