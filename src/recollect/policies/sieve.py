"""SIEVE: a hand goes from old rows to new ones and takes the first not used since it last passed.

Rows stay in the order in which they came; a hit only sets a bit. Unlike with CLOCK, newcomers enter
where the hand does not come soon, so rows that prove useful stay and others are sifted out early.

References
----------
Zhang, Yang, Yue, Vigfusson, Rashmi: SIEVE is Simpler than LRU, NSDI 2024.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recollect.policies.base import NEWCOMER, Array, Policy, Room


class State(NamedTuple):
    """Which rows were used since the hand passed, and where the hand is."""

    used: Array
    hand: Array

    def admit(self, buffer, slot):
        """Enter unused, at the new end."""
        self.used[slot] = 0

    def match(self, buffer, slot):
        """Be used."""
        self.used[slot] = 1

    def forget(self, buffer, slot):
        """Let the hand go on, if it points here."""
        if self.hand[0] == slot:
            self.hand[0] = buffer.newer[slot]

    def victim(self, buffer, newcomer):
        """Move the hand to the first unused row, clearing those on its way."""
        slot = self.hand[0]
        while True:
            if slot == NEWCOMER:  # past the newest, or not begun
                slot = buffer.oldest[0]
            if self.used[slot] == 0:
                break
            self.used[slot] = 0
            slot = buffer.newer[slot]
        self.hand[0] = slot
        return slot


@dataclass(frozen=True)
class Sieve(Policy, cache="sieve"):
    """Forget the first row that a hand moving from old to new finds unused."""

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        return State(used=np.empty(room.slots, np.uint8), hand=np.full(1, NEWCOMER, np.int64))
