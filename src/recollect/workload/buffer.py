"""The tuples that a workload remembers: each once, in a chain of equal keys for every join.

The fields have the names of :class:`recollect.join.buffer.Buffer`, so that a policy that looks at
slots (``time``, ``expires``, ``stream``, ``oldest``, ``newer``, …) works here as it is. What is
different: there are any number of streams, a tuple stands in one *group* per join that it takes
part in, and the tuples of streams with validity expire in the order of a heap.
"""

from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.join.buffer import (
    FREE_GROUP,
    FREE_SLOT,
    FRESH_GROUP,
    FRESH_SLOT,
    NONE,
    SMALLEST_TABLE,
    enter,
    find,
    join_stream,
    leave,
    leave_stream,
    refill,
    tag_of,
)
from recollect.policies.base import Array
from recollect.workload import ends


class Buffer(NamedTuple):
    """The arrays of the buffer; policies may read all of them."""

    # by slot
    expires: Array
    """The last moment, on the clock of its stream, at which the tuple may match."""
    time: Array
    serial: Array
    """The tuple's place in the merged input, from 1."""
    row: Array
    """The same from 0."""
    size: Array
    """What the tuple counts against the budget: 1."""
    subject: Array
    """What the tuple is about, if a newer fact replaces it, else NONE."""
    stream: Array
    newer: Array
    """The next younger tuple of the same stream."""
    older: Array
    # by slot and join, and the same in one row: line ``slot * joins + join``
    in_group: Array
    """The group, or NONE if the tuple does not take part in the join."""
    after: Array
    """The next younger tuple of the same stream with the same key in this join."""
    before: Array
    group: Array
    next: Array
    previous: Array
    # by group
    key: Array
    first: Array
    """``first[group, stream]``: the oldest tuple of that stream with this key."""
    last: Array
    population: Array
    members: Array
    """How many tuples of all streams have this key."""
    # by join: the hash table, as in the join of two streams
    table: Array
    # by stream
    oldest: Array
    newest: Array
    clock: Array
    """What time it is for each stream: the time, or its number of arrivals for a count window."""
    live: Array
    """How many tuples of each stream are buffered."""
    # by subject
    holder: Array
    """The slot with what is known about it, or NONE."""
    ends: ends.Ends
    """The tuples with validity, by their ends."""
    free: Array
    """Heads of the free lists and the number of slots and groups ever used."""


class Index(NamedTuple):
    """The hash table of one join, and the keys it leads to."""

    table: Array
    key: Array


def allocate(slots: int, joins: int, streams: int, subjects: int) -> Buffer:
    """Memory for an empty buffer."""
    table = SMALLEST_TABLE
    while table < 2 * slots:
        table *= 2
    groups = slots * joins
    links = np.full((3, slots, joins), NONE, np.int32)
    free = np.zeros(4, np.int64)
    free[[FREE_SLOT, FREE_GROUP]] = NONE
    return Buffer(
        expires=np.zeros(slots, np.int64),
        time=np.zeros(slots, np.int64),
        serial=np.zeros(slots, np.int64),
        row=np.zeros(slots, np.int64),
        size=np.ones(slots, np.int64),
        subject=np.full(slots, NONE, np.int64),
        stream=np.full(slots, NONE, np.int32),
        newer=np.full(slots, NONE, np.int32),
        older=np.full(slots, NONE, np.int32),
        in_group=links[0],
        after=links[1],
        before=links[2],
        group=links[0].reshape(-1),
        next=links[1].reshape(-1),
        previous=links[2].reshape(-1),
        key=np.zeros(groups, np.int64),
        first=np.full((groups, streams), NONE, np.int32),
        last=np.full((groups, streams), NONE, np.int32),
        population=np.zeros((groups, streams), np.int32),
        members=np.zeros(groups, np.int32),
        table=np.zeros((joins, table), np.int64),
        oldest=np.full(streams, NONE, np.int64),
        newest=np.full(streams, NONE, np.int64),
        clock=np.zeros(streams, np.int64),
        live=np.zeros(streams, np.int64),
        holder=np.full(subjects, NONE, np.int64),
        ends=ends.new_ends(slots),
        free=free,
    )


