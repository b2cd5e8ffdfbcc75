"""A tournament among tuples: who has the least value now, when values fall at different speeds.

The value of a tuple is its weight, or its weight times its remaining lifetime. Each inner node of a
binary tree remembers the winner below it, and until when that is certain: of two falling lines the
steeper overtakes the other at a time that can be computed. A change redoes one path, mostly only
its beginning; time passing redoes only nodes whose time has come (a kinetic tournament).

Of equal values the one that expires sooner wins, then the older. Each stream has a tree of its own,
because each has its own clock.

References
----------
Basch, Guibas, Hershberger: Data Structures for Mobile Data, 1999.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined, sure
from recollect.policies.base import Array

NOBODY = -1
FOREVER = np.iinfo(np.int64).max


class Tournament(NamedTuple):
    """The trees. Node 1 is the root, node ``slots + slot`` the leaf of a slot."""

    weight: Array
    """By slot."""
    winner: Array
    """By stream and node."""
    certain: Array
    """By stream and node: the first moment at which a winner at or below it may be another."""
    stale: Array
    """By stream: 1 if the tree was enlarged, and its inner nodes must be played anew."""
    aging: Array
    """1 if values are weight times remaining lifetime, 0 if weight alone."""


def new_tournament(slots: int, aging: bool, streams: int = 2) -> Tournament:
    """Make trees without players."""
    return Tournament(
        weight=np.zeros(slots),
        winner=np.full((streams, 2 * slots), NOBODY, np.int32),
        certain=np.full((streams, 2 * slots if aging else 2), FOREVER, np.int64),
        stale=np.zeros(streams, np.int64),
        aging=np.array([int(aging)]),
    )


def with_slots(old: Tournament, slots: int) -> Tournament:
    """The same players in trees for more slots; the next question plays all nodes anew."""
    larger = new_tournament(slots, bool(old.aging[0]), len(old.stale))
    before = len(old.weight)
    larger.weight[:before] = old.weight
    larger.winner[:, slots : slots + before] = old.winner[:, before:]
    larger.stale[:] = 1
    return larger


@inlined
def remaining(buffer, stream, expires):
    """How long a tuple may still match, on the clock of its stream."""
    return FOREVER if expires == FOREVER else expires - buffer.clock[stream]


@inlined
def value_of(trees, buffer, slot):
    """The value of a tuple now."""
    if trees.aging[0] == 0:
        return trees.weight[slot]
    lifetime = remaining(buffer, buffer.stream[slot], buffer.expires[slot])
    return trees.weight[slot] * np.float64(lifetime)


@inlined
def _play(trees, buffer, stream, node):
    """Decide a node anew from its two children; say whether anything about it changed."""
    winner = trees.winner[stream]
    one, two = winner[2 * node], winner[2 * node + 1]
    aging = trees.aging[0] != 0
    until = FOREVER
    if one == NOBODY or two == NOBODY:
        best = max(one, two)
    else:
        value, other = value_of(trees, buffer, one), value_of(trees, buffer, two)
        best = one
        loser = two
        if other < value or (
            other == value
            and (buffer.expires[two], buffer.serial[two])
            < (buffer.expires[one], buffer.serial[one])
        ):
            best, loser = two, one
        faster = trees.weight[loser] - trees.weight[best]
        if aging and faster > 0:
            now = buffer.clock[stream]
            ahead = abs(other - value) / faster
            if ahead < 2.0**62 - now:
                until = now + max(np.int64(ahead), 1)
    changed = best != winner[node]
    winner[node] = best
    if aging:
        certain = trees.certain[stream]
        until = min(until, min(certain[2 * node], certain[2 * node + 1]))
        changed = changed or until != certain[node]
        certain[node] = until
    return changed


@inlined
def _replay(trees, buffer, stream, slot):
    if trees.stale[stream] != 0:
        return
    node = (trees.winner.shape[1] // 2 + slot) >> 1
    while node >= 1:
        changed = _play(trees, buffer, stream, node)
        if not changed and trees.winner[stream, node] != slot:
            break
        node >>= 1


@inlined
def enter(trees, buffer, slot, weight):
    """Let a tuple take part, or change its weight if it already does."""
    slot = sure(slot)
    stream = sure(buffer.stream[slot])
    trees.weight[slot] = weight
    trees.winner[stream, trees.winner.shape[1] // 2 + slot] = slot
    _replay(trees, buffer, stream, slot)


@inlined
def leave(trees, buffer, slot):
    """Take a tuple out."""
    slot = sure(slot)
    stream = sure(buffer.stream[slot])
    trees.winner[stream, trees.winner.shape[1] // 2 + slot] = NOBODY
    _replay(trees, buffer, stream, slot)


@inlined
def least(trees, buffer, stream):
    """The tuple of a stream with the least value now, or NOBODY."""
    stream = sure(stream)
    leaves = trees.winner.shape[1] // 2
    if trees.stale[stream] != 0:
        trees.stale[stream] = 0
        for node in range(leaves - 1, 0, -1):
            _play(trees, buffer, stream, node)
    if trees.aging[0] != 0:
        certain = trees.certain[stream]
        now = buffer.clock[stream]
        while certain[1] <= now:
            node = 1
            while True:  # down to a node that is uncertain itself
                if 2 * node < leaves and certain[2 * node] <= now:
                    node = 2 * node
                elif 2 * node + 1 < leaves and certain[2 * node + 1] <= now:
                    node = 2 * node + 1
                else:
                    break
            while node >= 1:
                _play(trees, buffer, stream, node)
                node >>= 1
    return trees.winner[stream, 1]


@inlined
def goes_first(trees, buffer, one, two):
    """Whether the first tuple, of one stream, has less value than the second, of another."""
    one, two = sure(one), sure(two)
    value, other = value_of(trees, buffer, one), value_of(trees, buffer, two)
    if value != other:
        return value < other
    left = remaining(buffer, buffer.stream[one], buffer.expires[one])
    other_left = remaining(buffer, buffer.stream[two], buffer.expires[two])
    return (left, buffer.serial[one]) < (other_left, buffer.serial[two])
