"""The tuples that are remembered, as arrays: slots, chains of equal keys, order of arrival.

A buffered tuple lives in a *slot*. Slots with the same key form a *group*, found through an
open-addressing hash table; inside a group each stream has a chain from its oldest to its newest
tuple. All slots of a stream are also linked in the order of their arrival, which is the order in
which they expire. Nothing here is a Python object per tuple, and every operation takes constant
time.

The fields of a slot share one record of 64 bytes, so that touching a tuple costs one cache line;
:class:`Buffer` shows each field as an array of its own. Only the links of the chains, which every
probe follows, stand by themselves, because there they are closer together.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import cached, inlined, mix
from recollect.policies.base import Array

NONE = -1
STREAMS = 2
SMALLEST_TABLE = 16

SLOT = np.dtype(
    [
        ("expires", "i8"),
        ("time", "i8"),
        ("serial", "i8"),
        ("row", "i8"),
        ("size", "i8"),
        ("group", "i4"),
        ("stream", "i4"),
        ("previous", "i4"),
        ("newer", "i4"),
        ("older", "i4"),
        ("spare", "i4"),
    ]
)
GROUP = np.dtype(
    [
        ("key", "i8"),
        ("first", "i4", (STREAMS,)),
        ("last", "i4", (STREAMS,)),
        ("population", "i4", (STREAMS,)),
    ]
)

FREE_SLOT, FRESH_SLOT, FREE_GROUP, FRESH_GROUP = range(4)


class Buffer(NamedTuple):
    """The arrays of the buffer; policies may read all of them."""

    # by slot
    expires: Array
    """The last moment, on the clock of its stream, at which the tuple may match."""
    time: Array
    serial: Array
    """The tuple's place in the merged input: smaller is older."""
    row: Array
    """Where the payload store keeps the rest of the tuple."""
    size: Array
    """What the tuple counts against the budget: 1, or its bytes."""
    group: Array
    stream: Array
    next: Array
    """The next younger tuple of the same stream with the same key."""
    previous: Array
    newer: Array
    """The next younger tuple of the same stream."""
    older: Array
    extra: Array
    """The values that a residual filter looks at, one line per slot."""
    # by group
    key: Array
    first: Array
    """``first[group, stream]``: the oldest tuple of that stream with this key."""
    last: Array
    population: Array
    # the hash table: (32-bit tag, group + 1) in one word, 0 for empty
    table: Array
    # by stream
    oldest: Array
    newest: Array
    clock: Array
    """What time it is for each stream: the time, or its number of arrivals for a count window."""
    live: Array
    """How many tuples of each stream are buffered."""
    free: Array
    """Heads of the free lists and the number of slots and groups ever used."""


class Storage(NamedTuple):
    """The memory behind a :class:`Buffer`, in as few arrays as possible."""

    slots: Array
    next: Array
    extra: Array
    groups: Array
    table: Array
    streams: Array
    free: Array


def allocate(slots: int, extra_width: int) -> Storage:
    """Memory for an empty buffer with so many slots."""
    table = SMALLEST_TABLE
    while table < 2 * slots:
        table *= 2
    streams = np.zeros((4, STREAMS), np.int64)
    streams[:2] = NONE
    free = np.zeros(4, np.int64)
    free[[FREE_SLOT, FREE_GROUP]] = NONE
    return Storage(
        slots=np.zeros(slots, SLOT),
        next=np.zeros(slots, np.int32),
        extra=np.zeros((slots, extra_width), np.int64),
        groups=np.zeros(slots, GROUP),
        table=np.zeros(table, np.int64),
        streams=streams,
        free=free,
    )


def view(storage: Storage) -> Buffer:
    """The storage as the kernel and the policies see it."""
    slots = {name: storage.slots[name] for name in SLOT.names or () if name != "spare"}
    groups = {name: storage.groups[name] for name in GROUP.names or ()}
    oldest, newest, clock, live = storage.streams
    return Buffer(
        **slots,
        **groups,
        next=storage.next,
        extra=storage.extra,
        table=storage.table,
        oldest=oldest,
        newest=newest,
        clock=clock,
        live=live,
        free=storage.free,
    )


def enlarge(storage: Storage, slots: int) -> Storage:
    """The same contents in more slots; slot and group numbers stay."""
    larger = allocate(slots, storage.extra.shape[1])
    used = len(storage.slots)
    larger.slots[:used] = storage.slots
    larger.next[:used] = storage.next
    larger.extra[:used] = storage.extra
    larger.groups[:used] = storage.groups
    larger.streams[:] = storage.streams
    larger.free[:] = storage.free
    refill(larger.table, storage.table)
    return larger


@inlined
def tag_of(key):
    """31 well-mixed bits of a key: the place in the table where the search for it starts."""
    return mix(key) & 0x7FFFFFFF


@inlined
def find(buffer, key, tag):
    """The group of a key, or NONE."""
    mask = len(buffer.table) - 1
    place = tag & mask
    while True:
        entry = buffer.table[place]
        if entry == 0:
            return NONE
        if entry >> 32 == tag:
            group = (entry & 0xFFFFFFFF) - 1
            if buffer.key[group] == key:
                return group
        place = (place + 1) & mask


@inlined
def enter(table, entry):
    """Put an entry into the hash table."""
    mask = len(table) - 1
    place = (entry >> 32) & mask
    while table[place] != 0:
        place = (place + 1) & mask
    table[place] = entry


