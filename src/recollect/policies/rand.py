"""RAND: forget any tuple, all with the same probability.

The baseline of every paper. The buffered slots stand in a dense array, the leaver's place is taken
by the last one, and the generator (SplitMix64) is part of the state, so that a saved join goes on
with the same victims.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined, mix, prefetch, sure
from recollect.policies.base import Array, Policy, Room


@inlined
def below(limit, generator):
    """Draw a number in ``range(limit)``, from the upper half of a SplitMix64 step."""
    generator[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = np.uint64(mix(generator[0]))
    return np.int64(((bits >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


class State(NamedTuple):
    """The buffered slots in a dense array, and where in it each stands."""

    members: Array
    place: Array
    size: Array
    drawn: Array
    generator: Array

    def admit(self, buffer, slot):
        """Append the newcomer."""
        self.members[sure(self.size[0])] = slot
        self.place[slot] = self.size[0]
        self.size[0] += 1

    def forget(self, buffer, slot):
        """Fill the leaver's place with the last member."""
        self.size[0] -= 1
        last = sure(self.members[sure(self.size[0])])
        self.members[sure(self.place[slot])] = last
        self.place[last] = self.place[slot]

    def victim(self, buffer, newcomer):
        """Return the one drawn two calls ago, so that its memory could be fetched meanwhile."""
        count = self.size[0]
        place = self.drawn[0] if self.drawn[0] < count else below(count, self.generator)
        self.drawn[0] = self.drawn[1]
        self.drawn[1] = below(count, self.generator)
        prefetch(buffer.expires, self.members[self.drawn[1]])
        if self.drawn[0] < count:
            coming = self.members[self.drawn[0]]
            prefetch(buffer.key, buffer.group[coming, 0])
            prefetch(buffer.newer, max(buffer.older[coming], 0))
            prefetch(buffer.older, max(buffer.newer[coming], 0))
        return self.members[place]


@dataclass(frozen=True)
class Rand(Policy, name="rand", cache="rand"):
    """Forget a random tuple."""

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        return State(
            members=np.empty(room.slots, np.int32),
            place=np.empty(room.slots, np.int32),
            size=np.zeros(1, np.int64),
            drawn=np.full(2, np.iinfo(np.int64).max),
            generator=np.array([room.seed % 2**64], np.uint64),
        )
