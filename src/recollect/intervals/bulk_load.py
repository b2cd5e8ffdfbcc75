"""Many tuples into an empty index, in memory that does not grow with their number.

The tuples are set aside on disk, divided along their keys until a part fits in memory
(:mod:`~recollect.intervals.spill`), and there divided on until a part fits on a page. Only the
entries of the directory, some 80 bytes per page, are kept until the end.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from recollect.intervals.entries import everything, make_entry
from recollect.intervals.grid_file import GridFile
from recollect.intervals.layout import Layout
from recollect.intervals.page import NO_PAGE, Kind, capacity, fill, new_page
from recollect.intervals.partition import divide
from recollect.intervals.spill import Spill
from recollect.intervals.store import Store
from recollect.intervals.time_index import TimeIndex, Times


def bulk_load(store: Store, layout: Layout, batches: Iterable[np.ndarray], memory: int) -> int:
    """Fill an empty index and give the number of tuples.

    Parameters
    ----------
    store
        Where to.
    layout
        The columns.
    batches
        The tuples, in matrices with a row per column.
    memory
        Bytes of tuples to divide in memory.
    """
    folder = store.file.path.parent
    tuples, times = Spill(layout.width, folder), Spill(1, folder)
    for rows in batches:
        tuples.append(rows)
        times.append(rows[:2].reshape(1, -1))
    count = tuples.rows
    # Half as much as could be: to count moments takes more room than to divide tuples.
    TimeIndex.load(store, _in_order(times, layout, memory // 16))
    if count:
        entries = np.concatenate(list(_pages(store, layout, tuples, memory)), axis=1)
        GridFile.of_entries(store, layout, entries)
    else:
        GridFile.empty(store, layout)
    return count


def _in_order(times: Spill, layout: Layout, most_rows: int) -> Iterator[Times]:
    for _, part in times.parts(layout, everything(1), most_rows):
        if part.rows > most_rows:
            yield from (_counted(block) for block in part.blocks())
        elif part.rows:
            yield _counted(part.together())
        part.close()


def _counted(block: np.ndarray) -> Times:
    moments, counts = np.unique(block, return_counts=True)
    return moments, counts.astype(np.int64)


def _pages(store: Store, layout: Layout, tuples: Spill, memory: int) -> Iterator[np.ndarray]:
    """Write the pages of tuples and give their entries."""
    keys, room, words = list(layout.keys), capacity(layout.width), new_page()
    most_rows = memory // (8 * layout.width)
    for region, part in tuples.parts(layout, everything(len(keys)), most_rows):
        if part.rows > most_rows:
            first = _chain(store, words, part.blocks(), room)
            yield make_entry(region, part.low[keys, np.newaxis], first, part.rows)
        else:
            entries = [
                make_entry(piece, mine[keys], _chain(store, words, [mine], room), mine.shape[1])
                for piece, mine in divide(layout, part.together(), region, room)
            ]
            yield np.concatenate(entries, axis=1)
        part.close()


def _chain(store: Store, words: np.ndarray, blocks: Iterable[np.ndarray], room: int) -> int:
    """Write tuples to a page and as many as must continue it, and give the first."""
    following = NO_PAGE
    for block in blocks:
        for begin in range(0, max(1, block.shape[1]), room):
            fill(words, Kind.TUPLES, block[:, begin : begin + room], following)
            following = store.append(words)
    return following
