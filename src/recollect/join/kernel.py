"""The inner loop of every join: an arrival expires what is over, probes, and is admitted or not.

It is the same for two streams and for many joins over one memory; what differs is asked of the
shape (:mod:`recollect.policies.shape`). An arrival is handled in these steps:

1. what is no longer alive expires, and what is known about its subject is replaced;
2. the policy is told of it;
3. it probes the groups of its keys, one per join. A result of a join has one tuple of each of its
   streams. Each buffered tuple that takes part in results is told once, however many combinations
   it is in (``match``). If a tuple of some stream is missing, those that are there are told that as
   well (``partial``);
4. it is admitted, for which others may have to go, or refused.

Usually each call goes on in time where the last one stopped. Where it may go back (``unordered``,
for two streams whose batches overlap in time), a tuple may arrive after younger ones have been
buffered. Then pairs are checked for their times, and tuples are kept until nothing that could
match them can come any more, which is what ``horizon`` says.

``run`` is compiled once per policy, shape and number of pools. It handles whole arrivals only:
before an arrival whose results would not fit the output, or that could find no slot, it returns and
says so, and is called again when the caller has made room.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined, pick, prefetch, sure
from recollect.join.buffer import (
    find,
    has_free_slot,
    is_empty,
    is_live,
    know_steps,
    link,
    tag_of,
    unlink,
)
from recollect.join.residual import Residual, holds
from recollect.policies.base import (
    NEWCOMER,
    Array,
    Arrival,
    admit,
    arrive,
    crowded,
    forget,
    match_in,
    partial,
    victim,
)
from recollect.policies.shape import (
    NONE,
    following,
    group_in,
    has_end,
    indexes,
    joins,
    other,
    others,
    role,
    streams,
)

FOREVER = np.iinfo(np.int64).max
BEFORE_ALL = np.iinfo(np.int64).min

DONE, OUTPUT_FULL, SLOTS_FULL, STATISTICS_FULL, BAD_VICTIM = range(5)
"""Why ``run`` returned."""

LOOK_AHEAD = 12
"""How many arrivals ahead the hash table is told to be ready."""


class Feed(NamedTuple):
    """Tuples of all streams, and the order in which they arrive.

    Windows and validity have become numbers. Each array but the first is by tuple.
    """

    order: Array
    """The places of the tuples, in order of arrival."""
    stream: Array
    time: Array
    moment: Array
    """What the clock of its stream shows."""
    expires: Array
    """The last moment at which the tuple may match."""
    keys: Array
    """By tuple and join; in a last column the subject, if facts replace each other."""
    present: Array
    """The same: whether there is such a key. A tuple without any only moves clocks."""
    row: Array
    """Where the payload store keeps the rest of the tuple."""
    size: Array
    """What each tuple's row takes in memory; empty if no budget is in bytes."""
    extra: Array
    """What filters look at, one line per tuple."""


class Plan(NamedTuple):
    """What stays the same while a join runs."""

    counting: Array
    """By stream: whether its clock counts arrivals."""
    pool: Array
    """By stream: which part of the budget its tuples use."""
    capacity: Array
    """By pool: the budget."""
    by_rate: Array
    """By pool: whether what comes while it is full is shed, as all its streams are, by rate."""
    most_slots: Array
    """How many slots the buffer may ever need."""
    overhead: Array
    """For a budget in bytes: those of a tuple beside its row. 0 if each tuple counts 1."""
    reserved: Array
    """For a budget in bytes: how many slots take these even if they are empty."""
    visit: Array
    """Whether every match must be looked at, or counting them by chains will do."""
    unordered: Array
    """Whether a call may begin at a time before the end of the one before."""
    horizon: Array
    """The oldest time at which another call may begin: for certain, and probably. What has expired
    by the first is removed, what has by the second is the first to go when room is needed."""
    overdue: Array
    """Slots to be emptied before the next arrival, the first one last."""
    waiting: Array
    """How many slots are overdue."""
    streams_of: Array
    """By join and place in it: the stream, NONE beyond the last."""
    groups: Array
    """Scratch, by join."""
    cursors: Array
    """Scratch, by place in a join."""


CERTAIN, PROBABLE = range(2)


class Filters(NamedTuple):
    """The conditions of all joins."""

    number: Array
    """By join: the number of its filter, or NONE."""
    program: Array
    """By filter: where its program and its constants begin; one line more for their end."""
    lines: Array
    """By filter and side: where in the line of a tuple its words begin, and where they end."""
    code: Residual
    """The programs of all filters."""


