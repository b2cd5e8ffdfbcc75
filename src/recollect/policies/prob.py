"""PROB: forget the tuple whose key came least often in the partner stream so far.

In a join of two streams the value of a tuple is how often its key came in the partner stream. In a
join of more, a result needs a tuple of every other stream, and how many there are to be expected
goes with the product of the counts there. The value is the geometric mean of these counts: it
orders the tuples of a join as the product does, and is still a count, so that the values of a tuple
in joins of two and of five streams can be added up.

A newcomer with less value than every buffered tuple is refused. In a cache this is LFU with counts
of all references, not only of those since a row was cached. Where a stream takes part in one
join, the value depends on the key only, so of all its tuples with one key just the one that expires
first takes part in the tournament.

References
----------
Das, Gehrke, Riedewald: Approximate Join Processing over Data Streams, 2003; GreedyDual-Join paper,
sections 3.1 and 5.3.4; Joining and Caching Stochastic Streams, section 1.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import inlined, sure
from recollect.counting import (
    add,
    crowded,
    enlarge,
    frequency,
    new_exact_counts,
    new_lossy_table,
    new_sketch,
)
from recollect.counting.lossy_table import BYTES_PER_ENTRY
from recollect.errors import PolicyError
from recollect.policies.base import NEWCOMER, Array, Policy, Room
from recollect.policies.search import tournament
from recollect.policies.search.tournament import (
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
from recollect.policies.shape import (
    column,
    following,
    group_in,
    home,
    joins,
    key_in,
    other,
    others,
    takes_part,
)

COUNTER_BYTES = {"sketch": 8, "lossy": BYTES_PER_ENTRY}
SHARE = 16 * 2
"""Of a budget in bytes, a sixteenth is for counters, in two streams."""


class State(NamedTuple):
    """Counts of the keys, and a tournament of the tuples."""

    streams: Array
    own: Array
    """By stream: whether this state looks after its tuples."""
    counts: Any
    """Of the keys of each stream in each join."""
    trees: Tournament
    worth: Array
    """By slot and join: the value there; empty if there is but one join."""

    def crowded(self):
        """Whether the counts have no room for another key."""
        return crowded(self.counts)

    def arrive(self, buffer, arrival):
        """Count the keys; tuples with one of them in other streams are worth more now."""
        shape = buffer.shape
        for join in range(joins(shape)):
            counted = not takes_part(shape, arrival, join)
            for place in range(others(shape, join, arrival.stream)):
                stream = sure(other(shape, join, arrival.stream, place))
                if not takes_part(shape, arrival, join) or self.own[stream] == 0:
                    continue
                key, group = key_in(shape, arrival, join), group_in(shape, arrival, join)
                if not counted:
                    add(self.counts, column(shape, join, arrival.stream), key)
                    counted = True
                if group < 0:
                    continue
                slot = buffer.first[sure(group), stream]
                worth = expected(self, shape, join, stream, key) if slot >= 0 else 0.0
                while slot >= 0:
                    _enter(self, buffer, slot, join, worth)
                    slot = (
                        following(buffer, slot, join) if home(shape, stream) == NOBODY else NOBODY
                    )

    def admit(self, buffer, slot):
        """Take part in the tournament, unless another tuple stands for it."""
        shape, stream = buffer.shape, sure(buffer.stream[slot])
        only = home(shape, stream)
        if only != NOBODY and buffer.first[sure(buffer.group[slot, only]), stream] != slot:
            return
        for join in range(joins(shape)):
            group = buffer.group[slot, join]
            worth = (
                expected(self, shape, join, stream, buffer.key[sure(group)]) if group >= 0 else 0.0
            )
            _enter(self, buffer, slot, join, worth)

    def forget(self, buffer, slot):
        """Leave the tournament, perhaps to the next one with the same key."""
        only = home(buffer.shape, buffer.stream[slot])
        if only == NOBODY:
            leave(self.trees, buffer, slot)
        elif buffer.previous[slot, only] == NOBODY:
            leave(self.trees, buffer, slot)
            heir = following(buffer, slot, only)
            if heir != NOBODY:
                if joins(buffer.shape) > 1:
                    for join in range(joins(buffer.shape)):
                        self.worth[heir, join] = self.worth[slot, join]
                enter(self.trees, buffer, heir, self.trees.weight[slot])

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
        for join in range(joins(buffer.shape)):
            if takes_part(buffer.shape, newcomer, join):
                key = key_in(buffer.shape, newcomer, join)
                worth += expected(self, buffer.shape, join, newcomer.stream, key)
        if self.trees.aging[0] != 0:
            worth *= np.float64(remaining(buffer, newcomer.stream, newcomer.expires))
        return NEWCOMER if worth < value_of(self.trees, buffer, chosen) else chosen


@inlined
def expected(state, shape, join, stream, key):
    """The geometric mean of the counts of a key in the streams that a stream meets in a join."""
    count = others(shape, join, stream)
    product = 1.0
    for place in range(count):
        partner = column(shape, join, other(shape, join, stream, place))
        product *= np.float64(frequency(state.counts, partner, key))
    return product if count == 1 else product ** (1.0 / count)


@inlined
def _enter(state, buffer, slot, join, worth):
    """Let a tuple take part with its value in a join, added to those in the others."""
    if joins(buffer.shape) > 1:
        state.worth[slot, join] = worth
        worth = 0.0
        for each in range(joins(buffer.shape)):
            worth += state.worth[slot, each]
    enter(state.trees, buffer, slot, worth)


@dataclass(frozen=True)
class Prob(Policy, name="prob", cache="lfu"):
    """Forget the tuple whose key is rarest in the partner stream.

    Parameters
    ----------
    counts
        ``exact``: one counter per key ever seen; ``sketch``: a count-min sketch, whose counts may
        be high; ``lossy``: Lossy Counting, whose counts may be low; ``auto``: a sketch if the
        budget is in bytes, else exact.
    entries
        The counters per stream that a sketch or Lossy Counting may have. Under a budget in bytes
        they never take more than a sixteenth of it.
    """

    counts: str = "auto"
    entries: int = 65_536

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        if self.counts not in ("auto", "exact", *COUNTER_BYTES):
            raise PolicyError(
                f"{self.name}: counts={self.counts} is not auto, exact, sketch or lossy"
            )
        if not 4 <= self.entries <= 2**30:
            raise PolicyError(f"{self.name}: entries={self.entries} is not from 4 to {2**30}")

    @property
    def aging(self) -> bool:
        """Whether a tuple's remaining lifetime counts."""
        return False

    def start(self, room: Room) -> Any:
        """See :class:`Policy`."""
        many = len(room.joins) > 1
        return State(
            streams=np.array(room.streams, np.int64),
            own=room.own,
            counts=self._new_counts(room),
            trees=new_tournament(room.slots, self.aging, room.stream_count),
            worth=np.zeros((room.slots if many else 0, len(room.joins))),
        )

    def _new_counts(self, room: Room) -> Any:
        kind, bytes_ = self.counts, room.bytes
        streams = len(room.joins) * room.stream_count
        if kind == "auto":
            kind = "exact" if bytes_ is None else "sketch"
        if kind == "exact":
            return new_exact_counts(streams)
        entries = self.entries
        if bytes_ is not None:
            entries = max(1, min(entries, bytes_ // (SHARE * COUNTER_BYTES[kind])))
        # A bucket of as many tuples as there are entries always fits an empty table.
        if kind == "sketch":
            return new_sketch(entries, streams)
        return new_lossy_table(entries, entries, streams)

    def grow(self, state: Any, room: Room) -> Any:
        """See :class:`Policy`."""
        more = room.slots - len(state.worth) if len(room.joins) > 1 else 0
        return state._replace(
            trees=tournament.with_slots(state.trees, room.slots),
            worth=np.pad(state.worth, ((0, more), (0, 0))),
        )

    def expand(self, state: Any) -> Any:
        """See :class:`Policy`."""
        return state._replace(counts=enlarge(state.counts))
