"""LBA: forget the tuple whose key the partner streams will show least often in the next T arrivals.

How often is what the locality model of the partner stream expects: a share for each time the key is
among its last h tuples, by the column sums of M^T, and a share of its popularity. A model belongs
to the keys of a stream in a join. Where a tuple meets several streams in a join, its value is the
geometric mean, and where it takes part in several joins, the sum, as for PROB.

The model is learnt while the stream runs, from counts of keys and of coincidences at each lag, and
fitted anew each time the stream has doubled, or has gone on for long. Until the first fit this is
PROB. T is how many arrivals the partner stream has while as many come in as the buffer holds, about
as long as a tuple is kept, but no more than 8h: beyond that only popularity gains weight. It needs
no window, so windows may be of any kind. (The paper takes the length of the window; ``horizon``
sets that.)

In a join of two streams at most h keys are recent, so the others stand in the tournament of PROB,
in the order of their popularity, and only the few recent ones are valued one by one: O(h) per
arrival. Elsewhere all buffered tuples are valued anew for every victim: exact and slow.

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, section 4.1, algorithm 1.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recollect import counting
from recollect.compiled import hook, inlined
from recollect.counting import add, frequency
from recollect.errors import PolicyError
from recollect.locality.model import fit_from_chance
from recollect.locality.prediction import descendants, predict
from recollect.policies.base import NEWCOMER, Array, Room
from recollect.policies.prob import Prob
from recollect.policies.search import tournament
from recollect.policies.search.scan import (
    Everywhere,
    find_least,
    let_go,
    take_in,
    worth_of,
)
from recollect.policies.search.tournament import (
    NOBODY,
    Tournament,
    enter,
    least,
    leave,
    new_tournament,
    remaining,
)
from recollect.policies.shape import (
    column,
    following,
    joins,
    key_in,
    other,
    others,
    streams,
    takes_part,
)

REACH = 8
"""T is at most so many times h, unless it is given."""
FURTHEST = 100_000
"""The largest T that may be given."""
RARELY = 65_536
"""After so many arrivals the model is fitted again, however long the stream is."""
NOT_STARTED = np.iinfo(np.int64).min

ARRIVALS, SQUARES, NEXT_FIT, MOST, HORIZON = range(5)
SEEN, FIRST = range(2)


@hook
def note(search, state, buffer, stream, arrival):
    """Hear of an arrival of the partner of a stream, before its key becomes the latest."""


class Apart(NamedTuple):
    """The search in a join of two streams: recent keys one by one, the others by popularity."""

    trees: Tournament
    """The oldest tuple of each key that is not recent."""
    near: Array
    """By stream: the groups of its last keys; a group that has since gone is not to be trusted."""
    worth: Array
    """By slot: room for the values that are being compared."""

    def note(self, state, buffer, stream, arrival):
        """Let a key that is no longer recent into the tournament, and take the latest out."""
        came = arrival.stream
        recent, near = state.recent[came], self.near[came]
        last = len(recent) - 1
        slot = NOBODY
        if _known(state, came) > last:  # the key at the last place, unless it is at another, too
            slot = _recent_slot(self, state, buffer, stream, last)
            for place in range(last):
                if recent[place] == recent[last]:
                    slot = NOBODY
        for place in range(last, 0, -1):
            near[place] = near[place - 1]
        near[0] = arrival.group
        if slot != NOBODY:
            enter(self.trees, buffer, slot, self.trees.weight[slot])
        if arrival.group >= 0 and buffer.first[arrival.group, stream] >= 0:
            slot = buffer.first[arrival.group, stream]
            count = frequency(state.counts, came, arrival.key)
            self.trees.weight[slot] = np.float64(count)
            leave(self.trees, buffer, slot)

    def take_in(self, state, buffer, slot):
        """If it is the only one with its key, take part, unless the key is a recent one."""
        stream, group = buffer.stream[slot], buffer.group[slot, 0]
        if buffer.first[group, stream] != slot:
            return
        partner, key = 1 - stream, buffer.key[group]
        weight = np.float64(frequency(state.counts, partner, key))
        self.trees.weight[slot] = weight
        is_recent = False
        for place in range(_known(state, partner)):
            if state.recent[partner, place] == key:
                self.near[partner, place] = group
                is_recent = True
        if not is_recent:
            enter(self.trees, buffer, slot, weight)

    def let_go(self, state, buffer, slot):
        """Make room for the next one with the same key."""
        stream = buffer.stream[slot]
        if buffer.first[buffer.group[slot, 0], stream] != slot:
            return
        heir = following(buffer, slot, 0)
        takes_part = _takes_part(self, stream, slot)
        if takes_part:
            leave(self.trees, buffer, slot)
        if heir >= 0:
            self.trees.weight[heir] = self.trees.weight[slot]
            if takes_part:
                enter(self.trees, buffer, heir, self.trees.weight[heir])

    def find_least(self, state, buffer, newcomer):
        """See the function of this name."""
        chosen = NOBODY
        for stream in state.streams:
            chosen = _least_alone(self, state, buffer, stream, chosen)
            chosen = _least_recent(self, state, buffer, stream, chosen)
        return NEWCOMER if worth_of(state, buffer, newcomer) < self.worth[chosen] else chosen


@inlined
def _takes_part(search, stream, slot):
    """Whether a tuple is in the tournament: the oldest of a key that is not recent."""
    winner = search.trees.winner
    return winner[stream, winner.shape[1] // 2 + slot] != NOBODY


@inlined
def _known(state, column):
    """How many keys of a column are remembered as recent."""
    return min(state.tally[column, ARRIVALS], state.recent.shape[1])


@inlined
def _recent_slot(search, state, buffer, stream, place):
    """The oldest tuple of a stream with the key at a place of the partner's recent ones."""
    group = search.near[1 - stream, place]
    if (
        group >= 0
        and buffer.population[group, stream] > 0
        and buffer.key[group] == state.recent[1 - stream, place]
    ):
        return buffer.first[group, stream]
    return NOBODY


