"""The tuples that are remembered, as arrays: slots, chains of equal keys, order of arrival.

A buffered tuple lives in a *slot*. In each join that it takes part in, slots with the same key form
a *group*, found through an open-addressing hash table; inside a group each stream has a chain from
its oldest to its newest tuple. All slots of a stream are also linked in the order of their arrival,
which is the order in which they expire, unless tuples bring their own end: then they stand in a
heap (:mod:`recollect.join.ends`). Nothing here is a Python object per tuple.

A subject, about which a newer fact replaces the older one, is kept like the key of one more join.

The fields of a slot share one record, of 64 bytes in a join of two streams, so that touching a
tuple costs one cache line; :class:`Buffer` shows each field as an array of its own. Only the links
of the chains, which every probe follows, stand by themselves, because there they are closer
together.
"""

from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import inlined, light, mix, step_is, sure
from recollect.join import ends
from recollect.policies.base import Array
from recollect.policies.shape import (
    NONE,
    Many,
    Pair,
    following,
    group_in,
    has_end,
    indexes,
    key_in,
    link_of,
    slot_bytes,
    streams,
    takes_part,
)

SMALLEST_TABLE = 16

FREE_SLOT, FRESH_SLOT, FREE_GROUP, FRESH_GROUP = range(4)


def slot_type(tables: int) -> np.dtype:
    """The record of a slot; it fills whole words."""
    return np.dtype(
        [
            *((name, "i8") for name in ("expires", "time", "serial", "row", "size")),
            *((name, "i4", (tables,)) for name in ("group", "previous")),
            *((name, "i4") for name in ("stream", "newer", "older", "spare")),
        ]
    )


def group_type(streams: int) -> np.dtype:
    """The record of a group."""
    return np.dtype(
        [("key", "i8"), *((name, "i4", (streams,)) for name in ("first", "last", "population"))]
    )


class Buffer(NamedTuple):
    """The arrays of the buffer; policies may read all of them."""

    shape: Any
    """How the streams meet, see :mod:`recollect.policies.shape`."""
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
    stream: Array
    newer: Array
    """The next younger tuple of the same stream."""
    older: Array
    extra: Array
    """The values that filters look at, one line per slot."""
    # by slot and join
    group: Array
    """The group, or NONE if the tuple does not take part in the join."""
    next: Array
    """The next younger tuple with the same key, see :func:`recollect.policies.shape.following`."""
    previous: Array
    # by group
    key: Array
    first: Array
    """``first[group, stream]``: the oldest tuple of that stream with this key."""
    last: Array
    population: Array
    """``population[group, stream]``: how many tuples of that stream have this key."""
    # by join: the hash table, whose entries are (32-bit tag, group + 1) in one word, 0 for empty
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
    ends: ends.Ends
    """The tuples that bring their own end, the first to end on top."""


class Storage(NamedTuple):
    """The memory behind a :class:`Buffer`, in as few arrays as possible."""

    slots: Array
    next: Array
    extra: Array
    groups: Array
    table: Array
    streams: Array
    free: Array
    heap: Array
    heap_place: Array
    heap_size: Array


def allocate(slots: int, extra_width: int, shape: Pair | Many) -> Storage:
    """Memory for an empty buffer with so many slots."""
    tables, count = int(indexes(shape)), int(streams(shape))
    size = SMALLEST_TABLE
    while size < 2 * slots:
        size *= 2
    by_stream = np.zeros((4, count), np.int64)
    by_stream[:2] = NONE
    free = np.zeros(4, np.int64)
    free[[FREE_SLOT, FREE_GROUP]] = NONE
    in_heap = slots if any(has_end(shape, stream) for stream in range(count)) else 0
    return Storage(
        slots=np.zeros(slots, slot_type(tables)),
        next=np.zeros(slots * tables, np.int32),
        extra=np.zeros((slots, extra_width), np.int64),
        groups=np.zeros(slots * tables, group_type(count)),
        table=np.zeros((tables, size), np.int64),
        streams=by_stream,
        free=free,
        heap=np.zeros(in_heap, np.int32),
        heap_place=np.zeros(in_heap, np.int32),
        heap_size=np.zeros(1, np.int64),
    )


