"""The index against a list, under all kinds of changes, with pools as small as one page."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import BudgetError, InputError, WindowError
from recollect.intervals.disk import IntervalIndex
from recollect.intervals.disk.layout import LEAST, MOST
from tests.naive.interval_index import IntervalList

KIND = 3
INDEXED = [False, True]
"""Of the columns value and kind."""


def matrix(tuples):
    return np.array(tuples, np.int64).reshape(-1, 4).T


def events_of(index, *arguments):
    events = []
    for time, sign, rows in index.events(*arguments):
        order = list(zip(time.tolist(), sign.tolist(), strict=True))
        assert order == sorted(order)
        assert not events or events[-1][:2] <= order[0]
        events += [(*key, tuple(row)) for key, row in zip(order, rows.T.tolist(), strict=True)]
    return events


def assert_same(index, naive, random):
    assert index.tuples == len(naive.tuples)
    assert sorted(events_of(index)) == naive.events(None, None, {})
    low, high = sorted(random.integers(-50, 120, 2).tolist())
    kinds = {KIND: (1, int(random.integers(1, 4)))}
    window = (low, high + 1)
    assert sorted(events_of(index, *window, kinds)) == naive.events(*window, kinds)
    assert sorted(events_of(index, low)) == naive.events(low, None, {})
    assert sorted(events_of(index, None, high)) == naive.events(None, high, {})


def some_tuples(random, count, spread):
    start = random.integers(-spread, spread + 1, count)
    end = start + random.integers(1, spread + 2, count)
    end[random.random(count) < 0.05] = MOST
    return list(
        zip(
            start.tolist(), end.tolist(), random.integers(0, 3, count).tolist(),
            random.integers(0, 5, count).tolist(), strict=True,
        )
    )  # fmt: skip


@pytest.mark.compiled
@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(1, 1500), min_size=1, max_size=5),
    # From all alike to hardly any two alike.
    spread=st.sampled_from([0, 3, 60, 10**6]),
    pool=st.sampled_from([1, 2, 3, 64]),
    loaded=st.booleans(),
    replacement=st.sampled_from(["order", "lru"]),
)
def test_like_a_list(tmp_path_factory, seed, sizes, spread, pool, loaded, replacement):
    path = tmp_path_factory.mktemp("index") / "i"
    random = np.random.default_rng(seed)
    naive = IntervalList()
    if loaded:
        naive.insert(some_tuples(random, sizes.pop(), spread))
    batches = map(matrix, np.array_split(naive.tuples, 3))
    index = IntervalIndex.create(path, INDEXED, batches, pool, replacement)
    for size in sizes:
        old = [naive.tuples[place] for place in random.permutation(len(naive.tuples))[:size]]
        new = some_tuples(random, size, spread)
        change = random.integers(3)
        if change == 0:
            index.insert(matrix(new))
            naive.insert(new)
        elif change == 1:
            index.delete(matrix(old))
            naive.delete(old)
        else:
            index.update(matrix(old), matrix(new))
            naive.delete(old)
            naive.insert(new)
        if random.integers(2):
            index.close()
            index = IntervalIndex.open(path, pool, replacement)
        assert_same(index, naive, random)
    index.delete(matrix(naive.tuples))
    naive.tuples.clear()
    assert_same(index, naive, random)
    index.close()


def test_pages_are_merged_and_used_again(tmp_path):
    random = np.random.default_rng(1)
    tuples = some_tuples(random, 20_000, 10**6)
    with IntervalIndex.create(tmp_path / "i", INDEXED, [matrix(tuples)]) as index:
        pages = index.pages
        for _ in range(3):
            index.delete(matrix(tuples[300:]))
            before = sum(index.counters)
            assert len(events_of(index)) == 600
            assert sum(index.counters) - before < 100
            index.insert(matrix(tuples[300:]))
        # Pages divided by inserts are less full than those of a load.
        assert index.pages < 2.1 * pages


def test_extreme_times(tmp_path):
    tuples = [(LEAST, MOST, 0, 0), (LEAST, LEAST + 1, 1, 1), (MOST - 1, MOST, 2, LEAST)]
    with IntervalIndex.create(tmp_path / "i", INDEXED, [matrix(tuples)]) as index:
        assert sorted(events_of(index)) == sorted(
            event for each in tuples for event in [(each[0], 1, each), (each[1], -1, each)]
        )
        naive = IntervalList()
        naive.insert(tuples)
        for window in ((LEAST, MOST), (LEAST + 1, MOST - 1), (MOST - 1, MOST), (LEAST, LEAST + 1)):
            assert sorted(events_of(index, *window)) == naive.events(*window, {})


def test_more_alike_than_a_chunk(tmp_path):
    tuples = [(5, 9, value, 0) for value in range(20_000)]
    with IntervalIndex.create(tmp_path / "i", INDEXED, [matrix(tuples)], 8) as index:
        events = events_of(index)
    assert [event[:2] for event in events] == [(5, 1)] * 20_000 + [(9, -1)] * 20_000
    assert sorted(event[2] for event in events[:20_000]) == tuples


def test_no_tuples(tmp_path):
    with IntervalIndex.create(tmp_path / "i", INDEXED, []) as index:
        assert events_of(index) == []
    with IntervalIndex.open(tmp_path / "i") as index:
        assert index.tuples == 0
        assert events_of(index, 3, 5) == []
        index.insert(matrix([(1, 2, 3, 4)]))
        assert events_of(index) == [(1, 1, (1, 2, 3, 4)), (2, -1, (1, 2, 3, 4))]


def test_a_load_in_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("recollect.intervals.disk.index.MEMORY", 20_000)
    random = np.random.default_rng(3)
    naive = IntervalList()
    naive.insert(some_tuples(random, 3000, 500) + [(7, 8, value, 1) for value in range(3000)])
    batches = map(matrix, np.array_split(naive.tuples, 7))
    with IntervalIndex.create(tmp_path / "i", INDEXED, batches, 5) as index:
        assert_same(index, naive, random)
    assert [file.name for file in tmp_path.iterdir()] == ["i"]


def test_deleting_what_is_not_there_changes_nothing(tmp_path):
    tuples = some_tuples(np.random.default_rng(4), 2000, 100)
    with IntervalIndex.create(tmp_path / "i", INDEXED, [matrix(tuples)], 2) as index:
        with pytest.raises(InputError, match=r"\[1, 2, 77, 4\] is to be deleted"):
            index.update(matrix([*tuples[:500], (1, 2, 77, 4)]), matrix(tuples))
        assert sorted(row for _, sign, row in events_of(index) if sign > 0) == sorted(tuples)
    with IntervalIndex.open(tmp_path / "i") as index:
        assert sorted(row for _, sign, row in events_of(index) if sign > 0) == sorted(tuples)


def test_bad_questions(tmp_path):
    with pytest.raises(InputError, match="11 of them indexed"):
        IntervalIndex.create(tmp_path / "i", [True] * 11, [])
    with pytest.raises(BudgetError, match="0 pages"):
        IntervalIndex.create(tmp_path / "i", [], [], 0)
    with pytest.raises(InputError, match="'fifo' is unknown; there are order and lru"):
        IntervalIndex.create(tmp_path / "i", [], [], 5, "fifo")
    assert list(tmp_path.iterdir()) == []
    with IntervalIndex.create(tmp_path / "i", INDEXED, [matrix([(1, 2, 3, 4)])]) as index:
        for window in ((5, 5), (6, 5), (MOST, None), (None, LEAST)):
            with pytest.raises(WindowError, match="is empty"):
                list(index.events(*window))


def test_order_of_a_big_step_is_kept(tmp_path):
    random = np.random.default_rng(5)
    start = random.integers(0, 50, 30_000)
    tuples = np.array([start, start + random.integers(1, 50, 30_000)])
    with IntervalIndex.create(tmp_path / "i", [], [tuples], 4) as index:
        keys = [2 * time + (sign > 0) for time, sign, _ in index.events()]
    merged = np.concatenate(keys)
    assert len(merged) == 60_000
    assert all(before <= after for before, after in pairwise(merged.tolist()))
