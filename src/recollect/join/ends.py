"""Tuples by the end of their validity: a binary heap from which any tuple can be taken.

Tuples with a window of fixed length expire in the order in which they arrived; facts with their own
``[start, end)`` do not. Of those that end at the same time the older comes first.
"""

from typing import NamedTuple

from recollect.compiled import inlined
from recollect.policies.base import Array


class Ends(NamedTuple):
    """The heap."""

    slots: Array
    """The heap itself: the slot at ``i`` ends before those at ``2i + 1`` and ``2i + 2``."""
    place: Array
    """By slot: where in the heap it is."""
    size: Array


@inlined
def _sooner(buffer, one, two):
    return (buffer.expires[one], buffer.serial[one]) < (buffer.expires[two], buffer.serial[two])


@inlined
def _put(heap, place, slot):
    heap.slots[place] = slot
    heap.place[slot] = place


@inlined
def _rise(buffer, place, slot):
    """Find the place of a slot at or above one that is free."""
    heap = buffer.ends
    while place > 0:
        above = (place - 1) // 2
        if not _sooner(buffer, slot, heap.slots[above]):
            break
        _put(heap, place, heap.slots[above])
        place = above
    _put(heap, place, slot)


@inlined
def insert(buffer, slot):
    """Take a tuple in."""
    heap = buffer.ends
    heap.size[0] += 1
    _rise(buffer, heap.size[0] - 1, slot)


@inlined
def remove(buffer, slot):
    """Take a tuple out; the last one finds another place."""
    heap = buffer.ends
    heap.size[0] -= 1
    count = heap.size[0]
    last = heap.slots[count]
    if last == slot:
        return
    place = heap.place[slot]
    while 2 * place + 1 < count:
        below = 2 * place + 1
        if below + 1 < count and _sooner(buffer, heap.slots[below + 1], heap.slots[below]):
            below += 1
        if not _sooner(buffer, heap.slots[below], last):
            break
        _put(heap, place, heap.slots[below])
        place = below
    _rise(buffer, place, last)