def view(storage: Storage, shape: Pair | Many) -> Buffer:
    """The storage as the kernel and the policies see it."""
    records = (storage.slots, storage.groups)
    fields = {name: part[name] for part in records for name in part.dtype.names or ()}
    fields.pop("spare", None)
    oldest, newest, clock, live = storage.streams
    return Buffer(
        shape=shape,
        **fields,
        next=storage.next,
        extra=storage.extra,
        table=storage.table,
        oldest=oldest,
        newest=newest,
        clock=clock,
        live=live,
        free=storage.free,
        ends=ends.Ends(storage.heap, storage.heap_place, storage.heap_size),
    )


def with_slots(storage: Storage, slots: int, shape: Pair | Many) -> Storage:
    """The same contents in more slots; slot and group numbers stay."""
    larger = allocate(slots, storage.extra.shape[1], shape)
    for name, old in storage._asdict().items():
        if name != "table":
            getattr(larger, name)[: len(old)] = old
    for table, smaller in zip(larger.table, storage.table, strict=True):
        refill(table, smaller)
    return larger


@inlined
def know_steps(buffer):
    """Tell the compiler where the records of a join of two streams lie."""
    if slot_bytes(buffer.shape) == 64:
        step_is(buffer.expires, 64)
        step_is(buffer.time, 64)
        step_is(buffer.serial, 64)
        step_is(buffer.row, 64)
        step_is(buffer.size, 64)
        step_is(buffer.stream, 64)
        step_is(buffer.newer, 64)
        step_is(buffer.older, 64)
        step_is(buffer.group, 64)
        step_is(buffer.previous, 64)
        step_is(buffer.key, 32)
        step_is(buffer.first, 32)
        step_is(buffer.last, 32)
        step_is(buffer.population, 32)


@inlined
def tag_of(key):
    """31 well-mixed bits of a key: the place in the table where the search for it starts."""
    return mix(key) & 0x7FFFFFFF


@inlined
def find(buffer, join, key, tag):
    """The group of a key in a join, or NONE."""
    table = buffer.table[join]
    mask = sure(len(table) - 1)
    place = tag & mask
    while True:
        entry = table[place]
        if entry == 0:
            return NONE
        if entry >> 32 == tag:
            group = sure((entry & 0xFFFFFFFF) - 1)
            if buffer.key[group] == key:
                return group
        place = (place + 1) & mask


@inlined
def enter(table, entry):
    """Put an entry into the hash table."""
    mask = sure(len(table) - 1)
    place = (entry >> 32) & mask
    while table[place] != 0:
        place = (place + 1) & mask
    table[place] = entry


@inlined
def leave(table, entry):
    """Empty the place of an entry and move up those behind it that would no longer be found."""
    mask = sure(len(table) - 1)
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


@light
def refill(table, smaller):
    """Put what is in a hash table into a larger one, which is empty."""
    for entry in smaller:
        if entry != 0:
            enter(table, entry)


@light
def index_groups(table, key, groups):
    """Enter some groups into an empty hash table."""
    for group in groups:
        enter(table, _entry(key[group], group))


@inlined
def _entry(key, group):
    """What the hash table has for a key and its group."""
    return (tag_of(key) << 32) | (np.int64(group) + 1)


@inlined
def is_live(buffer, slot):
    """Whether there is a tuple in a slot."""
    return 0 <= slot < buffer.free[FRESH_SLOT] and buffer.stream[slot] != NONE


@inlined
def has_free_slot(buffer):
    """Whether a tuple can be linked without enlarging the storage."""
    return buffer.free[FREE_SLOT] != NONE or buffer.free[FRESH_SLOT] < len(buffer.expires)


@inlined
def _new_group(buffer, join, key):
    group = buffer.free[FREE_GROUP]
    if group == NONE:
        group = buffer.free[FRESH_GROUP]
        buffer.free[FRESH_GROUP] += 1
    else:
        buffer.free[FREE_GROUP] = buffer.first[group, 0]
    group = sure(group)
    buffer.key[group] = key
    for stream in range(streams(buffer.shape)):
        buffer.first[group, stream] = NONE
        buffer.last[group, stream] = NONE
        buffer.population[group, stream] = 0
    enter(buffer.table[join], _entry(key, group))
    return group


@inlined
def is_empty(buffer, group):
    """Whether the last tuple of a group has left."""
    count = 0
    for stream in range(streams(buffer.shape)):
        count += buffer.population[group, stream]
    return count == 0


