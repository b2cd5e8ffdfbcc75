"""LFD: forget the row whose next reference is farthest away. Nothing can hit more often.

Offline: the whole stream must be known, so this is the yardstick and not a policy to run. A key
that comes next later than every cached one is not cached, if that is allowed (``refuse``); without,
this is Belady's MIN, which caches every key that is missed.

References
----------
Belady: A Study of Replacement Algorithms for a Virtual-Storage Computer, 1966; Xie, Yang, Chen: On
Joining and Caching Stochastic Streams, 2005, section 7.1.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from recollect.compiled import cached, mix
from recollect.errors import PolicyError
from recollect.policies.base import NEWCOMER, Array, Policy, Room
from recollect.policies.search import tournament
from recollect.policies.search.tournament import (
    Tournament,
    enter,
    least,
    leave,
    new_tournament,
)

NEVER = 2**62


class State(NamedTuple):
    """When each reference's key comes next, and a tournament of the cached rows for the last."""

    next_use: Array
    """By reference, the first at 1."""
    now: Array
    trees: Tournament
    """The weight of a row is the time of its next reference, negative."""
    refuse: Array

    def arrive(self, buffer, arrival):
        """Note which reference this is."""
        self.now[0] = arrival.serial

    def admit(self, buffer, slot):
        """Take part."""
        enter(self.trees, buffer, slot, -np.float64(self.next_use[self.now[0]]))

    def match(self, buffer, slot):
        """Look forward to the next reference."""
        enter(self.trees, buffer, slot, -np.float64(self.next_use[self.now[0]]))

    def forget(self, buffer, slot):
        """Take part no more."""
        leave(self.trees, buffer, slot)

    def victim(self, buffer, newcomer):
        """Return the row that is needed last, or the newcomer if that is needed even later."""
        slot = least(self.trees, buffer, 0)
        own = -np.float64(self.next_use[self.now[0]])
        if self.refuse[0] != 0 and own < self.trees.weight[slot]:
            return NEWCOMER
        return slot


def next_uses(trace: np.ndarray) -> np.ndarray:
    """When the key of each reference is referred to next; references are numbered from 1.

    >>> next_uses(np.array([7, 8, 7]))[1:] == [3, NEVER, NEVER]
    array([ True,  True,  True])
    """
    size = 16
    while size < 2 * len(trace):
        size *= 2
    after = np.full(len(trace) + 1, NEVER)
    _look_back(np.ascontiguousarray(trace, np.int64), after, np.zeros(size, np.int64))
    return after


@cached
def _look_back(trace, after, table):
    """Walk back; the table holds the latest reference of each key seen so far, by number."""
    mask = len(table) - 1
    for number in range(len(trace), 0, -1):
        key = trace[number - 1]
        place = mix(key) & mask
        while table[place] != 0 and trace[table[place] - 1] != key:
            place = (place + 1) & mask
        if table[place] != 0:
            after[number] = table[place]
        table[place] = number


@dataclass(frozen=True)
class Lfd(Policy, cache="lfd"):
    """Forget the row that is needed last: the offline optimum.

    Parameters
    ----------
    refuse
        Whether a key that is missed may be left out of the cache.
    """

    refuse: bool = True
    offline: ClassVar[bool] = True

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        if room.trace is None:
            raise PolicyError(
                "lfd must know all references beforehand; it is for whole streams that can be"
                " read twice, not for those that come batch by batch"
            )
        return State(
            next_use=next_uses(room.trace),
            now=np.zeros(1, np.int64),
            trees=new_tournament(room.slots, aging=False),
            refuse=np.array([int(self.refuse)]),
        )

    def grow(self, state: State, room: Room) -> State:
        """See :class:`Policy`."""
        return state._replace(trees=tournament.with_slots(state.trees, room.slots))
