"""The inner loop of a workload: any number of streams and joins over one merged input.

For an arrival, first what is no longer alive expires. Then it probes the groups of its keys, one
per join; then it is admitted, for which another may have to go, or refused. A result of a join has
one tuple of each of its streams, so their number is the product of the sizes of the chains: they
are counted without being listed, unless they are wanted or a filter must see each pair.

Of every arrival that finds results in a join, each buffered tuple that takes part in one is told
once, however many combinations it is in (``match``). If a tuple of some stream is missing, those
that are there are told that as well (``partial``). So an arrival costs as much as there are tuples
with its keys, not as there are combinations.

``run`` is compiled once per policy and number of pools. It returns before an arrival for which
there is no room, and is called again with the place where it stopped.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.join.buffer import NONE, has_free_slot, is_live
from recollect.join.residual import Residual, holds
from recollect.policies.base import (
    NEWCOMER,
    Array,
    admit,
    crowded,
    forget,
    match_in,
    partial,
    tick,
    victim,
)
from recollect.workload.buffer import group_of, link, unlink

DONE, OUTPUT_FULL, SLOTS_FULL, STATISTICS_FULL, BAD_VICTIM = range(5)
"""Why ``run`` returned."""


class Arrival(NamedTuple):
    """The tuple that is just arriving; the first six are those of a join of two streams."""

    stream: int
    key: int
    """In the first join that it takes part in, like ``group``."""
    time: int
    expires: int
    group: int
    serial: int
    keys: Array
    """By join."""
    groups: Array
    present: Array
    """By join: whether the tuple takes part."""

    def takes_part(self, join):
        """See :func:`recollect.policies.base.takes_part`."""
        return self.present[join] != 0

    def key_in(self, join):
        """See :func:`recollect.policies.base.key_in`."""
        return self.keys[join]

    def group_in(self, join):
        """See :func:`recollect.policies.base.group_in`."""
        return self.groups[join]


class Feed(NamedTuple):
    """The merged input, in order of arrival."""

    stream: Array
    time: Array
    moment: Array
    """What the clock of its stream shows."""
    expires: Array
    keys: Array
    """By tuple and join."""
    present: Array
    """By tuple and join: whether the tuple takes part. One that does nowhere only moves clocks."""
    subject: Array
    """By tuple: a number for what it is about, if it replaces older facts about it, else NONE."""
    extra: Array
    """What filters look at: twice the number of the filter, plus 1 for its right side; tuple."""


class Plan(NamedTuple):
    """What stays the same while a workload runs."""

    counting: Array
    """By stream: whether its clock counts arrivals."""
    validity: Array
    """By stream: whether its tuples have an end of their own."""
    pool: Array
    """By stream: which part of the budget its tuples use."""
    capacity: Array
    """By pool."""
    by_rate: Array
    """By pool: whether what comes while it is full is shed, as all its streams are, by rate."""
    most_slots: Array
    roles: Array
    """By join and place in it: the stream, NONE beyond the last."""
    partners: Array
    """By join, stream and other stream: whether they meet there."""
    filter: Array
    """By join: the number of its filter, or NONE."""
    programs: Array
    """By filter: where its program and its constants begin; one line more for their end."""
    visit: Array
    """Whether the policy wants to hear of matches."""
    groups: Array
    """Scratch, by join."""
    cursors: Array
    """Scratch, by place in a join."""


class Ledger(NamedTuple):
    """What has happened so far."""

    used: Array
    """By pool: how much of the budget is in use."""
    evicted: Array
    """By stream, like the next four."""
    expired: Array
    replaced: Array
    refused: Array
    shed: Array
    """Those that came while their pool, which is shed by rate, was full."""
    found: Array
    """By arrival and join: the results."""
    held: Array
    """By arrival: how many tuples are buffered after it."""


class Output(NamedTuple):
    """The results, if they are wanted: which join, and the tuples by their place in it."""

    join: Array
    rows: Array
    filled: Array


@inlined
def _remove(states, buffer, plan, ledger, slot):
    stream = buffer.stream[slot]
    pool = plan.pool[stream]
    forget(states[pool], buffer, slot)
    ledger.used[pool] -= 1
    unlink(buffer, slot, plan.validity[stream] != 0)


@inlined
def _set_clocks(buffer, plan, stream, time, moment):
    for other in range(len(plan.pool)):
        if plan.counting[other] == 0:
            buffer.clock[other] = time
        elif other == stream:
            buffer.clock[other] = moment


@inlined
def _expired(buffer, plan, first, time):
    """A tuple that is no longer alive, of the streams from one on, or NONE.

    Streams with windows come first, one after the other; then facts, by the end of their validity.
    """
    for stream in range(first, len(plan.pool)):
        slot = buffer.oldest[stream]
        if (
            slot != NONE
            and plan.validity[stream] == 0
            and buffer.expires[slot] < buffer.clock[stream]
        ):
            return slot
    heap = buffer.ends
    if heap.size[0] > 0 and buffer.expires[heap.slots[0]] < time:
        return np.int64(heap.slots[0])
    return NONE


@inlined
def _combinations(buffer, plan, join, stream, group):
    """How many results an arrival finds in a group, if there is no filter."""
    count = 1
    for other in range(len(plan.pool)):
        if plan.partners[join, stream, other] != 0:
            count *= buffer.population[group, other]
    return count


@inlined
def _holds(plan, residual, feed, join, left, right):
    """Whether the filter of a join holds for two rows of the merged input."""
    number = plan.filter[join]
    start, end = plan.programs[number], plan.programs[number + 1]
    code = Residual(
        residual.program[start[0] : end[0]], residual.constants[start[1] : end[1]], residual.stack
    )
    return holds(code, feed.extra[2 * number], left, feed.extra[2 * number + 1], right)


@inlined
def _list(buffer, plan, output, join, own, at, group):
    """Write down all combinations of an arrival, at its own place in the join, and a group."""
    cursors = plan.cursors
    width = 0
    while width < plan.roles.shape[1] and plan.roles[join, width] != NONE:
        cursors[width] = buffer.first[group, plan.roles[join, width]]
        width += 1
    role = 0
    while role >= 0:
        filled = output.filled[0]
        output.filled[0] += 1
        output.join[filled] = join
        for place in range(width):
            output.rows[filled, place] = at if place == own else buffer.row[cursors[place]]
        role = width - 1
        while role >= 0:
            if role != own:
                cursors[role] = buffer.after[cursors[role], join]
                if cursors[role] != NONE:
                    break
                cursors[role] = buffer.first[group, plan.roles[join, role]]
            role -= 1


@inlined
def _probe(states, buffer, plan, residual, feed, output, join, stream, at, group):
    """Count the results of an arrival in a join, and tell the policy of those that took part."""
    filtering = plan.filter[join] != NONE
    emitting = len(output.join) > 0
    count = _combinations(buffer, plan, join, stream, group)
    own = 0  # the arrival's place in the join; the last, where a stream meets itself
    for role in range(plan.roles.shape[1]):
        if plan.roles[join, role] == stream:
            own = role
    if emitting and not filtering and count > 0:
        _list(buffer, plan, output, join, own, at, group)
    if not filtering and plan.visit[0] == 0:
        return count
    passing = 0
    for other in range(len(plan.pool)):
        if plan.partners[join, stream, other] == 0:
            continue
        pool = plan.pool[other]
        slot = buffer.first[group, other]
        while slot != NONE:
            passed = count > 0
            if filtering:
                row = buffer.row[slot]
                left, right = (at, row) if own == 0 else (row, at)
                passed = _holds(plan, residual, feed, join, left, right)
                if passed and emitting:
                    filled = output.filled[0]
                    output.filled[0] += 1
                    output.join[filled] = join
                    output.rows[filled, 0] = left
                    output.rows[filled, 1] = right
            if passed:
                passing += 1
                match_in(states[pool], buffer, slot, join)
            elif not filtering:
                partial(states[pool], buffer, slot)
            slot = buffer.after[slot, join]
    return passing if filtering else count


@inlined
def _arrival(feed, plan, at):
    """The arrival as policies see it."""
    keys, present = feed.keys[at], feed.present[at]
    first = 0
    while present[first] == 0:
        first += 1
    return Arrival(
        feed.stream[at],
        keys[first],
        feed.time[at],
        feed.expires[at],
        plan.groups[first],
        at + 1,
        keys,
        plan.groups,
        present,
    )


def run(states, buffer, feed, begin, plan, ledger, residual, output):
    """Run a workload over its merged input, from an arrival on.

    Returns why it stopped, and before which arrival.
    """
    joins = feed.keys.shape[1]
    streams = len(plan.pool)
    pools = len(plan.capacity)
    emitting = len(output.join) > 0
    for at in range(begin, len(feed.time)):
        if len(buffer.expires) < plan.most_slots[0] and not has_free_slot(buffer):
            return SLOTS_FULL, at
        for pool in range(pools):
            if crowded(states[pool]):
                return STATISTICS_FULL, at
        stream, time = feed.stream[at], feed.time[at]
        subject = feed.subject[at]
        _set_clocks(buffer, plan, stream, time, feed.moment[at])
        first = 0
        while True:
            slot = _expired(buffer, plan, first, time)
            if slot != NONE:
                first = buffer.stream[slot]
                ledger.expired[first] += 1
            elif subject != NONE and buffer.holder[subject] != NONE:
                slot = buffer.holder[subject]
                ledger.replaced[stream] += 1
            else:
                break
            _remove(states, buffer, plan, ledger, slot)

        taking_part = False
        expected = 0
        for join in range(joins):
            plan.groups[join] = NONE
            if feed.present[at, join] != 0:
                taking_part = True
                group = group_of(buffer, join, feed.keys[at, join])
                plan.groups[join] = group
                if emitting and group != NONE:
                    expected += _combinations(buffer, plan, join, stream, group)
        if emitting and output.filled[0] + expected > len(output.join):
            return OUTPUT_FULL, at

        pool = plan.pool[stream]
        full = ledger.used[pool] >= plan.capacity[pool]
        if taking_part and full and plan.by_rate[pool] != 0:
            ledger.shed[stream] += 1
        elif taking_part:
            arrival = _arrival(feed, plan, at)
            for each in range(pools):
                tick(states[each], buffer, arrival)
            for join in range(joins):
                group = plan.groups[join]
                if group != NONE:
                    ledger.found[at, join] = _probe(
                        states, buffer, plan, residual, feed, output, join, stream, at, group
                    )

            refused = False
            if full:
                slot = victim(states[pool], buffer, arrival)
                if slot == NEWCOMER:
                    refused = True
                    ledger.refused[stream] += 1
                elif not is_live(buffer, slot) or plan.pool[buffer.stream[slot]] != pool:
                    return BAD_VICTIM, at
                else:
                    ledger.evicted[buffer.stream[slot]] += 1
                    _remove(states, buffer, plan, ledger, slot)
                    for join in range(joins):  # it may have been the last with one of these keys
                        group = plan.groups[join]
                        if group != NONE and buffer.members[group] == 0:
                            plan.groups[join] = NONE
            if not refused:
                arrival = _arrival(feed, plan, at)
                slot = link(buffer, arrival, at, subject, plan.validity[stream] != 0)
                ledger.used[pool] += 1
                admit(states[pool], buffer, slot)
        held = 0
        for other in range(streams):
            held += buffer.live[other]
        ledger.held[at] = held
    return DONE, len(feed.time)