@inlined
def _value_alone(search, state, buffer, slot):
    """Set the value of a tuple whose key is not recent."""
    stream = buffer.stream[slot]
    ahead = _ahead(state, buffer, 1 - stream, stream, buffer.expires[slot])
    search.worth[slot] = _popular(state, 1 - stream, search.trees.weight[slot], ahead)


@inlined
def _lesser(search, buffer, one, two):
    """The tuple to go first: of less value, of a rarer key, that expires sooner, the older."""
    if two == NOBODY:
        return one
    if search.worth[one] != search.worth[two]:
        return one if search.worth[one] < search.worth[two] else two
    if search.trees.weight[one] != search.trees.weight[two]:
        return one if search.trees.weight[one] < search.trees.weight[two] else two
    left = remaining(buffer, buffer.stream[one], buffer.expires[one])
    rest = remaining(buffer, buffer.stream[two], buffer.expires[two])
    return one if (left, buffer.serial[one]) < (rest, buffer.serial[two]) else two


@inlined
def _least_alone(search, state, buffer, stream, chosen):
    """Of a tuple and those of a stream whose keys are not recent: the one to go first."""
    if state.aging[0] == 0:
        slot = least(search.trees, buffer, stream)
        if slot != NOBODY:
            _value_alone(search, state, buffer, slot)
            chosen = _lesser(search, buffer, slot, chosen)
        return chosen
    for slot in range(len(search.worth)):
        if _takes_part(search, stream, slot):
            _value_alone(search, state, buffer, slot)
            chosen = _lesser(search, buffer, slot, chosen)
    return chosen


@inlined
def _least_recent(search, state, buffer, stream, chosen):
    """Of a tuple and those of a stream whose keys are recent: the one to go first."""
    partner = 1 - stream
    for step in range(3):
        for place in range(_known(state, partner)):
            slot = _recent_slot(search, state, buffer, stream, place)
            if slot == NOBODY:
                continue
            if step == 0:
                _value_alone(search, state, buffer, slot)
            elif step == 1:  # as often as its key is recent
                ahead = _ahead(state, buffer, partner, stream, buffer.expires[slot])
                search.worth[slot] += _copied(state, partner, place + 1, ahead)
            else:
                chosen = _lesser(search, buffer, slot, chosen)
    return chosen