def enlarge(buffer: Buffer, slots: int) -> Buffer:
    """The same contents in more slots; slot and group numbers stay."""
    joins, streams = len(buffer.table), len(buffer.live)
    larger = allocate(slots, joins, streams, len(buffer.holder))
    parts: list[tuple[Any, Any]] = [(buffer, larger), (buffer.ends, larger.ends)]
    for old, new in parts:
        for name, array in old._asdict().items():
            if name not in ("table", "ends"):
                getattr(new, name)[: len(array)] = array
    for join in range(joins):
        refill(larger.table[join], buffer.table[join])
    return larger


@inlined
def group_of(buffer, join, key):
    """The group of a key in a join, or NONE."""
    return find(Index(buffer.table[join], buffer.key), key, tag_of(key))


@inlined
def _new_group(buffer, join, key):
    group = buffer.free[FREE_GROUP]
    if group == NONE:
        group = buffer.free[FRESH_GROUP]
        buffer.free[FRESH_GROUP] += 1
    else:
        buffer.free[FREE_GROUP] = buffer.key[group]
    buffer.key[group] = key
    enter(buffer.table[join], (tag_of(key) << 32) | (group + 1))
    return group


@inlined
def link(buffer, arrival, row, subject, has_validity):
    """Put an arriving tuple into a free slot, at the young end of its chains; return the slot."""
    slot = buffer.free[FREE_SLOT]
    if slot == NONE:
        slot = buffer.free[FRESH_SLOT]
        buffer.free[FRESH_SLOT] += 1
    else:
        buffer.free[FREE_SLOT] = buffer.newer[slot]
    stream = arrival.stream
    buffer.expires[slot] = arrival.expires
    buffer.time[slot] = arrival.time
    buffer.serial[slot] = arrival.serial
    buffer.row[slot] = row
    buffer.subject[slot] = subject
    buffer.stream[slot] = stream

    for join in range(len(arrival.keys)):
        if arrival.present[join] == 0:
            buffer.in_group[slot, join] = NONE
            continue
        group = arrival.groups[join]
        if group == NONE:
            group = _new_group(buffer, join, arrival.keys[join])
        last = buffer.last[group, stream]
        buffer.in_group[slot, join] = group
        buffer.before[slot, join] = last
        buffer.after[slot, join] = NONE
        if last == NONE:
            buffer.first[group, stream] = slot
        else:
            buffer.after[last, join] = slot
        buffer.last[group, stream] = slot
        buffer.population[group, stream] += 1
        buffer.members[group] += 1

    join_stream(buffer, slot, stream)
    if subject != NONE:
        buffer.holder[subject] = slot
    if has_validity:
        ends.insert(buffer, slot)
    return slot


@inlined
def unlink(buffer, slot, has_validity):
    """Free a slot, and the groups in which its tuple was the last."""
    stream = buffer.stream[slot]
    for join in range(buffer.in_group.shape[1]):
        group = buffer.in_group[slot, join]
        if group == NONE:
            continue
        before, after = buffer.before[slot, join], buffer.after[slot, join]
        if before == NONE:
            buffer.first[group, stream] = after
        else:
            buffer.after[before, join] = after
        if after == NONE:
            buffer.last[group, stream] = before
        else:
            buffer.before[after, join] = before
        buffer.population[group, stream] -= 1
        buffer.members[group] -= 1
        if buffer.members[group] == 0:
            leave(buffer.table[join], (tag_of(buffer.key[group]) << 32) | (group + 1))
            buffer.key[group] = buffer.free[FREE_GROUP]
            buffer.free[FREE_GROUP] = group

    leave_stream(buffer, slot, stream)
    if buffer.subject[slot] != NONE:
        buffer.holder[buffer.subject[slot]] = NONE
    if has_validity:
        ends.remove(buffer, slot)

    buffer.stream[slot] = NONE
    buffer.newer[slot] = buffer.free[FREE_SLOT]
    buffer.free[FREE_SLOT] = slot
