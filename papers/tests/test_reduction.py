"""Caching reduced to joining: the hits of a cache are the results of a join."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from recollect.lookup import lookup
from recollect.optimum import most_results
from recollect_papers.theory import reduce_to_join
from tests.lookup.supply import SpentFirst
from tests.naive import caches

WORDS = {"on": "key,occurrence", "time": "time", "window": "unlimited"}
some_keys = st.lists(st.sampled_from("abcdef"), max_size=60)


@settings(max_examples=20, deadline=None)
@given(some_keys)
def test_each_supply_meets_the_next_reference(keys):
    """By its definition, and one to one."""
    reduced = reduce_to_join(pa.array(keys, pa.string()))
    seen = Counter()
    for place, key in enumerate(keys):
        assert reduced.references.slice(place, 1).to_pylist() == [
            {"time": place, "key": key, "occurrence": seen[key]}
        ]
        seen[key] += 1
        assert reduced.supply["occurrence"][place].as_py() == seen[key]
    pairs = recollect.join(*reduced, **WORDS).table
    expected = [
        (max(p for p in range(place) if keys[p] == key), place)
        for place, key in enumerate(keys)
        if key in keys[:place]
    ]
    found = zip(pairs["right_time"].to_pylist(), pairs["left_time"].to_pylist(), strict=True)
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("capacity", [2, 17, 100])
def test_the_join_is_an_lru_cache(capacity):
    """With room for one reference, which matches nothing, and for the supply as in the cache."""
    keys = pa.array(np.random.default_rng(1).zipf(1.3, 3000) % 400)
    stats = recollect.join(
        *reduce_to_join(keys), budget=capacity + 1, split=(1, capacity), policy=SpentFirst, **WORDS
    ).stats
    stream = pa.table({"key": keys})
    relation = pa.table({"key": np.arange(400)})
    cached = lookup(stream, relation, on="key", cache=capacity, policy="lru", count_only=True)
    assert stats.results == cached.stats.hits > 100


@settings(max_examples=15, deadline=None)
@given(some_keys, st.integers(1, 4))
def test_the_best_join_is_the_best_cache(keys, capacity):
    reduced = reduce_to_join(pa.array(keys, pa.string()))
    pairs = recollect.join(*reduced, **WORDS).table
    supplied, met = (pairs[name].to_numpy() for name in ("right_time", "left_time"))
    order = np.argsort(supplied)
    best = most_results(np.arange(len(order)), supplied[order], met[order], capacity).results
    assert best == sum(caches.Lfd(capacity, 0, keys).refer(keys))


def test_nulls_refer_to_nothing():
    assert reduce_to_join(pa.array([1, None, 1])).references["occurrence"].to_pylist() == [0, 1]
    assert reduce_to_join(pa.array([], pa.int64())).supply.num_rows == 0
