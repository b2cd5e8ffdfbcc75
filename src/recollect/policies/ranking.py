"""Tuples in the order of their credits: insert, remove with its rank, and select in O(log n).

The order is kept in blocks of a few hundred tuples; a Fenwick tree over the sizes of the blocks
turns a rank into a block and back. A block that fills up is split, one that runs low is merged with
its neighbour, both so rarely that rebuilding the tree then costs little per tuple. A tuple whose
credit equals another's stands behind it, so the order among equals is that of their last change.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.policies.base import Array

LARGEST = 256
MERGED = LARGEST // 2 - 1
"""Neighbours with no more tuples than this together become one block.

A half of a block that was split has more than that, so any two neighbours always do, and there are
at most ``2 * tuples / (MERGED + 1) + 1`` blocks.
"""
BLOCKS, COUNT = range(2)


class Ranking(NamedTuple):
    """The arrays of a ranking."""

    credit: Array
    """By slot."""
    block: Array
    """By slot: the block it stands in."""
    items: Array
    """By block: its slots in order."""
    place: Array
    """By block: its place among the blocks."""
    order: Array
    """By place: the block there; behind the used ones, the free blocks."""
    size: Array
    """By place: how many tuples the block there holds."""
    floor: Array
    """By place: the lowest credit in the block there."""
    tree: Array
    """Fenwick tree over ``size``."""
    totals: Array


def new_ranking(slots: int) -> Ranking:
    """Make an empty ranking for so many slots."""
    blocks = 2 * slots // (MERGED + 1) + 2
    return Ranking(
        credit=np.zeros(slots, np.int64),
        block=np.empty(slots, np.int32),
        items=np.empty((blocks, LARGEST), np.int32),
        place=np.arange(blocks, dtype=np.int32),
        order=np.arange(blocks, dtype=np.int32),
        size=np.zeros(blocks, np.int64),
        floor=np.zeros(blocks, np.int64),
        tree=np.zeros(blocks + 1, np.int64),
        totals=np.zeros(2, np.int64),
    )


@inlined
def _rebuild(ranking):
    used = ranking.totals[BLOCKS]
    for place in range(used):
        ranking.tree[place + 1] = ranking.size[place]
        ranking.place[ranking.order[place]] = place
    for node in range(1, used + 1):
        parent = node + (node & -node)
        if parent <= used:
            ranking.tree[parent] += ranking.tree[node]


@inlined
def _change(ranking, place, difference):
    ranking.size[place] += difference
    ranking.totals[COUNT] += difference
    node = place + 1
    while node <= ranking.totals[BLOCKS]:
        ranking.tree[node] += difference
        node += node & -node


@inlined
def _open_block(ranking, place):
    """Make room for an empty block at ``place``; the others move one place up."""
    used = ranking.totals[BLOCKS]
    block = ranking.order[used]
    for other in range(used, place, -1):
        ranking.order[other] = ranking.order[other - 1]
        ranking.size[other] = ranking.size[other - 1]
        ranking.floor[other] = ranking.floor[other - 1]
    ranking.order[place] = block
    ranking.size[place] = 0
    ranking.totals[BLOCKS] += 1
    return block


@inlined
def _close_block(ranking, place):
    ranking.totals[BLOCKS] -= 1
    used = ranking.totals[BLOCKS]
    block = ranking.order[place]
    for other in range(place, used):
        ranking.order[other] = ranking.order[other + 1]
        ranking.size[other] = ranking.size[other + 1]
        ranking.floor[other] = ranking.floor[other + 1]
    ranking.order[used] = block


@inlined
def _move(ranking, source, start, target):
    """Move the tuples from ``start`` on of the block at one place to the end of another's."""
    block = ranking.order[target]
    for position in range(start, ranking.size[source]):
        slot = ranking.items[ranking.order[source], position]
        ranking.items[block, ranking.size[target]] = slot
        ranking.block[slot] = block
        ranking.size[target] += 1
    ranking.size[source] = start


# Unsigned indices need no check for negative ones, so that the compiler can use vectors.
@inlined
def _shift_up(items, start, size):
    for i in range(np.uint64(size - start)):
        items[np.uint64(size) - i] = items[np.uint64(size) - i - np.uint64(1)]


@inlined
def _shift_down(items, start, size):
    for i in range(np.uint64(start), np.uint64(size - 1)):
        items[i] = items[i + np.uint64(1)]


@inlined
def insert(ranking, slot, credit):
    """Put a tuple behind all whose credit is not larger."""
    ranking.credit[slot] = credit
    used = ranking.totals[BLOCKS]
    low, high = 0, used
    while high - low > 1:  # the last block that starts at or below this credit
        middle = (low + high) // 2
        if ranking.floor[middle] <= credit:
            low = middle
        else:
            high = middle
    place = low
    if used == 0 or ranking.size[place] == LARGEST:
        # A tuple that goes behind all others needs no split: the order often grows at its end.
        last = ranking.items[ranking.order[place], LARGEST - 1]
        at_the_end = place == used - 1 and ranking.credit[last] <= credit
        fresh = min(place + 1, used)
        _open_block(ranking, fresh)
        if at_the_end or used == 0:
            place = fresh
        else:
            _move(ranking, place, LARGEST // 2, fresh)
            ranking.floor[fresh] = ranking.credit[ranking.items[ranking.order[fresh], 0]]
            if ranking.floor[fresh] <= credit:
                place = fresh
        _rebuild(ranking)
    block = ranking.order[place]
    size = ranking.size[place]
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if ranking.credit[ranking.items[block, middle]] <= credit:
            low = middle + 1
        else:
            high = middle
    _shift_up(ranking.items[block], low, size)
    ranking.items[block, low] = slot
    ranking.block[slot] = block
    if low == 0:
        ranking.floor[place] = credit
    _change(ranking, place, 1)


@inlined
def _position(ranking, slot):
    """Where in its block a tuple stands."""
    block = ranking.block[slot]
    credit = ranking.credit[slot]
    low, high = 0, ranking.size[ranking.place[block]]
    while low < high:  # the first with this credit
        middle = (low + high) // 2
        if ranking.credit[ranking.items[block, middle]] < credit:
            low = middle + 1
        else:
            high = middle
    while ranking.items[block, low] != slot:
        low += 1
    return low


@inlined
def remove(ranking, slot):
    """Take a tuple out; return its rank, from 1."""
    block = ranking.block[slot]
    place = ranking.place[block]
    position = _position(ranking, slot)
    rank = position + 1
    node = place
    while node > 0:
        rank += ranking.tree[node]
        node -= node & -node
    size = ranking.size[place]
    _shift_down(ranking.items[block], position, size)
    _change(ranking, place, -1)
    if size == 1:
        _close_block(ranking, place)
        _rebuild(ranking)
        return rank
    if position == 0:
        ranking.floor[place] = ranking.credit[ranking.items[block, 0]]
    for left in range(max(place - 1, 0), min(place + 1, ranking.totals[BLOCKS] - 1)):
        if ranking.size[left] + ranking.size[left + 1] <= MERGED:
            _move(ranking, left + 1, 0, left)
            _close_block(ranking, left + 1)
            _rebuild(ranking)
            break
    return rank


@inlined
def select(ranking, wanted):
    """The tuple whose rank is ``wanted``."""
    used = ranking.totals[BLOCKS]
    node = 0
    step = 1
    while 2 * step <= used:
        step *= 2
    rest = wanted
    while step > 0:
        if node + step <= used and ranking.tree[node + step] < rest:
            node += step
            rest -= ranking.tree[node]
        step //= 2
    return ranking.items[ranking.order[node], rest - 1]
