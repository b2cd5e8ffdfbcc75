"""The least active value against a list of all tuples."""

import numpy as np
import pytest

from recollect.intervals.staircase import NONE, least, new_stairs, put, with_room

GROUPS = 3


def steps_of(stairs, root) -> list[tuple[int, int]]:
    """Ends and values in the order of the tree."""
    if root == NONE:
        return []
    left, right = (steps_of(stairs, child) for child in stairs.child[root])
    return [*left, (int(stairs.end[root]), int(stairs.value[root])), *right]


def needed(held, group, now) -> list[tuple[int, int]]:
    """The tuples that are not outlived by another with no greater value."""
    active = {(end, value) for of, value, end in held if of == group and end > now}
    return sorted(
        (end, value)
        for end, value in active
        if not any(e >= end and v <= value and (e, v) != (end, value) for e, v in active)
    )


@pytest.mark.parametrize("seed", range(6))
def test_against_all_tuples(seed):
    random = np.random.default_rng(seed)
    stairs = new_stairs(1, 1)
    held: list[tuple[int, int, int]] = []
    for now in range(80):
        coming = int(random.integers(0, 5))
        stairs = with_room(stairs, GROUPS, coming)
        for _ in range(coming):
            group, value = int(random.integers(GROUPS)), int(random.integers(12))
            end = now + 1 + int(random.integers(1, 25))
            if seed % 2:
                value = end // 3  # a long staircase
            put(stairs, group, value, end)
            held.append((group, value, end))
        for group in range(GROUPS):
            values = [value for of, value, end in held if of == group and end > now]
            if values:
                assert least(stairs, group, now) == min(values)
                assert steps_of(stairs, stairs.roots[group]) == needed(held, group, now)
    assert stairs.used[0] == sum(len(steps_of(stairs, root)) for root in stairs.roots)
    free, step = 0, stairs.free[0]
    while step != NONE:
        free, step = free + 1, stairs.child[step, 0]
    assert free + stairs.used[0] == len(stairs.value)
