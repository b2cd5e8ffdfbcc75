"""Keys that were forgotten lately: first in, first out, and found or taken out at once."""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined, mix
from recollect.policies.base import Array

NOBODY = -1
OLDEST, NEWEST, FREE, FRESH, COUNT = range(5)


class Ghosts(NamedTuple):
    """The keys in places that are linked by age, and a hash table that finds them."""

    key: Array
    older: Array
    newer: Array
    """By place; of places that became free, the next one."""
    table: Array
    """Places plus one, 0 for none."""
    ends: Array
    """Oldest and newest place, free places, places ever used, keys."""


def new_ghosts(places: int) -> Ghosts:
    """Room for so many keys."""
    size = 16
    while size < 2 * places:
        size *= 2
    ends = np.full(5, NOBODY, np.int64)
    ends[[FRESH, COUNT]] = 0
    return Ghosts(
        key=np.zeros(places, np.int64),
        older=np.zeros(places, np.int32),
        newer=np.zeros(places, np.int32),
        table=np.zeros(size, np.int32),
        ends=ends,
    )


@inlined
def _hole_of(ghosts, key):
    """Where in the table a key is, or would be."""
    mask = len(ghosts.table) - 1
    hole = mix(key) & mask
    while ghosts.table[hole] != 0 and ghosts.key[ghosts.table[hole] - 1] != key:
        hole = (hole + 1) & mask
    return hole


@inlined
def appear(ghosts, key):
    """Add a key that is not there yet; there must be room."""
    ends = ghosts.ends
    place = ends[FREE]
    if place == NOBODY:
        place = ends[FRESH]
        ends[FRESH] += 1
    else:
        ends[FREE] = ghosts.newer[place]
    ghosts.key[place] = key
    ghosts.older[place] = ends[NEWEST]
    ghosts.newer[place] = NOBODY
    if ends[NEWEST] == NOBODY:
        ends[OLDEST] = place
    else:
        ghosts.newer[ends[NEWEST]] = place
    ends[NEWEST] = place
    ends[COUNT] += 1
    ghosts.table[_hole_of(ghosts, key)] = place + 1


@inlined
def vanish(ghosts, key):
    """Take a key out; say whether it was there."""
    hole = _hole_of(ghosts, key)
    if ghosts.table[hole] == 0:
        return False
    place = ghosts.table[hole] - 1
    mask = len(ghosts.table) - 1
    # Move up those behind it that would no longer be found.
    at = hole
    while True:
        at = (at + 1) & mask
        if ghosts.table[at] == 0:
            break
        home = mix(ghosts.key[ghosts.table[at] - 1]) & mask
        if (at - home) & mask >= (at - hole) & mask:
            ghosts.table[hole] = ghosts.table[at]
            hole = at
    ghosts.table[hole] = 0
    ends = ghosts.ends
    older, newer = ghosts.older[place], ghosts.newer[place]
    if older == NOBODY:
        ends[OLDEST] = newer
    else:
        ghosts.newer[older] = newer
    if newer == NOBODY:
        ends[NEWEST] = older
    else:
        ghosts.older[newer] = older
    ghosts.newer[place] = ends[FREE]
    ends[FREE] = place
    ends[COUNT] -= 1
    return True
