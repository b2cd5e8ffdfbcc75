"""A ladder of whole-number values: one step up, the lowest tuple and a percentile, all in O(1).

Tuples with the same value stand on one *rung*, in the order in which they reached it; the rungs
that are occupied form a linked list from the lowest value to the highest. LFU and GreedyDual-Join
stand on it. A *marker* stays near the rung of a wanted rank: since a step moves a tuple past one
rung at most, keeping it right costs as many moves as there were steps.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined, sure
from recollect.policies.base import Array

NONE = -1
LOWEST, FREE, FRESH, COUNT, MARKER, UNDER = range(6)


class Ladder(NamedTuple):
    """The arrays of a ladder."""

    # by slot
    rung: Array
    before: Array
    after: Array
    # by rung
    value: Array
    members: Array
    first: Array
    last: Array
    below: Array
    above: Array
    ends: Array
    """Lowest rung, free rungs, number of tuples, marker, tuples under the marker's rung."""


def new_ladder(slots: int) -> Ladder:
    """Make an empty ladder for so many slots."""
    ends = np.array([NONE, NONE, 0, 0, NONE, 0], np.int64)
    # A tuple that steps onto a new rung is still on its old one: one rung more than slots.
    rungs = slots + 1
    return Ladder(
        rung=np.empty(slots, np.int32),
        before=np.empty(slots, np.int32),
        after=np.empty(slots, np.int32),
        value=np.empty(rungs, np.int64),
        members=np.empty(rungs, np.int32),
        first=np.empty(rungs, np.int32),
        last=np.empty(rungs, np.int32),
        below=np.empty(rungs, np.int32),
        above=np.empty(rungs, np.int32),
        ends=ends,
    )


@inlined
def new_rung(ladder, value, under):
    """Put an empty rung for ``value`` just above the rung ``under`` (NONE: at the bottom)."""
    ends = ladder.ends
    rung = ends[FREE]
    if rung == NONE:
        rung = ends[FRESH]
        ends[FRESH] += 1
    else:
        ends[FREE] = ladder.above[rung]
    rung = sure(rung)
    ladder.value[rung] = value
    ladder.members[rung] = 0
    ladder.first[rung] = NONE
    ladder.last[rung] = NONE
    if under == NONE:
        over = ends[LOWEST]
        ends[LOWEST] = rung
    else:
        over = ladder.above[sure(under)]
        ladder.above[sure(under)] = rung
    ladder.below[rung] = under
    ladder.above[rung] = over
    if over != NONE:
        ladder.below[sure(over)] = rung
    return rung


@inlined
def stand(ladder, slot, rung):
    """Put a tuple at the end of a rung."""
    rung = sure(rung)
    last = ladder.last[rung]
    ladder.rung[slot] = rung
    ladder.before[slot] = last
    ladder.after[slot] = NONE
    if last == NONE:
        ladder.first[rung] = slot
    else:
        ladder.after[sure(last)] = slot
    ladder.last[rung] = slot
    ladder.members[rung] += 1
    ladder.ends[COUNT] += 1
    marker = ladder.ends[MARKER]
    if marker == NONE:
        ladder.ends[MARKER] = rung
    elif ladder.value[rung] < ladder.value[sure(marker)]:
        ladder.ends[UNDER] += 1


@inlined
def step_off(ladder, slot):
    """Take a tuple from its rung, and the rung away if that was the last one on it."""
    ends = ladder.ends
    rung = sure(ladder.rung[slot])
    before, after = ladder.before[slot], ladder.after[slot]
    if before == NONE:
        ladder.first[rung] = after
    else:
        ladder.after[sure(before)] = after
    if after == NONE:
        ladder.last[rung] = before
    else:
        ladder.before[sure(after)] = before
    ladder.members[rung] -= 1
    ends[COUNT] -= 1
    marker = ends[MARKER]
    if ladder.value[rung] < ladder.value[marker]:
        ends[UNDER] -= 1
    if ladder.members[rung] > 0:
        return
    below, above = ladder.below[rung], ladder.above[rung]
    if rung == marker:
        if above != NONE or below == NONE:
            ends[MARKER] = above
        else:
            ends[MARKER] = below
            ends[UNDER] -= ladder.members[below]
    if below == NONE:
        ends[LOWEST] = above
    else:
        ladder.above[sure(below)] = above
    if above != NONE:
        ladder.below[sure(above)] = below
    ladder.above[rung] = ends[FREE]
    ends[FREE] = rung


@inlined
def climb(ladder, slot):
    """Raise the value of a tuple by one."""
    rung = sure(ladder.rung[slot])
    target = ladder.value[rung] + 1
    above = ladder.above[rung]
    if above == NONE or ladder.value[sure(above)] != target:
        if ladder.members[rung] == 1:
            ladder.value[rung] = target
            return
        above = new_rung(ladder, target, rung)
    step_off(ladder, slot)
    stand(ladder, slot, above)


@inlined
def lowest(ladder):
    """The tuple that has stood longest on the lowest rung."""
    return ladder.first[sure(ladder.ends[LOWEST])]


@inlined
def rung_of_rank(ladder, rank):
    """The rung of the tuple with this rank (1 is the lowest value)."""
    marker = sure(ladder.ends[MARKER])
    under = ladder.ends[UNDER]
    while under >= rank:
        marker = sure(ladder.below[marker])
        under -= ladder.members[marker]
    while under + ladder.members[marker] < rank:
        under += ladder.members[marker]
        marker = sure(ladder.above[marker])
    ladder.ends[MARKER] = marker
    ladder.ends[UNDER] = under
    return marker
