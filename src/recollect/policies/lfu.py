"""LFU: forget the tuple with the fewest matches so far.

Of tuples with equally many, the one that has waited longest since its last match (or arrival) goes
first. (GreedyDual-Join paper, section 2.2.)
"""

from dataclasses import dataclass
from typing import NamedTuple

from recollect.policies.base import Policy, Room
from recollect.policies.ladder import (
    LOWEST,
    NONE,
    Ladder,
    climb,
    lowest,
    new_ladder,
    new_rung,
    stand,
    step_off,
)


class State(NamedTuple):
    """The number of matches of each tuple, as a ladder."""

    ladder: Ladder

    def admit(self, buffer, slot):
        """Start with no match."""
        rung = self.ladder.ends[LOWEST]
        if rung == NONE or self.ladder.value[rung] != 0:
            rung = new_rung(self.ladder, 0, NONE)
        stand(self.ladder, slot, rung)

    def match(self, buffer, slot):
        """Count it."""
        climb(self.ladder, slot)

    def forget(self, buffer, slot):
        """Leave the ladder."""
        step_off(self.ladder, slot)

    def victim(self, buffer, newcomer):
        """Return the tuple with the fewest matches."""
        return lowest(self.ladder)


@dataclass(frozen=True)
class Lfu(Policy, name="lfu"):
    """Forget the tuple that matched least often."""

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        return State(new_ladder(room.slots))
