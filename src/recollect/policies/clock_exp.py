"""CLOCK_exp: as CLOCK, but the hand multiplies a score by rho and evicts below 0.01.

A small rho forgets old matches quickly, one near 1 remembers them long.

References
----------
Gao, Scharrenbach, Bernstein: The CLOCK Data-Aware Eviction Approach, ESWC 2014, section 3.2.
"""

from dataclasses import dataclass

import numpy as np

from recollect.errors import PolicyError
from recollect.policies import clock
from recollect.policies.base import Policy, Room
from recollect.policies.clock import HAND, new_state, next_place, require_points

THRESHOLD = 0.01


class State(clock.State):
    """The state of CLOCK, whose hand multiplies."""

    def victim(self, buffer, newcomer):
        """Move the hand until a score falls below the threshold."""
        ring = self.ring
        place = ring.ends[HAND]
        while True:
            score = ring.score[place] * self.rho[0]
            ring.score[place] = score
            if score < THRESHOLD:
                ring.ends[HAND] = next_place(ring, place)
                return ring.slot[place]
            place = next_place(ring, place)


@dataclass(frozen=True)
class ClockExp(Policy, name="clock-exp"):
    """Forget as CLOCK does, but with points that fade by a factor.

    Parameters
    ----------
    rho
        The factor of one pass of the hand, above 0 and below 1.
    w0
        The score a newcomer starts with.
    partial
        The points for a match without a result, as for :class:`~recollect.policies.clock.Clock`.
    """

    rho: float = 0.5
    w0: float = 1.0
    partial: float = 0.0

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        if not 0 < self.rho < 1:
            raise PolicyError(f"clock-exp: rho={self.rho} is not above 0 and below 1")
        if not 0 <= self.w0 < np.inf:
            raise PolicyError(f"clock-exp: w0={self.w0} is not a score, 0 or more")
        require_points(self)

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        return State(*new_state(room.slots, self.w0, self.partial, self.rho))
