"""A bounded cache of rows by key code: which references hit, and which row each needs.

It knows nothing of Arrow or databases. It takes key codes and hands out row numbers: of cached rows
where they were put; of missed ones provisional numbers, until the caller tells where it put them.
"""

from typing import Any, NamedTuple

import numpy as np

from recollect.errors import PolicyError
from recollect.join import buffer as buffers
from recollect.join.engine import MOST_SLOTS, Loop
from recollect.lookup import kernel
from recollect.lookup.kernel import (
    BAD_VICTIM,
    COUNTS,
    DONE,
    FOREVER,
    HITS,
    ROWS,
    SLOTS_FULL,
    STATISTICS_FULL,
    Batch,
    Ledger,
)
from recollect.policies import Policy, Room
from recollect.policies.shape import Pair

PAIR = Pair()

PENDING = 3 << 61
"""The number of the first row that a batch misses, until it is put somewhere; others follow on."""


class Referred(NamedTuple):
    """What became of a batch of references."""

    rows: np.ndarray
    """The number of the row of each: where it was put, or PENDING; SKIPPED if its key is NULL."""
    missed: np.ndarray
    """The references that missed, in order."""


class Cache:
    """A cache of at most ``room.capacity`` rows.

    Parameters
    ----------
    policy
        Which row to forget.
    room
        What it has room for; its ``slots`` are where it starts.
    ttl
        How long a row may be used, in units of the clock; None for ever.

    Examples
    --------
    >>> from recollect.policies import parse_cache_policy
    >>> cache = Cache(parse_cache_policy("lru"), Room.of_cache(2))
    >>> cache.refer(np.array([7, 8, 7, 9, 8])).missed
    array([0, 1, 3, 4])
    >>> cache.hits
    1
    """

    def __init__(self, policy: Policy, room: Room, ttl: int | None = None) -> None:
        self.policy = policy
        self._room = room
        self._ttl = ttl
        self._most_slots = min(room.capacity, MOST_SLOTS)
        self.storage = buffers.allocate(room.slots, 1, PAIR)
        self.state = policy.started(room)
        self.ledger = Ledger(np.zeros(COUNTS, np.int64), np.zeros(1, np.int64))
        self._run = Loop(policy, kernel.run)
        self._drop = Loop(policy, kernel.drop)
        self.prepare(0)

    def prepare(self, references: int) -> None:
        """Compile the loops, so that this need not be done while time is measured."""
        none = np.empty(0, np.int64)
        batch = Batch(none[:, None], none[:, None].astype(np.uint8), none, none)
        self._run.prepare(references, *self._arguments(batch, PENDING, FOREVER))
        self._drop.prepare(references, self.state, self.buffer, PENDING)

    def _arguments(self, batch: Batch, base: int, expires: int) -> tuple[Any, ...]:
        return (
            self.state, self.buffer, batch, base, self._room.capacity, self._most_slots, expires,
            self.ledger,
        )  # fmt: skip

    @property
    def buffer(self) -> buffers.Buffer:
        """The cached rows, as policies see them."""
        return buffers.view(self.storage, PAIR)

    def refer(self, keys: np.ndarray, skip: np.ndarray | None = None, now: int = 0) -> Referred:
        """Refer to keys, one after the other.

        Parameters
        ----------
        keys
            Their codes.
        skip
            Which of them are NULL, if any.
        now
            What time it is, for rows that do not last.
        """
        self.prepare(len(keys))
        rows, missed = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        keys = np.array(keys, np.int64)[:, None]
        present = np.ones(keys.shape, np.uint8) if skip is None else ~skip[:, None]
        present = present.astype(np.uint8)
        self.buffer.clock[ROWS] = now
        expires = FOREVER if self._ttl is None else now + self._ttl
        done = misses = 0
        while True:
            batch = Batch(keys[done:], present[done:], rows[done:], missed[misses:])
            arguments = self._arguments(batch, PENDING + misses, expires)
            why, handled, more = self._run(len(keys) - done, *arguments)
            missed[misses : misses + more] += done
            done, misses = done + handled, misses + more
            if why == DONE:
                return Referred(rows, missed[:misses])
            if why == SLOTS_FULL:
                self._grow()
            if why == STATISTICS_FULL:
                self.state = self.policy.expand(self.state)
            if why == BAD_VICTIM:
                raise PolicyError(
                    f"policy {self.policy.spec} chose a victim that is not in the cache;"
                    " victim() must return a slot with a row, or NEWCOMER"
                )

    def _grow(self) -> None:
        slots = min(2 * len(self.storage.slots), self._most_slots)
        self._room = self._room.with_slots(slots)
        self.storage = buffers.with_slots(self.storage, slots, PAIR)
        self.state = self.policy.grow(self.state, self._room)

    def put(self, base: int, absent: np.ndarray) -> None:
        """Tell where the rows that the last batch missed have been put, and which do not exist."""
        slots, rows = self.rows_of(PENDING)
        self.storage.slots["row"][slots] = rows - PENDING + base
        self.storage.extra[slots, 0] = absent[rows - PENDING]

    def take_back(self, counts: np.ndarray) -> None:
        """Forget what the last batch missed, since it was not to be had, and what was counted."""
        self._drop(0, self.state, self.buffer, PENDING)
        self.ledger.counts[:] = counts

    def rows_of(self, from_row: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The slots of the youngest rows, down to a number, and the numbers of these rows."""
        buffer = self.buffer
        slots = buffers.slots_of(buffer, ROWS, from_row)
        return slots, buffer.row[slots]

    def relocate(self, slots: np.ndarray, rows: np.ndarray) -> None:
        """Tell the cache that some rows have new numbers."""
        self.storage.slots["row"][slots] = rows

    @property
    def live(self) -> int:
        """How many rows are cached."""
        return int(self.buffer.live[ROWS])

    @property
    def hits(self) -> int:
        """References whose key was cached."""
        return int(self.ledger.counts[HITS])
