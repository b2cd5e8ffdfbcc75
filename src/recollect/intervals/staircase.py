"""The least value among tuples that come in order of time and go when they end.

The paper updates MIN from the tuples that just left and those that just came. That is wrong when
the minimum leaves: the next one may be any tuple that stays. But not every tuple can become the
minimum. One that ends no later than another with no greater value never will, so it is forgotten.
What is left is a staircase: the later a step ends, the higher it is, and the first one is the
minimum. Of many tuples with unrelated values and ends, only a few are steps.

The steps of each group are a treap (Aragon and Seidel: Randomized search trees, 1989) in order of
their ends, so that it takes logarithmic time to find where a tuple belongs however many there are.

>>> stairs = new_stairs(groups=1, room=4)
>>> for value, end in ((35, 12), (50, 9), (45, 23)):
...     put(stairs, 0, value, end)
>>> int(stairs.used[0]), int(least(stairs, 0, 11)), int(least(stairs, 0, 12))
(2, 35, 45)
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined, mix

NONE = -1
LEFT, RIGHT = 0, 1


class Stairs(NamedTuple):
    """The staircases of all groups, which share one store of steps."""

    roots: np.ndarray
    """By group: the root of its tree."""
    value: np.ndarray
    """By step, as are the next two."""
    end: np.ndarray
    child: np.ndarray
    """The steps below in the tree; on the left those that end sooner."""
    free: np.ndarray
    """One number: a step that is not in use; its left child is the next one."""
    used: np.ndarray
    """One number: how many are in use."""


def new_stairs(groups: int, room: int) -> Stairs:
    """Empty staircases with room for some steps."""
    stairs = Stairs(
        roots=np.full(groups, NONE),
        value=np.empty(room, np.int64),
        end=np.empty(room, np.int64),
        child=np.full((room, 2), NONE),
        free=np.zeros(1, np.int64),
        used=np.zeros(1, np.int64),
    )
    stairs.child[: room - 1, LEFT] = np.arange(1, room)
    return stairs


def with_room(stairs: Stairs, groups: int, more: int) -> Stairs:
    """The same staircases with room for so many groups and so many more steps."""
    room, needed = len(stairs.value), int(stairs.used[0]) + more
    if groups <= len(stairs.roots) and needed <= room:
        return stairs
    larger = new_stairs(max(groups, len(stairs.roots)), room if needed <= room else 2 * needed)
    for new, old in zip(larger[:-2], stairs[:-2], strict=True):
        new[: len(old)] = old
    larger.used[:] = stairs.used
    larger.free[:] = stairs.free
    if needed > room:
        larger.child[-1, LEFT] = stairs.free[0]  # the old ones after the new ones
        larger.free[0] = room
    return larger


@inlined
def put(stairs, group, value, end):
    """Add a tuple; there must be room."""
    root = stairs.roots[group]
    after, step = NONE, root
    while step != NONE:
        if stairs.end[step] < end:
            step = stairs.child[step, RIGHT]
        else:
            after, step = step, stairs.child[step, LEFT]
    if after != NONE and stairs.value[after] <= value:
        return  # another one outlives it
    left, right = _split(stairs, root, end)
    while left != NONE:
        last = _outermost(stairs, left, RIGHT)
        if stairs.value[last] < value:
            break
        left = _without_outermost(stairs, left, RIGHT)
        _discard(stairs, last)  # the new one outlives it
    if right != NONE and stairs.end[after] == end:
        right = _without_outermost(stairs, right, LEFT)
        _discard(stairs, after)
    step = stairs.free[0]
    stairs.free[0] = stairs.child[step, LEFT]
    stairs.used[0] += 1
    stairs.value[step] = value
    stairs.end[step] = end
    stairs.child[step, LEFT] = NONE
    stairs.child[step, RIGHT] = NONE
    stairs.roots[group] = _merged(stairs, _merged(stairs, left, step), right)


@inlined
def least(stairs, group, now):
    """The least value of a group, of which a tuple must end after ``now``."""
    root = stairs.roots[group]
    while True:
        first = _outermost(stairs, root, LEFT)
        if stairs.end[first] > now:
            stairs.roots[group] = root
            return stairs.value[first]
        root = _without_outermost(stairs, root, LEFT)
        _discard(stairs, first)


@inlined
def _discard(stairs, step):
    stairs.child[step, LEFT] = stairs.free[0]
    stairs.free[0] = step
    stairs.used[0] -= 1


@inlined
def _outermost(stairs, root, side):
    """The leftmost or the rightmost step of a tree."""
    while stairs.child[root, side] != NONE:
        root = stairs.child[root, side]
    return root


@inlined
def _without_outermost(stairs, root, side):
    """Take the leftmost or the rightmost step out of a tree."""
    above, step = NONE, root
    while stairs.child[step, side] != NONE:
        above, step = step, stairs.child[step, side]
    rest = stairs.child[step, 1 - side]
    if above == NONE:
        return rest
    stairs.child[above, side] = rest
    return root


@inlined
def _split(stairs, root, end):
    """Cut a tree into the steps that end before a time and the others."""
    left = right = last_left = last_right = NONE
    while root != NONE:
        if stairs.end[root] < end:
            if last_left == NONE:
                left = root
            else:
                stairs.child[last_left, RIGHT] = root
            last_left, root = root, stairs.child[root, RIGHT]
        else:
            if last_right == NONE:
                right = root
            else:
                stairs.child[last_right, LEFT] = root
            last_right, root = root, stairs.child[root, LEFT]
    if last_left != NONE:
        stairs.child[last_left, RIGHT] = NONE
    if last_right != NONE:
        stairs.child[last_right, LEFT] = NONE
    return left, right


@inlined
def _merged(stairs, left, right):
    """Make one tree of two, of which the first has the sooner ends."""
    root = above = NONE
    side = LEFT
    while left != NONE or right != NONE:
        # The place in the store, well shuffled, is as good as a random number.
        if right == NONE or (left != NONE and mix(left) > mix(right)):
            top, below = left, RIGHT
            left = stairs.child[left, RIGHT] if right != NONE else NONE
        else:
            top, below = right, LEFT
            right = stairs.child[right, LEFT] if left != NONE else NONE
        if above == NONE:
            root = top
        else:
            stairs.child[above, side] = top
        above, side = top, below
    return root