class Ledger(NamedTuple):
    """What has happened so far."""

    used: Array
    """By pool: how much of the budget is in use."""
    arrivals: Array
    """By stream, like the next five."""
    evicted: Array
    expired: Array
    replaced: Array
    """Tuples that a newer fact replaced."""
    refused: Array
    shed: Array
    """Those that came while their pool, which is shed by rate, was full."""
    results: Array
    """By join."""
    totals: Array
    """The largest number of buffered tuples, and that number summed over all arrivals."""


PEAK, ALIVE_SUM, TOTALS = range(3)


class Output(NamedTuple):
    """The results found: which join, and the rows of its streams in the payload stores."""

    join: Array
    rows: Array
    """``rows[place, result]``."""
    filled: Array


class Trace(NamedTuple):
    """What each arrival of a feed did, if that is wanted; else empty."""

    found: Array
    """By arrival and join: the results."""
    held: Array
    """By arrival: how many tuples are buffered after it."""


@inlined
def _remove(states, buffer, plan, ledger, slot):
    """Let a tuple go, for whatever reason."""
    slot = sure(slot)
    pool = sure(plan.pool[sure(buffer.stream[slot])])
    forget(pick(states, pool), buffer, slot)
    ledger.used[pool] -= buffer.size[slot]
    unlink(buffer, slot)


@inlined
def _live(buffer):
    count = 0
    for stream in range(streams(buffer.shape)):
        count += buffer.live[stream]
    return count


@inlined
def _room(plan, pool, live):
    """What a part of the budget has for tuples, if so many are buffered in all parts.

    Arrays do not shrink when rows become wider, so that fewer tuples fit than have had slots.
    """
    capacity = plan.capacity[pool]
    empty = plan.reserved[0] - live
    if empty <= 0:
        return capacity
    taken = plan.overhead[0] * empty
    if len(plan.capacity) > 1:
        together = 0
        for part in plan.capacity:
            together += part
        taken = np.int64(taken * (capacity / together))
    return max(0, capacity - taken)


@inlined
def _oldest(buffer, plan, pool):
    """The oldest tuple of a pool."""
    chosen = NONE
    for stream in range(streams(buffer.shape)):
        slot = buffer.oldest[stream]
        if plan.pool[stream] != pool or slot == NONE:
            continue
        if chosen == NONE or buffer.serial[slot] < buffer.serial[chosen]:
            chosen = slot
    return chosen


@inlined
def _expired(buffer, plan, pool):
    """A tuple of a pool whose window has probably passed, or NONE."""
    for stream in range(streams(buffer.shape)):
        slot = buffer.oldest[stream]
        if (
            plan.pool[stream] == pool
            and slot != NONE
            and buffer.expires[slot] < buffer.clock[stream]
        ):
            return slot
    return NONE


@inlined
def _set_clocks(buffer, plan, stream, time, moment):
    if plan.unordered[0] != 0:
        probably = min(time, plan.horizon[PROBABLE])
        for each in range(streams(buffer.shape)):
            buffer.clock[each] = max(buffer.clock[each], probably)
        return
    for each in range(streams(buffer.shape)):
        if plan.counting[each] == 0:
            buffer.clock[each] = time
        elif each == stream:
            buffer.clock[each] = moment


@inlined
def _over(buffer, plan, time):
    """A tuple that is no longer alive, or NONE.

    Streams with windows come first, one after the other; then tuples with an end of their own.
    """
    unordered = plan.unordered[0] != 0
    if unordered and plan.waiting[0] > 0:
        plan.waiting[0] -= 1
        return plan.overdue[plan.waiting[0]]
    any_end = False
    for stream in range(streams(buffer.shape)):
        if has_end(buffer.shape, stream):
            any_end = True
            continue
        slot = buffer.oldest[stream]
        if slot != NONE:
            slot = sure(slot)
            now = min(time, plan.horizon[CERTAIN]) if unordered else buffer.clock[stream]
            if buffer.expires[slot] < now:
                return slot
    if any_end:
        heap = buffer.ends
        if heap.size[0] > 0 and buffer.expires[heap.slots[0]] < time:
            return np.int64(heap.slots[0])
    return NONE


@inlined
def _combinations(buffer, join, stream, group):
    """How many results an arrival finds in a group, if there is no filter."""
    count = np.int64(1)
    group = sure(group)
    for place in range(others(buffer.shape, join, stream)):
        count *= np.int64(buffer.population[group, other(buffer.shape, join, stream, place)])
    return count


