"""The entries of a directory: for each page below, its region and where its tuples really are.

Entries are the columns of a matrix of int64. With d dimensions, rows 0 to d-1 are the low corner of
the region, then come its high corner, the low and the high corner of the minimum bounding region
(MBR) of the tuples, and one word that packs the number of the page, the dimension to be cut next
and how many things the page holds.

>>> whole = everything(2)
>>> entry = make_entry(whole, np.array([[1, 5], [4, 9]]), page=7, count=2)
>>> page_of(entry[:, 0]), count_of(entry).tolist(), entry[4:8, 0].tolist()
(7, [2], [1, 4, 5, 9])
"""

import numpy as np

from recollect.compiled import cached
from recollect.intervals.layout import LEAST, MOST
from recollect.intervals.partition import Region

_PAGE_BITS = 32
_TURN_BITS = 8
_COUNT_SHIFT = _PAGE_BITS + _TURN_BITS
MOST_COUNTED = (1 << (63 - _COUNT_SHIFT)) - 1
"""A page (with those that continue it) of more things counts as one of so many."""


def entry_width(dimensions: int) -> int:
    """Words per entry."""
    return 4 * dimensions + 1


def everything(dimensions: int) -> Region:
    """The region that holds all tuples."""
    low, high = np.full(dimensions, LEAST), np.full(dimensions, MOST)
    return Region(low, high, np.zeros(dimensions))


def make_entry(region: Region, keys: np.ndarray, page: int, count: int) -> np.ndarray:
    """The entry, as a matrix of one column, of a page of tuples.

    Parameters
    ----------
    region
        The region of the page.
    keys
        The keys of its tuples, a row per dimension.
    page
        Its number.
    count
        How many tuples it holds.
    """
    if count:
        low, high = keys.min(axis=1), keys.max(axis=1)
    else:
        low, high = np.full(len(keys), MOST), np.full(len(keys), LEAST)
    turn = int(np.argmin(region.cuts))
    packed = page | turn << _PAGE_BITS | min(count, MOST_COUNTED) << _COUNT_SHIFT
    return np.concatenate([region.low, region.high, low, high, [packed]])[:, np.newaxis]


def merged_entry(entries: np.ndarray, page: int, count: int) -> np.ndarray:
    """The entry of a page whose region is that of several entries together."""
    dimensions = len(entries) // 4
    low, high, least, most = (
        entries[part * dimensions : (part + 1) * dimensions] for part in range(4)
    )
    packed = page | min(count, MOST_COUNTED) << _COUNT_SHIFT
    corners = low.min(axis=1), high.max(axis=1), least.min(axis=1), most.max(axis=1)
    return np.concatenate([*corners, [packed]])[:, np.newaxis]


def page_of(entry: np.ndarray) -> int:
    """The page of one entry."""
    return int(entry[-1]) & ((1 << _PAGE_BITS) - 1)


def count_of(entries: np.ndarray) -> np.ndarray:
    """How many things the pages of entries hold."""
    return entries[-1] >> _COUNT_SHIFT


def region_of(entry: np.ndarray) -> Region:
    """The region of one entry, in which the dimensions before the next have been cut once more."""
    dimensions = len(entry) // 4
    turn = (int(entry[-1]) >> _PAGE_BITS) & ((1 << _TURN_BITS) - 1)
    cuts = np.where(np.arange(dimensions) < turn, 1.0, 0.0)
    return Region(entry[:dimensions], entry[dimensions : 2 * dimensions], cuts)


def corners(entries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of the regions, a row per dimension."""
    dimensions = len(entries) // 4
    return entries[:dimensions], entries[dimensions : 2 * dimensions]


@cached
def owners(entries: np.ndarray, keys: np.ndarray, owner: np.ndarray) -> None:
    """Find, for each tuple, the entry in whose region it lies."""
    dimensions = len(keys)
    for tuple_ in range(keys.shape[1]):
        for entry in range(entries.shape[1]):
            inside = True
            for dimension in range(dimensions):
                key = keys[dimension, tuple_]
                if key < entries[dimension, entry] or key > entries[dimensions + dimension, entry]:
                    inside = False
                    break
            if inside:
                owner[tuple_] = entry
                break


@cached
def overlapping(
    entries: np.ndarray, count: int, low: np.ndarray, high: np.ndarray, found: np.ndarray
) -> int:
    """Find the entries whose MBR has something in common with any of some boxes.

    Parameters
    ----------
    entries
        The table of a page of the directory.
    count
        How many entries it has.
    low, high
        The corners of the boxes, a row per box.
    found
        Where to put the numbers of the entries.
    """
    boxes, dimensions = low.shape
    amount = 0
    for entry in range(count):
        for box in range(boxes):
            meets = True
            for dimension in range(dimensions):
                if (
                    entries[2 * dimensions + dimension, entry] > high[box, dimension]
                    or entries[3 * dimensions + dimension, entry] < low[box, dimension]
                ):
                    meets = False
                    break
            if meets:
                found[amount] = entry
                amount += 1
                break
    return amount
