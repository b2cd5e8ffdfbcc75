"""LBA: forget the row with the fewest references to be expected, under the locality model.

A tuple of the stream is a copy of one of the last h, or an independent draw. So the references to
be expected of a key in the next T are a number for each of its places among the last h, plus its
share of the independent draws. Only keys among the last h differ from the order of LFU: these are
looked at one by one, of all others the rarest one is known.

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, section 4.1.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.counting import add, enlarge, frequency, new_exact_counts
from recollect.counting import crowded as counts_crowded
from recollect.errors import PolicyError
from recollect.join.buffer import NONE, find, tag_of
from recollect.locality.fit import locality_model
from recollect.locality.model import LocalityModel
from recollect.locality.prediction import predict
from recollect.lookup.policies.base import CacheRoom, known_as
from recollect.lookup.policies.history import History, is_full, longer, new_history, remember
from recollect.policies import NEWCOMER, Policy, Room, tournament
from recollect.policies.base import Array
from recollect.policies.tournament import Tournament, enter, least, leave, new_tournament

ROWS, REFERENCES = range(2)
MOST_AHEAD = 10**6
"""No further ahead than this by default, since so many steps must be computed for each fit."""


class State(NamedTuple):
    """The last h keys, what to expect of each place among them, and the others by frequency."""

    recent: Array
    """The last h keys, in a ring."""
    seen: Array
    """How many references there were."""
    by_lag: Array
    """How many of the next T references descend from the one at each lag."""
    fresh: Array
    """How many of them are independent draws."""
    horizon: Array
    nearby: Array
    """By slot: how often its key is among the last h."""
    expected: Array
    """By slot: room for a sum; zero in between."""
    counts: Any
    trees: Tournament
    """The rows whose keys are not among the last h."""
    history: History

    def crowded(self):
        """Whether counts need room, or it is time to fit the model."""
        return counts_crowded(self.counts) or is_full(self.history)

    def tick(self, buffer, arrival):
        """Let the key come to the front of the last h, and the oldest of them drop out."""
        place = self.seen[0] % len(self.recent)
        if self.seen[0] >= len(self.recent):
            slot = _slot_of(buffer, self.recent[place])
            if slot != NONE:
                self.nearby[slot] -= 1
                if self.nearby[slot] == 0:
                    _compete(self, buffer, slot)
        self.recent[place] = arrival.key
        self.seen[0] += 1
        add(self.counts, REFERENCES, arrival.key)
        remember(self.history, arrival.key)
        if arrival.group >= 0:
            slot = buffer.first[arrival.group, ROWS]
            if self.nearby[slot] == 0:
                leave(self.trees, buffer, slot)
            self.nearby[slot] += 1

    def admit(self, buffer, slot):
        """Count how often the key is among the last h: it has just come."""
        key = buffer.key[buffer.group[slot]]
        self.nearby[slot] = 0
        for place in range(min(self.seen[0], len(self.recent))):
            self.nearby[slot] += self.recent[place] == key

    def forget(self, buffer, slot):
        """Compete no more."""
        if self.nearby[slot] == 0:
            leave(self.trees, buffer, slot)

    def victim(self, buffer, newcomer):
        """Return the row of which least is expected, or the newcomer if that has less."""
        reach = min(self.seen[0], len(self.recent))
        own = 0.0
        for lag in range(reach):
            key = self.recent[(self.seen[0] - 1 - lag) % len(self.recent)]
            slot = _slot_of(buffer, key)
            if slot != NONE:
                self.expected[slot] += self.by_lag[lag]
            elif key == newcomer.key:
                own += self.by_lag[lag]
        chosen, lowest = least(self.trees, buffer, ROWS), np.inf
        if chosen != NONE:
            lowest = _draws(self, self.trees.weight[chosen])
        for lag in range(reach):
            key = self.recent[(self.seen[0] - 1 - lag) % len(self.recent)]
            slot = _slot_of(buffer, key)
            if slot == NONE or self.expected[slot] < 0:
                continue  # not cached, or seen already
            worth = self.expected[slot] + _draws(self, frequency(self.counts, REFERENCES, key))
            self.expected[slot] = -1.0
            if worth < lowest or (worth == lowest and _goes_first(buffer, slot, chosen)):
                chosen, lowest = slot, worth
        for lag in range(reach):
            slot = _slot_of(buffer, self.recent[lag])
            if slot != NONE:
                self.expected[slot] = 0.0
        own += _draws(self, frequency(self.counts, REFERENCES, newcomer.key))
        return NEWCOMER if own < lowest else chosen


@inlined
def _slot_of(buffer, key):
    group = find(buffer, key, tag_of(key))
    return NONE if group == NONE else buffer.first[group, ROWS]


@inlined
def _compete(state, buffer, slot):
    key = buffer.key[buffer.group[slot]]
    enter(state.trees, buffer, slot, np.float64(frequency(state.counts, REFERENCES, key)))


@inlined
def _draws(state, count):
    """How many independent draws of a key that came so often are expected."""
    return state.fresh[0] * (count / state.seen[0])


@inlined
def _goes_first(buffer, one, two):
    """Of rows of equal worth the one that expires sooner goes, then the older."""
    return (buffer.expires[one], buffer.serial[one]) < (buffer.expires[two], buffer.serial[two])


@known_as("lba")
@dataclass(frozen=True)
class Lba(Policy):
    """Forget the row with the fewest references to be expected.

    Parameters
    ----------
    model
        The locality model of the stream; if it is not given it is fitted to the first references.
    h
        How far back copies may reach, if the model is fitted.
    horizon
        How many references ahead to look, the paper's T; 0 stands for the size of the cache.
    learn
        After how many references the model is fitted for the first time. It is fitted again each
        time they have doubled; until the first time this is LFU.
    """

    model: LocalityModel | None = None
    h: int = 50
    horizon: int = 0
    learn: int = 1_000

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        if self.model is not None and not isinstance(self.model, LocalityModel):
            raise PolicyError(
                f"lba: model={self.model} is not a LocalityModel; as text it cannot be given, so"
                " leave it out, and it will be fitted"
            )
        for name, low, high in (
            ("h", 1, 10_000), ("horizon", 0, 10**8), ("learn", 2, 2**16)
        ):  # fmt: skip
            if not low <= getattr(self, name) <= high:
                raise PolicyError(f"lba: {name}={getattr(self, name)} is not from {low} to {high}")

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        capacity = room.capacity if isinstance(room, CacheRoom) else room.slots
        h = self.h if self.model is None else self.model.h
        state = State(
            recent=np.zeros(h, np.int64),
            seen=np.zeros(1, np.int64),
            by_lag=np.zeros(h),
            fresh=np.ones(1),
            horizon=np.array([self.horizon or min(capacity, MOST_AHEAD)]),
            nearby=np.zeros(room.slots, np.int64),
            expected=np.zeros(room.slots),
            counts=new_exact_counts(),
            trees=new_tournament(room.slots, aging=False),
            history=new_history(self.learn if self.model is None else 0),
        )
        return state if self.model is None else _expecting(state, self.model)

    def grow(self, state: State, room: Room) -> State:
        """See :class:`Policy`."""
        more = (0, room.slots - len(state.nearby))
        return state._replace(
            nearby=np.pad(state.nearby, more),
            expected=np.pad(state.expected, more),
            trees=tournament.enlarge(state.trees, room.slots),
        )

    def enlarge(self, state: State) -> State:
        """See :class:`Policy`; this may be the time to learn."""
        if counts_crowded(state.counts):
            state = state._replace(counts=enlarge(state.counts))
        if is_full(state.history):
            model = locality_model(state.history.seen, h=self.h)
            state = _expecting(state._replace(history=longer(state.history)), model)
        return state


def _expecting(state: State, model: LocalityModel) -> State:
    """The same state with what is to be expected under a model."""
    ahead = predict(model, int(state.horizon[0]))
    return state._replace(by_lag=ahead.by_lag.copy(), fresh=np.array([ahead.fresh]))
