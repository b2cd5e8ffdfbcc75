"""A buffer without its links, which is a third as large when compressed, and the links found again.

Which tuples stand before and behind another one follows from their streams, groups and serial
numbers, and in which place of the hash table a key stands makes no difference. So these need not be
written. What must be is the order in which free slots and groups will be taken. The heap of tuples
with their own ends is kept as it is.

>>> from recollect.join.buffer import allocate
>>> from recollect.policies.shape import NONE, Pair
>>> storage = allocate(2, 0, Pair())
>>> again = without_links(storage, Pair())
>>> find_links(again, Pair())
>>> all(np.array_equal(*pair) for pair in zip(storage, again, strict=True))
True
"""

import numpy as np

from recollect.join.buffer import FRESH_SLOT, Storage, index_groups
from recollect.policies.base import Array
from recollect.policies.shape import NONE, Many, Pair, indexes, streams


def without_links(storage: Storage, shape: Pair | Many) -> Storage:
    """Return a copy with zeros in place of what :func:`find_links` finds, and of the rows.

    Instead of the moment at which a tuple expires it has the time until then, which is the same for
    all tuples of a window by time.
    """
    bare = Storage(*(array.copy() for array in storage))
    live = _live(storage)
    slots, next_, groups = bare.slots, bare.next, bare.groups
    gone = np.ones(len(slots), bool)
    gone[live] = False
    for name in set(slots.dtype.names or ()) - {"stream", "newer"}:
        slots[name][gone] = 0  # what is left says that a slot is free, and which comes next
    for name in ("row", "previous", "older"):
        slots[name] = 0
    slots["newer"][live] = 0
    slots["expires"] -= slots["time"]
    next_[:] = 0

    gone = np.ones(len(groups), bool)
    used = slots["group"][live]
    gone[used[used != NONE]] = False
    groups["key"][gone] = 0
    groups["last"] = groups["population"] = 0
    groups["first"][:, 1:] = 0
    groups["first"][~gone] = 0  # of a free group the first number is the next free one
    bare.table[:] = 0
    return bare


def find_links(storage: Storage, shape: Pair | Many) -> None:
    """Find again what :func:`without_links` left out, but for the rows."""
    slots, next_, groups = storage.slots, storage.next, storage.groups
    slots["expires"] += slots["time"]
    live = _live(storage)
    live = live[np.argsort(slots["serial"][live])]
    used = np.unique(slots["group"][live])
    used = used[used != NONE]
    groups["first"][used] = NONE
    groups["last"][used] = NONE
    for stream in range(streams(shape)):
        mine = live[slots["stream"][live] == stream]
        slots["older"][mine], slots["newer"][mine] = _neighbours(mine, np.zeros(len(mine)))
    for join in range(indexes(shape)):
        for stream in range(streams(shape)):
            mine = live[slots["stream"][live] == stream]
            mine = mine[slots["group"][mine, join] != NONE]
            mine = mine[np.argsort(slots["group"][mine, join], kind="stable")]
            group = slots["group"][mine, join]
            before, behind = _neighbours(mine, group)
            slots["previous"][mine, join] = before
            next_[mine * int(indexes(shape)) + join] = behind
            groups["first"][group[before == NONE], stream] = mine[before == NONE]
            groups["last"][group[behind == NONE], stream] = mine[behind == NONE]
            groups["population"][:, stream] += np.bincount(group, minlength=len(groups)).astype(
                np.int32
            )
        keys = np.unique(slots["group"][live, join])
        index_groups(storage.table[join], groups["key"], keys[keys != NONE])


def _live(storage: Storage) -> Array:
    """The slots with a tuple."""
    return np.flatnonzero(storage.slots["stream"][: storage.free[FRESH_SLOT]] != NONE)


def _neighbours(chain: Array, group: Array) -> tuple[Array, Array]:
    """What stands before and behind each of some slots, if it is of the same group."""
    before, behind = np.full((2, len(chain)), NONE)
    same = group[1:] == group[:-1]
    before[1:][same] = chain[:-1][same]
    behind[:-1][same] = chain[1:][same]
    return before, behind