@inlined
def leave(table, entry):
    """Empty the place of an entry and move up those behind it that would no longer be found."""
    mask = len(table) - 1
    hole = (entry >> 32) & mask
    while table[hole] != entry:
        hole = (hole + 1) & mask
    place = hole
    while True:
        place = (place + 1) & mask
        moving = table[place]
        if moving == 0:
            break
        if (place - (moving >> 32)) & mask >= (place - hole) & mask:
            table[hole] = moving
            hole = place
    table[hole] = 0


@cached
def refill(table, smaller):
    """Put what is in a hash table into a larger one, which is empty."""
    for entry in smaller:
        if entry != 0:
            enter(table, entry)


@cached
def index_groups(table, key, groups):
    """Enter some groups into an empty hash table."""
    for group in groups:
        enter(table, (tag_of(key[group]) << 32) | (group + 1))


@inlined
def is_live(buffer, slot):
    """Whether there is a tuple in a slot."""
    return 0 <= slot < buffer.free[FRESH_SLOT] and buffer.stream[slot] != NONE


@inlined
def has_free_slot(buffer):
    """Whether a tuple can be linked without enlarging the storage."""
    return buffer.free[FREE_SLOT] != NONE or buffer.free[FRESH_SLOT] < len(buffer.expires)


@inlined
def _new_group(buffer, key, tag):
    group = buffer.free[FREE_GROUP]
    if group == NONE:
        group = buffer.free[FRESH_GROUP]
        buffer.free[FRESH_GROUP] += 1
    else:
        buffer.free[FREE_GROUP] = buffer.first[group, 0]
    buffer.key[group] = key
    for stream in range(STREAMS):
        buffer.first[group, stream] = NONE
        buffer.last[group, stream] = NONE
        buffer.population[group, stream] = 0
    enter(buffer.table, (tag << 32) | (group + 1))
    return group


@inlined
def join_stream(buffer, slot, stream):
    """Put a tuple at the young end of its stream."""
    newest = buffer.newest[stream]
    buffer.older[slot] = newest
    buffer.newer[slot] = NONE
    if newest == NONE:
        buffer.oldest[stream] = slot
    else:
        buffer.newer[newest] = slot
    buffer.newest[stream] = slot
    buffer.live[stream] += 1


@inlined
def leave_stream(buffer, slot, stream):
    """Take a tuple out of its stream."""
    older, newer = buffer.older[slot], buffer.newer[slot]
    if older == NONE:
        buffer.oldest[stream] = newer
    else:
        buffer.newer[older] = newer
    if newer == NONE:
        buffer.newest[stream] = older
    else:
        buffer.older[newer] = older
    buffer.live[stream] -= 1


@inlined
def link(buffer, arrival, tag, group, row, size):
    """Put an arriving tuple into a free slot, at the young end of its chains; return the slot."""
    slot = buffer.free[FREE_SLOT]
    if slot == NONE:
        slot = buffer.free[FRESH_SLOT]
        buffer.free[FRESH_SLOT] += 1
    else:
        buffer.free[FREE_SLOT] = buffer.next[slot]
    if group == NONE:
        group = _new_group(buffer, arrival.key, tag)
    stream = arrival.stream
    buffer.expires[slot] = arrival.expires
    buffer.time[slot] = arrival.time
    buffer.serial[slot] = arrival.serial
    buffer.row[slot] = row
    buffer.size[slot] = size
    buffer.group[slot] = group
    buffer.stream[slot] = stream

    last = buffer.last[group, stream]
    buffer.previous[slot] = last
    buffer.next[slot] = NONE
    if last == NONE:
        buffer.first[group, stream] = slot
    else:
        buffer.next[last] = slot
    buffer.last[group, stream] = slot
    buffer.population[group, stream] += 1

    join_stream(buffer, slot, stream)
    return slot


@inlined
def unlink(buffer, slot):
    """Free a slot; return its group if that was the last tuple in it, which frees it too."""
    stream = buffer.stream[slot]
    group = buffer.group[slot]

    previous, next_ = buffer.previous[slot], buffer.next[slot]
    if previous == NONE:
        buffer.first[group, stream] = next_
    else:
        buffer.next[previous] = next_
    if next_ == NONE:
        buffer.last[group, stream] = previous
    else:
        buffer.previous[next_] = previous
    buffer.population[group, stream] -= 1

    leave_stream(buffer, slot, stream)

    buffer.stream[slot] = NONE
    buffer.next[slot] = buffer.free[FREE_SLOT]
    buffer.free[FREE_SLOT] = slot

    for other in range(STREAMS):
        if buffer.first[group, other] != NONE:
            return NONE
    leave(buffer.table, (tag_of(buffer.key[group]) << 32) | (group + 1))
    buffer.first[group, 0] = buffer.free[FREE_GROUP]
    buffer.free[FREE_GROUP] = group
    return group


def slots_of(buffer: Buffer, stream: int, from_row: int = 0) -> Array:
    """The slots of a stream in order of arrival, from the first after the last row below a number.

    With ``from_row`` 0 these are all; with a larger number only the end of the list is walked, up
    to the youngest tuple whose row has a smaller number.
    """
    count = _count_back(buffer.row, buffer.older, buffer.newest[stream], from_row)
    slots = np.empty(count, np.int64)
    _walk_back(buffer.older, buffer.newest[stream], slots)
    return slots


@cached
def _count_back(row, older, slot, from_row):
    count = 0
    while slot != NONE and row[slot] >= from_row:
        count += 1
        slot = older[slot]
    return count


@cached
def _walk_back(older, slot, slots):
    for i in range(len(slots) - 1, -1, -1):
        slots[i] = slot
        slot = older[slot]
