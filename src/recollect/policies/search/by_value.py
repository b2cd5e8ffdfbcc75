"""The distinct values of the buffered tuples in order, so that those near a number are found fast.

For joins of two streams.

Where what a tuple is worth depends on how far its value is from some moving place, all worths
change with every arrival, but the order of the values does not. An entry costs a shift of those
behind it in a dense array: some microseconds for ten thousand values.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.policies.base import Array


class ByValue(NamedTuple):
    """By stream: its values, ascending, and the groups where the buffer has their tuples."""

    values: Array
    groups: Array
    distinct: Array
    """By stream: how many there are."""


def new_by_value(slots: int) -> ByValue:
    """Make room for the values of so many tuples."""
    return ByValue(
        np.zeros((2, slots), np.int64),
        np.zeros((2, slots), np.int32),
        np.zeros(2, np.int64),
    )


def with_slots(old: ByValue, slots: int) -> ByValue:
    """The same values with room for more."""
    larger = new_by_value(slots)
    larger.values[:, : old.values.shape[1]] = old.values
    larger.groups[:, : old.groups.shape[1]] = old.groups
    larger.distinct[:] = old.distinct
    return larger


@inlined
def first_from(numbers, count, wanted):
    """Where the first of some ascending numbers is that is not less than the one wanted."""
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if numbers[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def enter(by_value, buffer, slot):
    """Enter the value of a tuple that has been admitted, if no other one has it."""
    stream, group = buffer.stream[slot], buffer.group[slot, 0]
    if buffer.population[group, stream] > 1:
        return
    value = buffer.key[group]
    values, groups = by_value.values[stream], by_value.groups[stream]
    place = by_value.distinct[stream]
    by_value.distinct[stream] += 1
    while place > 0 and values[place - 1] > value:
        values[place] = values[place - 1]
        groups[place] = groups[place - 1]
        place -= 1
    values[place] = value
    groups[place] = group


@inlined
def leave(by_value, buffer, slot):
    """Strike off the value of a tuple that is about to go, if no other one has it."""
    stream, group = buffer.stream[slot], buffer.group[slot, 0]
    if buffer.population[group, stream] > 1:
        return
    values, groups = by_value.values[stream], by_value.groups[stream]
    count = by_value.distinct[stream] - 1
    for place in range(first_from(values, count + 1, buffer.key[group]), count):
        values[place] = values[place + 1]
        groups[place] = groups[place + 1]
    by_value.distinct[stream] = count