class State(NamedTuple):
    """What is known of the keys of each stream in each join: its *column*."""

    streams: Array
    counts: Any
    recent: Array
    """By column: the last keys, the latest first."""
    coincidences: Array
    """By column and lag, from 1: how many tuples equal the one before them at this lag."""
    tally: Array
    """By column: how many ARRIVALS there were, the sum of the SQUARES of the counts of its keys,
    after how many arrivals the NEXT_FIT is due (0 if no stream of this state meets it), the MOST
    tuples that were buffered since the last one, and the HORIZON: how far ahead is predicted."""
    by_lag: Array
    """By column and lag: how many of its next T tuples will descend from the one at this lag."""
    fresh: Array
    """By column: how many of them will descend from fresh draws."""
    weights: Array
    """By column and lag: the model. This and the next two only for lifetimes, see ``elba``."""
    grown: Array
    """By column and horizon up to T: how many tuples will descend from the next one."""
    drawn: Array
    """By column and horizon up to T: how many will descend from fresh draws."""
    clocks: Array
    """By stream: how many arrivals were SEEN, and the FIRST moment on its clock."""
    aging: Array
    """1 if a tuple's remaining lifetime counts, 0 if it is T for all."""
    search: Any

    def crowded(self):
        """Whether it is time to fit a model, or the counts have no room for another key."""
        due = counting.crowded(self.counts)
        for tally in self.tally:
            due = due or (tally[NEXT_FIT] > 0 and tally[ARRIVALS] >= tally[NEXT_FIT])
        return due

    def arrive(self, buffer, arrival):
        """Learn from the keys of an arrival."""
        shape = buffer.shape
        for stream in range(streams(shape)):
            if self.clocks[stream, FIRST] == NOT_STARTED:
                self.clocks[stream, FIRST] = buffer.clock[stream]
        self.clocks[arrival.stream, SEEN] += 1
        held = 0
        for stream in self.streams:
            held += buffer.live[stream]
        for tally in self.tally:
            tally[MOST] = max(tally[MOST], held)
        for join in range(joins(shape)):
            number = column(shape, join, arrival.stream)
            if takes_part(shape, arrival, join) and self.tally[number, NEXT_FIT] > 0:
                _learn(self, buffer, number, join, arrival)

    def admit(self, buffer, slot):
        """See :class:`~recollect.policies.Policy`."""
        take_in(self.search, self, buffer, slot)

    def forget(self, buffer, slot):
        """See :class:`~recollect.policies.Policy`."""
        let_go(self.search, self, buffer, slot)

    def victim(self, buffer, newcomer):
        """Return the tuple with the least value, or the newcomer if that has less."""
        return find_least(self.search, self, buffer, newcomer)

    def worth(self, buffer, slot):
        """The value of a buffered tuple."""
        value = 0.0
        for join in range(joins(buffer.shape)):
            group = buffer.group[slot, join]
            if group >= 0:
                value += _expected(
                    self, buffer, join, buffer.stream[slot], buffer.key[group], buffer.expires[slot]
                )
        return value

    def worth_of(self, buffer, newcomer):
        """The value of a tuple that is not in the buffer."""
        value = 0.0
        for join in range(joins(buffer.shape)):
            if takes_part(buffer.shape, newcomer, join):
                key = key_in(buffer.shape, newcomer, join)
                value += _expected(self, buffer, join, newcomer.stream, key, newcomer.expires)
        return value


@inlined
def _learn(state, buffer, number, join, arrival):
    """Enter the key of an arrival into the statistics of its column."""
    recent, tally = state.recent[number], state.tally[number]
    key = key_in(buffer.shape, arrival, join)
    for place in range(_known(state, number)):
        if recent[place] == key:
            state.coincidences[number, place] += 1
    tally[SQUARES] += 2 * frequency(state.counts, number, key) + 1
    add(state.counts, number, key)
    note(state.search, state, buffer, 1 - arrival.stream, arrival)
    for place in range(len(recent) - 1, 0, -1):
        recent[place] = recent[place - 1]
    recent[0] = key
    tally[ARRIVALS] += 1


@inlined
def _expected(state, buffer, join, stream, key, expires):
    """How many arrivals with a key are to be expected where a stream meets others in a join."""
    shape = buffer.shape
    count = others(shape, join, stream)
    product = 1.0
    for place in range(count):
        partner = column(shape, join, other(shape, join, stream, place))
        ahead = _ahead(state, buffer, partner, stream, expires)
        popularity = np.float64(frequency(state.counts, partner, key))
        expected = _popular(state, partner, popularity, ahead)
        for recent in range(_known(state, partner)):
            if state.recent[partner, recent] == key:
                expected += _copied(state, partner, recent + 1, ahead)
        product *= expected
    return product if count == 1 else product ** (1.0 / count)


@inlined
def _ahead(state, buffer, partner, stream, expires):
    """How many arrivals of a column a tuple of a stream will yet see, at most T."""
    most = state.tally[partner, HORIZON]
    first = state.clocks[stream, FIRST]
    if state.aging[0] == 0 or first == NOT_STARTED:
        return most
    elapsed = max(buffer.clock[stream] - first, 1)
    rate = np.float64(state.tally[partner, ARRIVALS]) / np.float64(elapsed)
    # A tuple that came late may have outlived its window already.
    lifetime = np.float64(max(remaining(buffer, stream, expires), 0))
    return 1 + np.int64(min(lifetime * rate, np.float64(most - 1)))


