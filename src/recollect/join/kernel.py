"""The inner loop of the join: merge two streams by time, expire, probe, admit or forget.

Usually each call goes on in time where the last one stopped. Where it may go back (``unordered``,
for streams whose batches overlap in time), a tuple may arrive after younger ones have been
buffered. Then pairs are checked for their times, and tuples are kept until nothing that could
match them can come any more, which is what ``horizon`` says.

``run`` is compiled once per policy (:func:`recollect.compiled.specialise`). It handles whole
arrivals only: before an arrival whose results would not fit the output, or that could find no slot,
it returns and says so, and is called again when the caller has made room.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined, prefetch
from recollect.join.buffer import NONE, STREAMS, find, has_free_slot, is_live, link, tag_of, unlink
from recollect.join.residual import holds
from recollect.policies.base import (
    NEWCOMER,
    Array,
    Arrival,
    admit,
    crowded,
    forget,
    match,
    tick,
    victim,
)

FOREVER = np.iinfo(np.int64).max
BEFORE_ALL = np.iinfo(np.int64).min

DONE, OUTPUT_FULL, SLOTS_FULL, STATISTICS_FULL, BAD_VICTIM = range(5)
"""Why ``run`` returned."""

TIME, COUNT, LANDMARK, UNLIMITED = range(4)
"""Kinds of window."""

LOOK_AHEAD = 6
"""How many arrivals of a stream ahead the hash table is told to be ready."""


class Feed(NamedTuple):
    """The tuples of one stream that wait to be joined, in order of time."""

    key: Array
    time: Array
    size: Array
    """What each tuple's row takes in memory; empty if no budget is in bytes."""
    skip: Array
    """1 for tuples whose key is NULL: they arrive but never match; empty if there are none."""
    extra: Array
    """What a residual filter looks at, one line per tuple."""


class Plan(NamedTuple):
    """What stays the same while a join runs."""

    kind: Array
    """By stream: the kind of its window."""
    span: Array
    """By stream: the length of its window."""
    pool: Array
    """By stream: which part of the budget its tuples use."""
    capacity: Array
    """By pool: the budget."""
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
    look_back: Array
    """Set for the first call of a batch; see :func:`_pass_over_the_young`."""


class Ledger(NamedTuple):
    """What has happened so far."""

    used: Array
    """By pool: how much of the budget is in use."""
    arrivals: Array
    """By stream: how many tuples have arrived."""
    evicted: Array
    expired: Array
    refused: Array
    totals: Array
    """Results, largest number of buffered tuples, and that number summed over all arrivals."""


RESULTS, PEAK, ALIVE_SUM, TOTALS = range(4)
CERTAIN, PROBABLE = range(2)


class Output(NamedTuple):
    """The pairs found, as rows of the payload stores."""

    left: Array
    right: Array
    filled: Array


@inlined
def _forget(states, pool, buffer, slot):
    if pool == 0:
        forget(states[0], buffer, slot)
    else:
        forget(states[1], buffer, slot)


@inlined
def _match(states, pool, buffer, slot):
    if pool == 0:
        match(states[0], buffer, slot)
    else:
        match(states[1], buffer, slot)


@inlined
def _victim(states, pool, buffer, newcomer):
    if pool == 0:
        return victim(states[0], buffer, newcomer)
    return victim(states[1], buffer, newcomer)


@inlined
def _admit(states, pool, buffer, slot):
    if pool == 0:
        admit(states[0], buffer, slot)
    else:
        admit(states[1], buffer, slot)


@inlined
def _remove(states, pool, buffer, ledger, slot):
    _forget(states, pool, buffer, slot)
    ledger.used[pool] -= buffer.size[slot]
    return unlink(buffer, slot)


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
    if plan.pool[1] > 0:
        taken = np.int64(taken * (capacity / (plan.capacity[0] + plan.capacity[1])))
    return max(0, capacity - taken)


@inlined
def _oldest(buffer, plan, pool):
    """The oldest tuple of a pool."""
    chosen = NONE
    for stream in range(STREAMS):
        slot = buffer.oldest[stream]
        if plan.pool[stream] != pool or slot == NONE:
            continue
        if chosen == NONE or buffer.serial[slot] < buffer.serial[chosen]:
            chosen = slot
    return chosen


