"""What a grid file promises of its pages, looked at page by page."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.intervals.disk.bulk_load import bulk_load
from recollect.intervals.disk.grid_file import GridFile
from recollect.intervals.disk.layout import Layout
from recollect.intervals.disk.page import NO_PAGE, capacity, content, head
from recollect.intervals.disk.page_tree import page_of
from recollect.intervals.disk.regions import (
    corners,
    count_of,
    divide,
    entry_width,
    everything,
    groups,
)
from recollect.intervals.disk.store import Store

LAYOUT = Layout((True, True))
DIMENSIONS = len(LAYOUT.keys)


def some_rows(random, count, spread):
    start = random.integers(0, spread, count)
    further = random.integers(0, spread, (2, count))
    return np.array([start, start + random.integers(1, spread + 1, count), *further])


def volume(low, high):
    return prod(int(most) - int(least) + 1 for least, most in zip(low, high, strict=True))


def check(store, page, level, low, high):
    """Check all below a page of a region; the tuples there and the pages they take."""
    words = store.pool.get(page)
    if level == 0:
        parts, pages = [], 0
        while page != NO_PAGE:
            words = store.pool.get(page)
            parts.append(content(words, LAYOUT.width))
            pages += 1
            page = head(words)[1]
        rows = np.concatenate(parts, axis=1)
        keys = rows[list(LAYOUT.keys)]
        assert np.all(keys >= low[:, None])
        assert np.all(keys <= high[:, None])
        # Only what agrees in all keys is on pages that continue others.
        assert pages == 1 or np.all(keys == keys[:, :1])
        return rows, pages
    entries = content(words, entry_width(DIMENSIONS))
    lows, highs = corners(entries)
    assert np.array_equal(lows.min(axis=1), low)
    assert np.array_equal(highs.max(axis=1), high)
    # The regions fill the box without overlapping: as much volume, and a cut between any two.
    volumes = [volume(*pair) for pair in zip(lows.T, highs.T, strict=True)]
    assert sum(volumes) == volume(low, high)
    assert all(len(group) == 1 for group in groups(lows, highs, lambda boxes: False, 5))
    parts, pages = [], 1
    for entry, lower, higher in zip(entries.T, lows.T, highs.T, strict=True):
        rows, below = check(store, page_of(entry), level - 1, lower, higher)
        keys = rows[list(LAYOUT.keys)]
        if keys.size:
            assert np.array_equal(entry[2 * DIMENSIONS : 3 * DIMENSIONS], keys.min(axis=1))
            assert np.array_equal(entry[3 * DIMENSIONS : 4 * DIMENSIONS], keys.max(axis=1))
        if level == 1:
            assert int(count_of(entry[:, None])[0]) == rows.shape[1]
        parts.append(rows)
        pages += below
    return np.concatenate(parts, axis=1), pages


def check_all(store):
    tree, whole = store.header.grid, everything(DIMENSIONS)
    rows, pages = check(store, tree.page, tree.height, whole.low, whole.high)
    free, page = 0, store.header.free
    while page != NO_PAGE:
        free, page = free + 1, head(store.pool.get(page))[1]
    # No page is lost: each is the header, of the tree, or free.
    assert 1 + pages + free == store.header.pages
    return sorted(rows.T.tolist())


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    spread=st.sampled_from([1, 3, 50, 10**6]),
    pool=st.sampled_from([1, 2, 50]),
)
def test_regions_and_mbrs_after_changes(tmp_path_factory, seed, spread, pool):
    random = np.random.default_rng(seed)
    store = Store(tmp_path_factory.mktemp("grid") / "grid", pool, new=LAYOUT)
    bulk_load(store, LAYOUT, [], 1000)
    grid = GridFile(store, LAYOUT)
    present = np.empty((LAYOUT.width, 0), np.int64)
    for _ in range(5):
        leaving = random.permutation(present.shape[1])[: random.integers(0, 3000)]
        coming = some_rows(random, random.integers(0, 2000), spread)
        rows = np.concatenate([present[:, leaving], coming], axis=1)
        grid.change(rows, np.repeat([-1, 1], [len(leaving), coming.shape[1]]))
        present = np.concatenate([np.delete(present, leaving, axis=1), coming], axis=1)
        assert check_all(store) == sorted(present.T.tolist())
    store.close()


def test_leaves_are_as_full_as_can_be():
    random = np.random.default_rng(0)
    room = capacity(LAYOUT.width)
    for count in (room + 1, 10 * room, 1000 * room // 7):
        rows = some_rows(random, count, 10**9)
        sizes = [mine.shape[1] for _, mine in divide(LAYOUT, rows, everything(DIMENSIONS), room)]
        assert sum(sizes) == count
        assert max(sizes) <= room
        assert len(sizes) == -(-count // room)


def test_all_dimensions_are_cut():
    rows = some_rows(np.random.default_rng(1), 50_000, 10**9)
    regions = [region for region, _ in divide(LAYOUT, rows, everything(DIMENSIONS), 200)]
    cuts = np.array([region.cuts for region in regions])
    assert np.all(cuts.max(axis=1) - cuts.min(axis=1) <= 1)


def test_boxes_not_made_by_cuts():
    # A pinwheel: no line goes between the boxes.
    low = np.array([[0, 2, 1, 0, 1], [0, 0, 2, 1, 1]])
    high = np.array([[1, 2, 2, 0, 1], [0, 1, 2, 2, 1]])
    with pytest.raises(AssertionError, match="not made by cuts"):
        list(groups(low, high, lambda boxes: len(boxes) < 3, 3))
