"""S3-FIFO: three queues. A small one sifts newcomers, a main one keeps the rest, a third remembers.

A newcomer enters the small queue (a tenth of the cache). Leaving it, a row that was hit twice moves
on to the main queue; any other is forgotten, and its key remembered among the ghosts, as many as
the main queue has rows. A key that comes back while its ghost is there enters the main queue at
once. The main queue gives a row that was hit another round, at most three times in a row.

While the cache fills for the first time, what the small queue has no room for goes to the main one.

References
----------
Yang, Zhang, Qiu, Yue, Rashmi: FIFO Queues are All You Need for Cache Eviction, SOSP 2023.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.errors import PolicyError
from recollect.policies.base import Array, Policy, Room
from recollect.policies.ghosts import (
    COUNT,
    NOBODY,
    OLDEST,
    Ghosts,
    appear,
    new_ghosts,
    vanish,
)

SMALL, MAIN = range(2)
MOST_HITS = 3
PROMOTED = 2
"""So many hits in the small queue lead to the main one."""


class State(NamedTuple):
    """Two queues of slots, their sizes, the hits of each row, and the ghosts."""

    before: Array
    after: Array
    ends: Array
    """``ends[queue]``: the oldest and the newest slot."""
    size: Array
    limit: Array
    """By queue: so many rows it should have; then the number of ghosts."""
    queue: Array
    """By slot."""
    hits: Array
    """By slot, at most three."""
    flags: Array
    """Whether the reference that is handled was a ghost; whether a row was ever forgotten."""
    ghosts: Ghosts

    def arrive(self, buffer, arrival):
        """See whether the key was forgotten lately."""
        self.flags[0] = arrival.group < 0 and vanish(self.ghosts, arrival.key)

    def match(self, buffer, slot):
        """Count it."""
        self.hits[slot] = min(self.hits[slot] + 1, MOST_HITS)

    def admit(self, buffer, slot):
        """Enter the small queue, or the main one if the key came back."""
        filling = self.flags[1] == 0 and self.size[SMALL] >= self.limit[SMALL]
        _enqueue(self, slot, MAIN if self.flags[0] != 0 or filling else SMALL, 0)

    def forget(self, buffer, slot):
        """Leave the queue."""
        _dequeue(self, slot)

    def victim(self, buffer, newcomer):
        """Turn the queue that is too long until it gives up a row."""
        self.flags[1] = 1
        if self.size[MAIN] <= self.limit[MAIN]:
            while self.size[SMALL] > 0:
                slot = self.ends[SMALL, 0]
                if self.hits[slot] < PROMOTED:
                    _haunt(self, buffer.key[buffer.group[slot, 0]])
                    return slot
                _dequeue(self, slot)
                _enqueue(self, slot, MAIN, 0)
        while True:
            slot = self.ends[MAIN, 0]
            if self.hits[slot] == 0:
                return slot
            _dequeue(self, slot)
            _enqueue(self, slot, MAIN, self.hits[slot] - 1)


@inlined
def _haunt(state, key):
    """Remember a forgotten key."""
    ghosts = state.ghosts
    if state.limit[2] > 0:
        if ghosts.ends[COUNT] == state.limit[2]:
            vanish(ghosts, ghosts.key[ghosts.ends[OLDEST]])
        appear(ghosts, key)


@inlined
def _enqueue(state, slot, queue, hits):
    newest = state.ends[queue, 1]
    state.before[slot] = newest
    state.after[slot] = NOBODY
    if newest == NOBODY:
        state.ends[queue, 0] = slot
    else:
        state.after[newest] = slot
    state.ends[queue, 1] = slot
    state.queue[slot] = queue
    state.hits[slot] = hits
    state.size[queue] += 1


@inlined
def _dequeue(state, slot):
    queue = state.queue[slot]
    before, after = state.before[slot], state.after[slot]
    if before == NOBODY:
        state.ends[queue, 0] = after
    else:
        state.after[before] = after
    if after == NOBODY:
        state.ends[queue, 1] = before
    else:
        state.before[after] = before
    state.size[queue] -= 1


@dataclass(frozen=True)
class S3Fifo(Policy, cache="s3-fifo"):
    """Forget what is not hit twice while it passes a small queue, then what the main one lacks.

    Parameters
    ----------
    small
        The share of the cache that the small queue has.
    """

    small: float = 0.1

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        if not 0 < self.small < 1:
            raise PolicyError(f"s3-fifo: small={self.small} is not between 0 and 1")

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        capacity = room.capacity or room.slots
        small = max(1, int(capacity * self.small))
        main = capacity - small
        # Ghosts appear when the cache is full, and then it has all its slots.
        return State(
            before=np.empty(room.slots, np.int32),
            after=np.empty(room.slots, np.int32),
            ends=np.full((2, 2), NOBODY, np.int64),
            size=np.zeros(2, np.int64),
            limit=np.array([small, main, main], np.int64),
            queue=np.empty(room.slots, np.uint8),
            hits=np.empty(room.slots, np.uint8),
            flags=np.zeros(2, np.int64),
            ghosts=new_ghosts(room.slots),
        )
