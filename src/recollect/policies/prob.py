"""PROB: forget the tuple whose key came least often in the partner stream so far.

The value depends on the key only, so of all tuples of a stream with one key just the one that
expires first takes part in the tournament. A newcomer with less value than every buffered tuple is
refused. Where tuples take part in several joins, or in joins of several streams, see
:mod:`recollect.policies.joint`.

References
----------
Das, Gehrke, Riedewald: Approximate Join Processing over Data Streams, 2003; GreedyDual-Join paper,
section 3.1; Joining and Caching Stochastic Streams, section 1.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

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
from recollect.policies import joint, tournament
from recollect.policies.base import NEWCOMER, Array, Policy, Room
from recollect.policies.tournament import (
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

COUNTER_BYTES = {"sketch": 8, "lossy": BYTES_PER_ENTRY}
SHARE = 16 * 2
"""Of a budget in bytes, a sixteenth is for counters, in two streams."""


class State(NamedTuple):
    """Counts of the keys, and a tournament of the oldest tuple of each key."""

    streams: Array
    counts: Any
    trees: Tournament

    def crowded(self):
        """Whether the counts have no room for another key."""
        return crowded(self.counts)

    def tick(self, buffer, arrival):
        """Count the key; its tuples in the other stream are worth more now."""
        for stream in self.streams:
            if stream != arrival.stream:
                add(self.counts, arrival.stream, arrival.key)
                if arrival.group >= 0:
                    slot = buffer.first[arrival.group, stream]
                    if slot >= 0:
                        weight = frequency(self.counts, arrival.stream, arrival.key)
                        enter(self.trees, buffer, slot, np.float64(weight))

    def admit(self, buffer, slot):
        """Take part, if it is the only one with its key."""
        stream = buffer.stream[slot]
        group = buffer.group[slot]
        if buffer.first[group, stream] == slot:
            weight = frequency(self.counts, 1 - stream, buffer.key[group])
            enter(self.trees, buffer, slot, np.float64(weight))

    def forget(self, buffer, slot):
        """Make room for the next one with the same key."""
        if buffer.first[buffer.group[slot], buffer.stream[slot]] == slot:
            leave(self.trees, buffer, slot)
            heir = buffer.next[slot]
            if heir >= 0:
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
        worth = np.float64(frequency(self.counts, 1 - newcomer.stream, newcomer.key))
        if self.trees.aging[0] != 0:
            worth *= np.float64(remaining(buffer, newcomer.stream, newcomer.expires))
        return NEWCOMER if worth < value_of(self.trees, buffer, chosen) else chosen


@dataclass(frozen=True)
class Prob(Policy, name="prob"):
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
        if not room.is_pair:
            return joint.start(room, self._new_counts(room), self.aging)
        return State(
            streams=np.array(room.streams, np.int64),
            counts=self._new_counts(room),
            trees=new_tournament(room.slots, self.aging),
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
        if not room.is_pair:
            return joint.grow(state, room)
        return state._replace(trees=tournament.enlarge(state.trees, room.slots))

    def enlarge(self, state: Any) -> Any:
        """See :class:`Policy`."""
        return state._replace(counts=enlarge(state.counts))