@inlined
def _join_stream(buffer, slot, stream):
    """Put a tuple at the young end of its stream."""
    newest = buffer.newest[stream]
    buffer.older[slot] = newest
    buffer.newer[slot] = NONE
    if newest == NONE:
        buffer.oldest[stream] = slot
    else:
        buffer.newer[sure(newest)] = slot
    buffer.newest[stream] = slot
    buffer.live[stream] += 1


@inlined
def _leave_stream(buffer, slot, stream):
    """Take a tuple out of its stream."""
    older, newer = buffer.older[slot], buffer.newer[slot]
    if older == NONE:
        buffer.oldest[stream] = newer
    else:
        buffer.newer[sure(older)] = newer
    if newer == NONE:
        buffer.newest[stream] = older
    else:
        buffer.older[sure(newer)] = older
    buffer.live[stream] -= 1


@inlined
def link(buffer, arrival, row, size):
    """Put an arriving tuple into a free slot, at the young end of its chains; return the slot."""
    slot = buffer.free[FREE_SLOT]
    if slot == NONE:
        slot = buffer.free[FRESH_SLOT]
        buffer.free[FRESH_SLOT] += 1
    else:
        buffer.free[FREE_SLOT] = buffer.newer[slot]
    slot = sure(slot)
    stream = sure(arrival.stream)
    buffer.expires[slot] = arrival.expires
    buffer.time[slot] = arrival.time
    buffer.serial[slot] = arrival.serial
    buffer.row[slot] = row
    buffer.size[slot] = size
    buffer.stream[slot] = stream
    for join in range(indexes(buffer.shape)):
        if not takes_part(buffer.shape, arrival, join):
            buffer.group[slot, join] = NONE
            continue
        group = group_in(buffer.shape, arrival, join)
        if group == NONE:
            group = _new_group(buffer, join, key_in(buffer.shape, arrival, join))
        group = sure(group)
        buffer.group[slot, join] = group
        last = buffer.last[group, stream]
        buffer.previous[slot, join] = last
        buffer.next[link_of(buffer.shape, slot, join)] = NONE
        if last == NONE:
            buffer.first[group, stream] = slot
        else:
            buffer.next[link_of(buffer.shape, sure(last), join)] = slot
        buffer.last[group, stream] = slot
        buffer.population[group, stream] += 1
    _join_stream(buffer, slot, stream)
    if has_end(buffer.shape, stream):
        ends.insert(buffer, slot)
    return slot


@inlined
def unlink(buffer, slot):
    """Free a slot, and the groups in which its tuple was the last."""
    slot = sure(slot)
    stream = sure(buffer.stream[slot])
    for join in range(indexes(buffer.shape)):
        group = buffer.group[slot, join]
        if group == NONE:
            continue
        group = sure(group)
        previous, next_ = buffer.previous[slot, join], following(buffer, slot, join)
        if previous == NONE:
            buffer.first[group, stream] = next_
        else:
            buffer.next[link_of(buffer.shape, sure(previous), join)] = next_
        if next_ == NONE:
            buffer.last[group, stream] = previous
        else:
            buffer.previous[sure(next_), join] = previous
        buffer.population[group, stream] -= 1
        if is_empty(buffer, group):
            leave(buffer.table[join], _entry(buffer.key[group], group))
            buffer.first[group, 0] = buffer.free[FREE_GROUP]
            buffer.free[FREE_GROUP] = group
    _leave_stream(buffer, slot, stream)
    if has_end(buffer.shape, stream):
        ends.remove(buffer, slot)
    buffer.stream[slot] = NONE
    buffer.newer[slot] = buffer.free[FREE_SLOT]
    buffer.free[FREE_SLOT] = slot


def slots_of(buffer: Buffer, stream: int, from_row: int = 0) -> Array:
    """The slots of a stream in order of arrival, from the first after the last row below a number.

    With ``from_row`` 0 these are all; with a larger number only the end of the list is walked, up
    to the youngest tuple whose row has a smaller number.
    """
    count = _count_back(buffer.row, buffer.older, buffer.newest[stream], from_row)
    slots = np.empty(count, np.int64)
    _walk_back(buffer.older, buffer.newest[stream], slots)
    return slots


@light
def _count_back(row, older, slot, from_row):
    count = 0
    while slot != NONE and row[slot] >= from_row:
        count += 1
        slot = older[slot]
    return count


@light
def _walk_back(older, slot, slots):
    for i in range(len(slots) - 1, -1, -1):
        slots[i] = slot
        slot = older[slot]
