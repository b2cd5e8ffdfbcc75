"""CLOCK: a hand goes round the buffer and takes a point from each tuple until one has none left.

A tuple starts with w0 points and gains one per match, so the score mixes how often with how lately
it was useful. Linear depreciation; see :mod:`recollect.policies.clock_exp` for the exponential one.

References
----------
Gao, Scharrenbach, Bernstein: The CLOCK Data-Aware Eviction Approach, ESWC 2014, section 3.2.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import inlined, sure
from recollect.errors import PolicyError
from recollect.policies.base import Array, Policy, Room

HAND, USED, VACANT = range(3)


class Ring(NamedTuple):
    """The circular buffer: places, the slot in each, its score, and the hand."""

    slot: Array
    """By place: the slot there, if the place is not vacant."""
    score: Array
    """By place: infinite if it is vacant, so that the hand passes over it without a look."""
    place: Array
    """By slot."""
    vacant: Array
    """The places that became empty, as a stack."""
    ends: Array
    """The hand, the number of places ever used, the number of vacant ones."""


def new_ring(slots: int) -> Ring:
    """Make an empty ring for so many slots."""
    return Ring(
        slot=np.empty(slots, np.int32),
        score=np.empty(slots, np.float64),
        place=np.empty(slots, np.int32),
        vacant=np.empty(slots, np.int32),
        ends=np.zeros(3, np.int64),
    )


@inlined
def insert(ring, slot, score):
    """Give a tuple the place that became empty last, or a new one."""
    if ring.ends[VACANT] > 0:
        ring.ends[VACANT] -= 1
        place = ring.vacant[sure(ring.ends[VACANT])]
    else:
        place = ring.ends[USED]
        ring.ends[USED] += 1
    place = sure(place)
    ring.slot[place] = slot
    ring.score[place] = score
    ring.place[slot] = place


@inlined
def remove(ring, slot):
    """Empty the place of a tuple."""
    place = sure(ring.place[slot])
    ring.score[place] = np.inf
    ring.vacant[sure(ring.ends[VACANT])] = place
    ring.ends[VACANT] += 1


@inlined
def next_place(ring, place):
    """The place behind another one, in the round."""
    return place + 1 if place + 1 < ring.ends[USED] else 0


class State(NamedTuple):
    """The ring, the points of a newcomer, and what else the rules need."""

    ring: Ring
    w0: Array
    consolation: Array
    """The points for a partial match."""
    rho: Array
    """What the hand of CLOCK_exp multiplies by."""

    def admit(self, buffer, slot):
        """Start with w0 points."""
        insert(self.ring, slot, self.w0[0])

    def match(self, buffer, slot):
        """Gain a point."""
        self.ring.score[sure(self.ring.place[slot])] += 1

    def partial(self, buffer, slot):
        """Gain less than a match would give."""
        self.ring.score[sure(self.ring.place[slot])] += self.consolation[0]

    def forget(self, buffer, slot):
        """Leave the ring."""
        remove(self.ring, slot)

    def victim(self, buffer, newcomer):
        """Move the hand until a tuple has no points left."""
        ring = self.ring
        place = ring.ends[HAND]
        while True:
            least = np.inf
            for _ in range(ring.ends[USED]):
                score = ring.score[place] - 1
                ring.score[place] = score
                if score <= 0:
                    ring.ends[HAND] = next_place(ring, place)
                    return ring.slot[place]
                least = min(least, score)
                place = next_place(ring, place)
            # A whole round was in vain. Do at once the rounds that would be too.
            rounds = np.ceil(least) - 1
            for other in range(ring.ends[USED]):
                ring.score[other] -= rounds


def new_state(slots: int, w0: float, partial: float, rho: float = 1.0) -> State:
    """Make the state of an empty buffer."""
    return State(new_ring(slots), *(np.array([float(value)]) for value in (w0, partial, rho)))


def require_points(policy: Any) -> None:
    """Refuse points for partial matches that are out of range."""
    if not 0 <= policy.partial < np.inf:
        raise PolicyError(
            f"{policy.name}: partial={policy.partial} is not a number of points, 0 or more"
        )


@dataclass(frozen=True)
class Clock(Policy, name="clock", cache="clock"):
    """Forget the first tuple that a circling hand finds without points; matches earn points.

    Parameters
    ----------
    w0
        The points a newcomer starts with.
    partial
        The points for meeting an arrival without a result, in a join of three or more streams of
        which another has no tuple with this key.
    """

    w0: float = 1.0
    partial: float = 0.0

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        if not 0 <= self.w0 < np.inf:
            raise PolicyError(f"clock: w0={self.w0} is not a number of points, 0 or more")
        require_points(self)

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        return new_state(room.slots, self.w0, self.partial)