@inlined
def _expired(buffer, plan, pool):
    """A tuple of a pool whose window has probably passed, or NONE."""
    for stream in range(STREAMS):
        slot = buffer.oldest[stream]
        if (
            plan.pool[stream] == pool
            and slot != NONE
            and buffer.expires[slot] < buffer.clock[stream]
        ):
            return slot
    return NONE


@inlined
def _pass_over_the_young(states, buffer, plan, ledger, left, right):
    """Expire what stands behind a tuple that came too early, such as one of a clock gone wrong.

    Tuples expire from the old end of the list of arrivals, where such a tuple would hold up all
    that came after it.
    """
    first = FOREVER
    for feed in (left, right):
        if len(feed.time) > 0:
            first = min(first, feed.time[0])
    now = min(first, plan.horizon[CERTAIN])
    for stream in range(STREAMS):
        slot = buffer.oldest[stream]
        if slot == NONE or buffer.time[slot] <= first:
            continue
        while slot != NONE:
            newer = buffer.newer[slot]
            if buffer.expires[slot] < now:
                _remove(states, plan.pool[stream], buffer, ledger, slot)
                ledger.expired[stream] += 1
            slot = newer


@inlined
def _expiry(plan, stream, time, arrivals):
    """The last moment, on its stream's clock, at which a tuple arriving now may match."""
    kind = plan.kind[stream]
    span = plan.span[stream]
    if kind == COUNT:
        return arrivals + span - 1
    if kind == UNLIMITED or time > FOREVER - span:
        return FOREVER
    if kind == LANDMARK:
        return (time // span + 1) * span - 1
    return time + span


def run(states, buffer, feeds, until, base, plan, ledger, residual, output):
    """Join what waits in ``feeds``, each stream up to its time in ``until``.

    Returns why it stopped and how many tuples of each stream it has taken.
    """
    left, right = feeds
    i = j = 0
    n_left, n_right = len(left.time), len(right.time)
    pools = plan.pool[1] + 1
    emitting = len(output.left) > 0
    filtering = len(residual.program) > 0
    unordered = plan.unordered[0] != 0
    visiting = emitting or filtering or unordered or plan.visit[0] != 0
    most_slots = plan.most_slots[0]
    overhead = plan.overhead[0]
    filled = output.filled[0]
    results = ledger.totals[RESULTS]
    peak = ledger.totals[PEAK]
    alive_sum = ledger.totals[ALIVE_SUM]
    why = DONE
    if plan.look_back[0] != 0:
        plan.look_back[0] = 0
        _pass_over_the_young(states, buffer, plan, ledger, left, right)
    while True:
        # The next arrival: by time, the left stream first.
        if i < n_left and (j >= n_right or left.time[i] <= right.time[j]):
            stream, at = 0, i
            time = left.time[at]
        elif j < n_right:
            stream, at = 1, j
            time = right.time[at]
        else:
            break
        if time > until[stream]:
            break
        if len(buffer.expires) < most_slots and not has_free_slot(buffer):
            why = SLOTS_FULL
            break
        if crowded(states[0]) or crowded(states[1]):
            why = STATISTICS_FULL
            break
        partner = 1 - stream
        if at + LOOK_AHEAD < len(feeds[stream].key):
            coming = tag_of(feeds[stream].key[at + LOOK_AHEAD])
            prefetch(buffer.table, coming & (len(buffer.table) - 1))

        arrivals = ledger.arrivals[stream] + 1
        for other in range(STREAMS):
            if unordered:
                now = min(time, plan.horizon[CERTAIN])
                probably = min(time, plan.horizon[PROBABLE])
                buffer.clock[other] = max(buffer.clock[other], probably)
            else:
                if plan.kind[other] != COUNT:
                    buffer.clock[other] = time
                elif other == stream:
                    buffer.clock[other] = arrivals
                now = buffer.clock[other]
            slot = buffer.oldest[other]
            while slot != NONE and buffer.expires[slot] < now:
                newer = buffer.newer[slot]
                _remove(states, plan.pool[other], buffer, ledger, slot)
                ledger.expired[other] += 1
                slot = newer

        if stream == 0:
            key = left.key[at]
            skipped = len(left.skip) > 0 and left.skip[at] != 0
            size = left.size[at] + overhead if overhead > 0 else 1
        else:
            key = right.key[at]
            skipped = len(right.skip) > 0 and right.skip[at] != 0
            size = right.size[at] + overhead if overhead > 0 else 1
        tag = tag_of(key)
        group = NONE if skipped else find(buffer, key, tag)
        if (
            emitting
            and group != NONE
            and filled + buffer.population[group, partner] > len(output.left)
        ):
            why = OUTPUT_FULL
            break

        # From here on the arrival is handled whole.
        if stream == 0:
            i += 1
        else:
            j += 1
        ledger.arrivals[stream] = arrivals
        if skipped:
            alive_sum += buffer.live[0] + buffer.live[1]
            continue
        expires = _expiry(plan, stream, time, arrivals)
        serial = ledger.arrivals[0] + ledger.arrivals[1]
        arrival = Arrival(stream, key, time, expires, group, serial)
        tick(states[0], buffer, arrival)
        if pools > 1:
            tick(states[1], buffer, arrival)

        if group != NONE:
            if visiting:
                slot = buffer.first[group, partner]
                while slot != NONE:
                    if filtering:
                        if stream == 0:
                            passed = holds(residual, left.extra, at, buffer.extra, slot)
                        else:
                            passed = holds(residual, buffer.extra, slot, right.extra, at)
                    else:
                        passed = True
                    if unordered:
                        later = buffer.time[slot]
                        in_time = (
                            buffer.expires[slot] >= time if later <= time else expires >= later
                        )
                        passed = passed and in_time
                    if passed:
                        results += 1
                        if emitting:
                            if stream == 0:
                                output.left[filled] = base[0] + at
                                output.right[filled] = buffer.row[slot]
                            else:
                                output.left[filled] = buffer.row[slot]
                                output.right[filled] = base[1] + at
                            filled += 1
                        _match(states, plan.pool[partner], buffer, slot)
                    slot = buffer.next[slot]
            else:
                results += buffer.population[group, partner]

        pool = plan.pool[stream]
        refused = size > _room(plan, pool, 1)
        capacity = _room(plan, pool, buffer.live[0] + buffer.live[1] + 1)
        # A budget in bytes may have shrunk because statistics grew; then tuples must go even if
        # the policy would rather refuse the newcomer.
        while ledger.used[pool] > capacity or (not refused and ledger.used[pool] + size > capacity):
            slot = _expired(buffer, plan, pool) if unordered else NONE
            outlived = slot != NONE
            if not outlived:
                slot = NEWCOMER if refused else _victim(states, pool, buffer, arrival)
            if slot == NEWCOMER:
                refused = True
                if ledger.used[pool] <= capacity:
                    break
                slot = _oldest(buffer, plan, pool)
            elif not is_live(buffer, slot) or plan.pool[buffer.stream[slot]] != pool:
                return BAD_VICTIM, i, j
            if outlived:
                ledger.expired[buffer.stream[slot]] += 1
            else:
                ledger.evicted[buffer.stream[slot]] += 1
            freed = _remove(states, pool, buffer, ledger, slot)
            capacity = _room(plan, pool, buffer.live[0] + buffer.live[1] + 1)
            if freed == group:
                group = NONE
                arrival = Arrival(stream, key, time, expires, group, serial)
        if refused:
            ledger.refused[stream] += 1
        else:
            slot = link(buffer, arrival, tag, group, base[stream] + at, size)
            if filtering:
                for place in range(buffer.extra.shape[1]):
                    if stream == 0:
                        buffer.extra[slot, place] = left.extra[at, place]
                    else:
                        buffer.extra[slot, place] = right.extra[at, place]
            ledger.used[pool] += size
            _admit(states, pool, buffer, slot)
        live = buffer.live[0] + buffer.live[1]
        peak = max(peak, live)
        alive_sum += live
    output.filled[0] = filled
    ledger.totals[RESULTS] = results
    ledger.totals[PEAK] = peak
    ledger.totals[ALIVE_SUM] = alive_sum
    return why, i, j