@inlined
def _list(buffer, plan, output, join, own, row, group):
    """Write down all combinations of an arrival, at its own place in the join, and a group."""
    cursors = plan.cursors
    width = 0
    while width < plan.streams_of.shape[1] and plan.streams_of[join, width] != NONE:
        cursors[width] = buffer.first[group, plan.streams_of[join, width]]
        width += 1
    place = 0
    while place >= 0:
        filled = output.filled[0]
        output.filled[0] += 1
        output.join[filled] = join
        for each in range(width):
            output.rows[each, filled] = row if each == own else buffer.row[cursors[each]]
        place = width - 1
        while place >= 0:
            if place != own:
                cursors[place] = following(buffer, cursors[place], join)
                if cursors[place] != NONE:
                    break
                cursors[place] = buffer.first[group, plan.streams_of[join, place]]
            place -= 1


@inlined
def _holds(filters, join, own, feed, at, buffer, slot):
    """Whether the filter of a join holds for an arrival, at its own place there, and a slot."""
    number = filters.number[join]
    begin, end = filters.program[number], filters.program[number + 1]
    code = Residual(
        filters.code.program[begin[0] : end[0]],
        filters.code.constants[begin[1] : end[1]],
        filters.code.stack,
    )
    left, right = filters.lines[number]
    one, i = feed.extra[:, left[0] : left[1]], np.int64(at)
    two, j = buffer.extra[:, right[0] : right[1]], np.int64(slot)
    if own != 0:
        one, i = buffer.extra[:, left[0] : left[1]], np.int64(slot)
        two, j = feed.extra[:, right[0] : right[1]], np.int64(at)
    return holds(code, one, i, two, j)


@inlined
def _in_time(buffer, slot, arrival):
    """Whether an arrival and a tuple that may be younger are alive together."""
    time = buffer.time[slot]
    if time <= arrival.time:
        return buffer.expires[slot] >= arrival.time
    return arrival.expires >= time


@inlined
def _probe(states, buffer, feed, at, arrival, join, plan, filters, output):
    """Count the results of an arrival in a join, and tell the policy of those that took part."""
    shape, stream = buffer.shape, arrival.stream
    group = sure(group_in(shape, arrival, join))
    filtering = filters.number[join] != NONE
    emitting = len(output.join) > 0
    unordered = plan.unordered[0] != 0
    own = role(shape, join, stream)
    pairwise = others(shape, join, stream) == 1
    count = _combinations(buffer, join, stream, group)
    if not pairwise and emitting and count > 0:
        _list(buffer, plan, output, join, own, feed.row[at], group)
    if not (filtering or unordered or (pairwise and emitting) or plan.visit[0] != 0):
        return count
    passing = 0
    for place in range(others(shape, join, stream)):
        partner = other(shape, join, stream, place)
        pool = plan.pool[partner]
        slot = buffer.first[group, partner]
        while slot != NONE:
            slot = sure(slot)
            passed = pairwise or count > 0
            if filtering:
                passed = _holds(filters, join, own, feed, at, buffer, slot)
            if unordered:
                passed = passed and _in_time(buffer, slot, arrival)
            if passed:
                passing += 1
                if pairwise and emitting:
                    filled = output.filled[0]
                    output.filled[0] += 1
                    if joins(shape) > 1:
                        output.join[filled] = join
                    output.rows[own, filled] = feed.row[at]
                    output.rows[1 - own, filled] = buffer.row[slot]
                match_in(pick(states, pool), buffer, slot, join)
            elif not pairwise:
                partial(pick(states, pool), buffer, slot)
            slot = following(buffer, slot, join)
    return passing if pairwise else count


@inlined
def _arrival(feed, plan, at, serial, count):
    """The arrival as policies see it."""
    keys, present = feed.keys[at], feed.present[at]
    first = 0
    while first < count - 1 and present[first] == 0:
        first += 1
    return Arrival(
        feed.stream[at],
        keys[first],
        feed.time[at],
        feed.expires[at],
        plan.groups[first],
        serial,
        keys,
        plan.groups,
        present,
    )


@inlined
def _forget_empty_groups(buffer, plan):
    """After an eviction: it may have been the last tuple with a key of the arrival."""
    for join in range(indexes(buffer.shape)):
        group = plan.groups[join]
        if group != NONE and is_empty(buffer, sure(group)):
            plan.groups[join] = NONE


