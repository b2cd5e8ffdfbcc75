"""PROB and LIFE where a tuple takes part in many joins: its value is the sum over them.

In a join of two streams the value of a tuple is how often its key came in the partner stream. In a
join of more, a result needs a tuple of every other stream, and how many there are to be expected
goes with the product of the counts there. The value is the geometric mean of these counts: it
orders the tuples of a join as the product does, and is still a count, so that joins of two and of
five streams can be added up.

Two tuples with the same key in one join may have different ones in another, so each plays in the
tournament by itself. Only of a stream that takes part in one join, the first to expire stands for
all that share its key.

References
----------
GreedyDual-Join paper, section 5.3.4 ("the computation of statistics in PROB is extended").
"""

from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.counting import add, crowded, frequency
from recollect.policies import tournament
from recollect.policies.base import NEWCOMER, Array, Room, group_in, key_in, takes_part
from recollect.policies.tournament import (
    NOBODY,
    Tournament,
    enter,
    goes_first,
    least,
    leave,
    new_tournament,
    remaining,
    value_of,
)


class JointState(NamedTuple):
    """Counts of the keys of every join, and a tournament of all tuples."""

    streams: Array
    partners: Array
    """By join, stream and other stream: whether they meet there."""
    home: Array
    """By stream: its only join, if its tuples expire in the order of arrival, else NOBODY."""
    counts: Any
    """Of the keys of a stream in a join, as stream number ``join * streams + stream``."""
    trees: Tournament
    worth: Array
    """By slot and join: the value there."""

    def crowded(self):
        """Whether the counts have no room for another key."""
        return crowded(self.counts)

    def tick(self, buffer, arrival):
        """Count the keys; tuples with one of them in other streams are worth more now."""
        for join in range(len(self.partners)):
            if not takes_part(arrival, join):
                continue
            key = key_in(arrival, join)
            group = group_in(arrival, join)
            counted = False
            for stream in self.streams:
                if self.partners[join, stream, arrival.stream] == 0:
                    continue
                if not counted:
                    add(self.counts, join * self.partners.shape[1] + arrival.stream, key)
                    counted = True
                if group < 0:
                    continue
                slot = buffer.first[group, stream]
                worth = joint_count(self, join, stream, key) if slot >= 0 else 0.0
                while slot >= 0:
                    self.worth[slot, join] = worth
                    enter(self.trees, buffer, slot, _sum(self, slot))
                    slot = buffer.after[slot, join] if self.home[stream] == NOBODY else NOBODY

    def admit(self, buffer, slot):
        """Take part in the tournament, unless another tuple stands for it."""
        stream = buffer.stream[slot]
        home = self.home[stream]
        if home != NOBODY and buffer.first[buffer.in_group[slot, home], stream] != slot:
            return
        for join in range(len(self.partners)):
            group = buffer.in_group[slot, join]
            self.worth[slot, join] = 0.0
            if group >= 0:
                self.worth[slot, join] = joint_count(self, join, stream, buffer.key[group])
        enter(self.trees, buffer, slot, _sum(self, slot))

    def forget(self, buffer, slot):
        """Leave the tournament, perhaps to the next one with the same key."""
        home = self.home[buffer.stream[slot]]
        if home == NOBODY:
            leave(self.trees, buffer, slot)
        elif buffer.before[slot, home] == NOBODY:
            leave(self.trees, buffer, slot)
            heir = buffer.after[slot, home]
            if heir != NOBODY:
                for join in range(self.worth.shape[1]):
                    self.worth[heir, join] = self.worth[slot, join]
                enter(self.trees, buffer, heir, _sum(self, heir))

    def victim(self, buffer, newcomer):
        """Return the tuple with the least value, or the newcomer if that has less."""
        chosen = NOBODY
        for stream in self.streams:
            slot = least(self.trees, buffer, stream)
            if slot != NOBODY and (
                chosen == NOBODY or goes_first(self.trees, buffer, slot, chosen)
            ):
                chosen = slot
        worth = 0.0
        for join in range(len(self.partners)):
            if takes_part(newcomer, join):
                worth += joint_count(self, join, newcomer.stream, key_in(newcomer, join))
        if self.trees.aging[0] != 0:
            worth *= np.float64(remaining(buffer, newcomer.stream, newcomer.expires))
        return NEWCOMER if worth < value_of(self.trees, buffer, chosen) else chosen


@inlined
def joint_count(state, join, stream, key):
    """The geometric mean of the counts of a key in the streams that a stream meets in a join."""
    product = 1.0
    others = 0
    for other in range(state.partners.shape[1]):
        if state.partners[join, stream, other] != 0:
            column = join * state.partners.shape[1] + other
            product *= np.float64(frequency(state.counts, column, key))
            others += 1
    return product if others == 1 else product ** (1.0 / others)


@inlined
def _sum(state, slot):
    total = 0.0
    for join in range(state.worth.shape[1]):
        total += state.worth[slot, join]
    return total


def start(room: Room, counts: Any, aging: bool) -> JointState:
    """Make the state of an empty buffer."""
    home = np.full(room.stream_count, NOBODY, np.int64)
    for stream in range(room.stream_count):
        joins = [join for join, streams in enumerate(room.joins) if stream in streams]
        if len(joins) == 1 and room.in_order:
            home[stream] = joins[0]
    return JointState(
        streams=np.array(room.streams, np.int64),
        partners=room.partners(),
        home=home,
        counts=counts,
        trees=new_tournament(room.slots, aging, room.stream_count),
        worth=np.zeros((room.slots, len(room.joins))),
    )


def grow(state: JointState, room: Room) -> JointState:
    """Carry a state over to a room with more slots."""
    worth = np.zeros((room.slots, len(room.joins)))
    worth[: len(state.worth)] = state.worth
    return state._replace(trees=tournament.enlarge(state.trees, room.slots), worth=worth)
