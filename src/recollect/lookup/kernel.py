"""The inner loop of the cache: refer to keys in order, each a hit, or a miss that may be admitted.

A cached row is a tuple of stream ``ROWS`` in the buffer of a join of two streams, a reference an
arrival of stream ``REFERENCES`` that looks for it and is never buffered itself. So the policies of
joins run here unchanged (:mod:`recollect.policies`), and so does the hash table.

Whether the relation has a row for a missed key is not known yet, and decides nothing: a key without
a row is cached like any other, so that it need not be asked for again.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined, prefetch
from recollect.join.buffer import find, has_free_slot, is_live, link, tag_of, unlink
from recollect.policies.base import (
    NEWCOMER,
    Array,
    Arrival,
    admit,
    arrive,
    crowded,
    forget,
    match,
    victim,
)
from recollect.policies.shape import NONE

ROWS, REFERENCES = range(2)
"""The streams: what the relation supplies, and what asks for it."""

DONE, SLOTS_FULL, STATISTICS_FULL, BAD_VICTIM = range(4)
"""Why ``run`` returned."""

SKIPPED = -1
"""The row of a reference whose key is NULL."""
FOREVER = np.iinfo(np.int64).max
LOOK_AHEAD = 6
"""How many references ahead the hash table is told to be ready."""


class Batch(NamedTuple):
    """References, and where their rows will be."""

    keys: Array
    """As lines of one key, as arrivals of a join have them."""
    present: Array
    """The same: 0 for references whose key is NULL."""
    row: Array
    """Filled in: the number of the row of each reference, or SKIPPED."""
    missed: Array
    """Filled in: which references missed. The first has row ``base``, the next ``base + 1``, …"""


class Ledger(NamedTuple):
    """What has happened so far."""

    counts: Array
    groups: Array
    """Scratch."""


HITS, NEGATIVE_HITS, MISSES, EXPIRED, EVICTED, REFUSED, SERIAL, COUNTS = range(8)


@inlined
def remove(state, buffer, slot):
    """Let a row go."""
    forget(state, buffer, slot)
    unlink(buffer, slot)


def run(state, buffer, batch, base, capacity, most_slots, expires, ledger):
    """Refer to the keys of a batch.

    Rows that are missed now may be used until ``expires``, by the clock in ``buffer.clock``.
    Returns why it stopped, how many references it has handled and how many of them missed.
    """
    counts = ledger.counts
    missed = 0
    references = len(batch.keys)
    groups = ledger.groups
    now = buffer.clock[ROWS]
    for at in range(references):
        if len(buffer.expires) < most_slots and not has_free_slot(buffer):
            return SLOTS_FULL, at, missed
        if crowded(state):
            return STATISTICS_FULL, at, missed
        if batch.present[at, 0] == 0:
            batch.row[at] = SKIPPED
            continue
        if at + LOOK_AHEAD < references:
            coming = tag_of(batch.keys[at + LOOK_AHEAD, 0])
            prefetch(buffer.table[0], coming & (buffer.table.shape[1] - 1))
        key = batch.keys[at, 0]
        group = find(buffer, 0, key, tag_of(key))
        slot = NONE
        if group != NONE:
            slot = buffer.first[group, ROWS]
            if buffer.expires[slot] < now:
                remove(state, buffer, slot)
                counts[EXPIRED] += 1
                group = slot = NONE
        counts[SERIAL] += 1
        serial = counts[SERIAL]
        groups[0] = group
        keys, present = batch.keys[at], batch.present[at]
        arrival = Arrival(REFERENCES, key, serial, FOREVER, group, serial, keys, groups, present)
        arrive(state, buffer, arrival)
        if slot != NONE:
            counts[HITS] += 1
            counts[NEGATIVE_HITS] += buffer.extra[slot, 0]
            batch.row[at] = buffer.row[slot]
            match(state, buffer, slot)
            continue
        counts[MISSES] += 1
        batch.row[at] = base + missed
        batch.missed[missed] = at
        missed += 1
        groups[0] = NONE
        newcomer = Arrival(ROWS, key, serial, expires, NONE, serial, keys, groups, present)
        if buffer.live[ROWS] >= capacity:
            slot = victim(state, buffer, newcomer)
            if slot == NEWCOMER:
                counts[REFUSED] += 1
                continue
            if not is_live(buffer, slot):
                return BAD_VICTIM, at, missed
            remove(state, buffer, slot)
            counts[EVICTED] += 1
        slot = link(buffer, newcomer, batch.row[at], 1)
        buffer.extra[slot, 0] = 0
        admit(state, buffer, slot)
    return DONE, references, missed


def drop(state, buffer, from_row):
    """Let the youngest rows go, as long as their numbers are not below ``from_row``."""
    slot = buffer.newest[ROWS]
    while slot != NONE and buffer.row[slot] >= from_row:
        older = buffer.older[slot]
        remove(state, buffer, slot)
        slot = older