def run(states, buffer, feed, begin, plan, ledger, filters, output, trace):
    """Join a feed, from an arrival on.

    Returns why it stopped, and before which arrival.
    """
    know_steps(buffer)
    shape = buffer.shape
    tables = indexes(shape)
    count = joins(shape)
    pools = len(states)  # known to the compiler
    if pools > 2:  # the last ones may only fill up the tuple
        pools = len(plan.capacity)
    total = len(feed.order)
    emitting = len(output.join) > 0
    tracing = len(trace.held) > 0
    most_slots = plan.most_slots[0]
    overhead = plan.overhead[0]
    serial = 0
    for stream in range(streams(shape)):
        serial += ledger.arrivals[stream]
    peak = ledger.totals[PEAK]
    alive_sum = ledger.totals[ALIVE_SUM]
    why = DONE
    stopped = total
    for at in range(sure(begin), total):
        if len(buffer.expires) < most_slots and not has_free_slot(buffer):
            why, stopped = SLOTS_FULL, at
            break
        full = False
        for pool in range(pools):
            full = full or crowded(pick(states, pool))
        if full:
            why, stopped = STATISTICS_FULL, at
            break
        if at + LOOK_AHEAD < total:
            for join in range(tables):
                coming = tag_of(feed.keys[feed.order[at + LOOK_AHEAD], join])
                prefetch(buffer.table[join], coming & (buffer.table.shape[1] - 1))
        tuple_ = feed.order[at]
        stream, time = sure(np.int64(feed.stream[tuple_])), feed.time[tuple_]

        _set_clocks(buffer, plan, stream, time, feed.moment[tuple_])
        while True:
            slot = _over(buffer, plan, time)
            if slot != NONE:
                ledger.expired[buffer.stream[slot]] += 1
            else:
                if tables > count and feed.present[tuple_, count] != 0:
                    subject = feed.keys[tuple_, count]
                    group = find(buffer, count, subject, tag_of(subject))
                    if group != NONE:
                        slot = np.int64(buffer.first[group, stream])
                if slot == NONE:
                    break
                ledger.replaced[stream] += 1
            _remove(states, buffer, plan, ledger, slot)

        present = False
        for join in range(tables):
            plan.groups[join] = NONE
            if feed.present[tuple_, join] != 0:
                key = feed.keys[tuple_, join]
                plan.groups[join] = find(buffer, join, key, tag_of(key))
                present = present or join < count
        arrival = _arrival(feed, plan, tuple_, serial + 1, count)
        if emitting:
            expected = 0
            for join in range(count):
                group = group_in(shape, arrival, join)
                if group != NONE:
                    expected += _combinations(buffer, join, stream, group)
            if output.filled[0] + expected > len(output.join):
                why, stopped = OUTPUT_FULL, at
                break

        # From here on the arrival is handled whole.
        serial += 1
        ledger.arrivals[stream] += 1
        pool = sure(plan.pool[stream])
        if present and plan.by_rate[pool] != 0 and ledger.used[pool] >= plan.capacity[pool]:
            ledger.shed[stream] += 1
        elif present:
            for each in range(pools):
                arrive(pick(states, each), buffer, arrival)
            for join in range(count):
                if group_in(shape, arrival, join) != NONE:
                    found = _probe(
                        states, buffer, feed, tuple_, arrival, join, plan, filters, output
                    )
                    ledger.results[join] += found
                    if tracing:
                        trace.found[at, join] = found

            size = feed.size[tuple_] + overhead if overhead > 0 else 1
            refused = size > _room(plan, pool, 1)
            capacity = _room(plan, pool, _live(buffer) + 1)
            # A budget in bytes may have shrunk because statistics grew; then tuples must go even if
            # the policy would rather refuse the newcomer.
            while ledger.used[pool] > capacity or (
                not refused and ledger.used[pool] + size > capacity
            ):
                slot = NONE
                if plan.unordered[0] != 0:
                    slot = np.int64(_expired(buffer, plan, pool))
                outlived = slot != NONE
                if not outlived:
                    slot = NEWCOMER
                    if not refused:
                        slot = np.int64(victim(pick(states, pool), buffer, arrival))
                if slot == NEWCOMER:
                    refused = True
                    if ledger.used[pool] <= capacity:
                        break
                    slot = np.int64(_oldest(buffer, plan, pool))
                elif not is_live(buffer, slot) or plan.pool[buffer.stream[slot]] != pool:
                    return BAD_VICTIM, at
                if outlived:
                    ledger.expired[buffer.stream[slot]] += 1
                else:
                    ledger.evicted[buffer.stream[slot]] += 1
                _remove(states, buffer, plan, ledger, slot)
                _forget_empty_groups(buffer, plan)
                arrival = _arrival(feed, plan, tuple_, serial, count)
                capacity = _room(plan, pool, _live(buffer) + 1)
            if refused:
                ledger.refused[stream] += 1
            else:
                slot = sure(link(buffer, arrival, feed.row[tuple_], size))
                for place in range(buffer.extra.shape[1]):
                    buffer.extra[slot, place] = feed.extra[tuple_, place]
                ledger.used[pool] += size
                admit(pick(states, pool), buffer, slot)
        live = _live(buffer)
        peak = max(peak, live)
        alive_sum += live
        if tracing:
            trace.held[at] = live
    ledger.totals[PEAK] = peak
    ledger.totals[ALIVE_SUM] = alive_sum
    return why, stopped
