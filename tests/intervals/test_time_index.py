"""The index of times against a Counter."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.intervals.disk.layout import LEAST, MOST, Layout
from recollect.intervals.disk.page import new_page
from recollect.intervals.disk.store import Store
from recollect.intervals.disk.time_index import (
    TimeIndex,
    fitting,
    read_times,
    summed,
    write_times,
)


def contents(index, *window):
    return [
        pair
        for times, counts in index.moments(*window)
        for pair in zip(times.tolist(), counts.tolist(), strict=True)
    ]


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    distance=st.sampled_from([1, 200, 10**5, 10**12, 2**62]),
    pool=st.sampled_from([1, 3, 30]),
    loaded=st.booleans(),
)
def test_like_a_counter(tmp_path_factory, seed, distance, pool, loaded):
    random = np.random.default_rng(seed)
    store = Store(tmp_path_factory.mktemp("times") / "times", pool, new=Layout())
    naive = Counter()
    if loaded:
        times, counts = summed(random.integers(-distance, distance, 9000), np.ones(9000, np.int64))
        middle = len(times) // 2
        blocks = [(times[:middle], counts[:middle]), (times[middle:], counts[middle:])]
        index = TimeIndex.load(store, blocks)
        naive.update(dict(zip(times.tolist(), counts.tolist(), strict=True)))
    else:
        index = TimeIndex(store)
    for _ in range(4):
        present = np.array(list(naive.elements()), np.int64)
        leaving = random.permutation(present)[: random.integers(0, 5000)]
        coming = random.integers(-distance, distance, random.integers(1, 4000))
        both = np.concatenate([leaving, coming])
        signs = np.repeat([-1, 1], [len(leaving), len(coming)])
        index.change(*summed(both, signs))
        naive.update(coming.tolist())
        naive.subtract(leaving.tolist())
        naive = +naive
        assert contents(index) == sorted(naive.items())
        low, high = sorted(random.integers(-distance, distance, 2).tolist())
        wanted = [(time, count) for time, count in sorted(naive.items()) if low <= time < high]
        assert contents(index, low, high) == wanted
    everything = np.array(sorted(naive))
    index.change(everything, np.array([-naive[time] for time in everything.tolist()]))
    assert contents(index) == []
    assert store.header.times.page == 0
    store.close()


def test_a_moment_on_both_sides_of_a_block(tmp_path):
    store = Store(tmp_path / "times", 3, new=Layout())
    blocks = [(np.array([1, 5]), np.array([2, 3])), (np.array([5]), np.array([4]))]
    assert contents(TimeIndex.load(store, blocks)) == [(1, 2), (5, 7)]
    store.close()


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.integers(LEAST, MOST) | st.integers(-300, 300),
        st.integers(1, 400) | st.integers(1, MOST),
        min_size=1,
        max_size=40,
    )
)
def test_a_page_gives_back_what_it_got(moments):
    times = np.array(sorted(moments), np.int64)
    counts = np.array([moments[time] for time in times.tolist()], np.int64)
    words = new_page()
    assert fitting(times, counts) == len(times)
    write_times(words, times, counts)
    found_times, found_counts = read_times(words)
    assert np.array_equal(found_times, times)
    assert np.array_equal(found_counts, counts)


def test_no_more_than_fit():
    random = np.random.default_rng(0)
    for distance, most in ((1, 1), (300, 1), (300, 70_000), (2**40, 2**40)):
        times = np.cumsum(random.integers(1, distance + 1, 4000))
        counts = random.integers(1, most + 1, 4000)
        count, words = fitting(times, counts), new_page()
        assert count < 4000
        write_times(words, times[:count], counts[:count])
        assert np.array_equal(read_times(words)[0], times[:count])
        assert np.array_equal(read_times(words)[1], counts[:count])
