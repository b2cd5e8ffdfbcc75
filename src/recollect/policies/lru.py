"""LRU: forget the tuple whose last match, or arrival if it had none, is longest ago.

Tuples stand in a ring in the order of their last use; a match moves a tuple to the recent end. Of
tuples that matched the same arrival, the older goes first. (CLOCK paper, section 3.1.)
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined, sure
from recollect.policies.base import NEWCOMER, Array, Policy, Room


@inlined
def _append(state, slot):
    latest = state.ends[1]
    state.before[slot] = latest
    state.after[slot] = NEWCOMER
    if latest == NEWCOMER:
        state.ends[0] = slot
    else:
        state.after[sure(latest)] = slot
    state.ends[1] = slot


@inlined
def _detach(state, slot):
    before, after = state.before[slot], state.after[slot]
    if before == NEWCOMER:
        state.ends[0] = after
    else:
        state.after[sure(before)] = after
    if after == NEWCOMER:
        state.ends[1] = before
    else:
        state.before[sure(after)] = before


class State(NamedTuple):
    """A doubly linked list of slots, least recently used first."""

    before: Array
    after: Array
    ends: Array

    def admit(self, buffer, slot):
        """Start at the recent end."""
        _append(self, slot)

    def match(self, buffer, slot):
        """Go to the recent end."""
        _detach(self, slot)
        _append(self, slot)

    def forget(self, buffer, slot):
        """Leave the list."""
        _detach(self, slot)

    def victim(self, buffer, newcomer):
        """Return the one used least recently."""
        return self.ends[0]


@dataclass(frozen=True)
class Lru(Policy, name="lru", cache="lru"):
    """Forget the tuple that was used least recently."""

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        return State(
            before=np.empty(room.slots, np.int32),
            after=np.empty(room.slots, np.int32),
            ends=np.full(2, NEWCOMER, np.int64),
        )