@inlined
def _popular(state, number, count, ahead):
    """How many of the next tuples of a column will descend from fresh draws of a key."""
    arrivals = np.float64(max(state.tally[number, ARRIVALS], 1))
    fresh = state.fresh[number] if state.aging[0] == 0 else state.drawn[number, ahead]
    return fresh * count / arrivals


@inlined
def _copied(state, number, lag, ahead):
    """How many of the next tuples of a column will descend from the one at a lag."""
    if state.aging[0] == 0:
        return state.by_lag[number, lag - 1]
    total = 0.0
    for later in range(lag, min(state.weights.shape[1], ahead + lag - 1) + 1):
        total += state.weights[number, later - 1] * state.grown[number, ahead - (later - lag)]
    return total


@dataclass(frozen=True)
class Lba(Prob, name="lba", cache="lba"):
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
        shape = room.shape
        columns = len(room.joins) * room.stream_count
        tally = np.zeros((columns, 5), np.int64)
        for stream in room.streams:
            for join in range(len(room.joins)):
                for place in range(others(shape, join, stream)):
                    partner = column(shape, join, other(shape, join, stream, place))
                    tally[partner, NEXT_FIT] = self.warmup
        tally[:, HORIZON] = 1
        clocks = np.zeros((room.stream_count, 2), np.int64)
        clocks[:, FIRST] = NOT_STARTED
        # What an empty model says, only for as far as T is ever looked up.
        ahead = np.arange(self._furthest + 1 if self.by_lifetime else 2, dtype=np.float64)
        search: Any = Everywhere()
        if room.is_pair:
            trees = new_tournament(room.slots, False)
            search = Apart(trees, np.zeros((columns, self.h), np.int64), np.zeros(room.slots))
        return State(
            streams=np.array(room.streams, np.int64),
            counts=self._new_counts(room),
            recent=np.zeros((columns, self.h), np.int64),
            coincidences=np.zeros((columns, self.h), np.int64),
            tally=tally,
            by_lag=np.zeros((columns, self.h)),
            fresh=np.ones(columns),
            weights=np.zeros((columns, self.h)),
            grown=np.tile(np.minimum(ahead, 1), (columns, 1)),
            drawn=np.tile(ahead, (columns, 1)),
            clocks=clocks,
            aging=np.array([int(self.by_lifetime)]),
            search=search,
        )

    def grow(self, state: Any, room: Room) -> Any:
        """See :class:`Policy`."""
        if not room.is_pair:
            return state  # which has nothing by slot
        trees = tournament.with_slots(state.search.trees, room.slots)
        return state._replace(search=state.search._replace(trees=trees, worth=np.zeros(room.slots)))

    def expand(self, state: Any) -> Any:
        """Fit the models that are due, and give the counts more room if they need it."""
        if counting.crowded(state.counts):
            state = state._replace(counts=counting.enlarge(state.counts))
        for number, tally in enumerate(state.tally):
            if 0 < tally[NEXT_FIT] <= tally[ARRIVALS]:
                self._fit(state, number)
        return state

    def _fit(self, state: State, number: int) -> None:
        """Fit the model of a column."""
        tally = state.tally[number]
        arrivals = int(tally[ARRIVALS])
        chance = int(tally[SQUARES]) / arrivals**2
        model = fit_from_chance(state.coincidences[number], arrivals, chance)
        # Of all streams in the buffer, so that T is the same time for each of them. The rows of a
        # cache do not arrive by themselves.
        seen = int(state.clocks[state.streams, SEEN].sum())
        kept = int(tally[MOST]) * arrivals // seen if seen else int(tally[MOST])
        tally[MOST] = 0
        tally[HORIZON] = self.horizon or min(max(kept, 1), self._furthest)
        tally[NEXT_FIT] = arrivals + min(arrivals, RARELY)
        if self.by_lifetime:
            grown = descendants(model, self._furthest)
            state.weights[number] = model.weights
            state.grown[number] = grown
            state.drawn[number] = model.b * np.cumsum(grown)
        else:
            prediction = predict(model, int(tally[HORIZON]))
            state.by_lag[number] = prediction.by_lag
            state.fresh[number] = prediction.fresh
