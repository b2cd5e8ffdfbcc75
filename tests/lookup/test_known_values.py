"""Caching problems whose answers are known: the paper's temperatures, and laws with an optimum."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recollect.forecast import Ar1, DiscreteLaw, Trend, Walk
from recollect.lookup import lookup
from recollect.lookup.cache import Cache
from recollect.policies import Room, parse_cache_policy
from recollect.policies.heeb import Heeb
from recollect_papers.theory import lfd_hits

TEMPERATURES = Path(os.environ.get("RECOLLECT_DATA", "")) / "melbourne_temp.parquet"
DAILY = Ar1(factor=0.72, shift=55.9, deviation=42.2)
"""The law of the maximum temperature in Melbourne, in tenths of a degree."""
HEEB = Heeb(right=DAILY, alpha=150)


def hits(keys, capacity, policy):
    room = Room.of_cache(capacity, key_type=pa.int64(), trace=keys)
    cache = Cache(parse_cache_policy(policy), room)
    cache.refer(keys)
    return cache.hits


@pytest.mark.compiled
@pytest.mark.skipif(not TEMPERATURES.is_file(), reason=f"RECOLLECT_DATA has no {TEMPERATURES.name}")
@pytest.mark.parametrize(
    ("capacity", "policy", "known"),
    [
        (100, "lfd", 2805), (100, "lfu", 2287), (100, "lru", 1962),
        (150, "lfd", 3129), (150, "lfu", 2815), (150, "lru", 2443), (150, HEEB, 2899),
    ],
)  # fmt: skip
def test_melbourne(capacity, policy, known):
    degrees = pq.read_table(TEMPERATURES)["max_c"].to_numpy()
    assert hits(np.rint(10 * degrees).astype(np.int64), capacity, policy) == pytest.approx(
        known, rel=0.002
    )


@pytest.mark.compiled
def test_generated_temperatures():
    """HEEB knows the law of the stream; nothing beats the one who knows the stream itself."""
    keys = DAILY.sample(3650, seed=1)
    found = {p: hits(keys, 150, p) for p in ("rand", "fifo", "lru", "lfu", "clock", "lfd")}
    found["heeb"] = hits(keys, 150, HEEB)
    best = found.pop("lfd")
    assert found["heeb"] > 1.1 * found["lru"]
    assert max(found, key=found.get) == "heeb"
    assert best == lfd_hits(keys, 150) > found["heeb"]
    assert hits(keys, 150, "lfd:refuse=false") == lfd_hits(keys, 150, refuse=False) <= best


@pytest.mark.compiled
def test_heeb_learns_the_law():
    """Fractions are counted in units; the law is fitted to the first references only."""
    keys = DAILY.sample(6000, seed=2)
    relation = pa.table({"degrees": np.unique(keys) / 10})
    stream = pa.table({"degrees": keys / 10})
    words = {"on": "degrees", "cache": 150, "count_only": True}
    learnt = lookup(stream, relation, policy="heeb:forecast=ar1,unit=0.1", **words).stats
    assert learnt.not_found == 0
    assert 0.96 * hits(keys, 150, HEEB) < learnt.hits > 1.1 * hits(keys, 150, "lru")


def victims(law, keys, capacity):
    """Each reference that made a row leave: the stream so far, who left, and who stayed."""
    cache = Cache(Heeb(right=law), Room.of_cache(capacity, key_type=pa.int64()))
    before = set()
    for step, key in enumerate(keys):
        cache.refer(np.array([key]))
        cache.put(0, np.zeros(1, bool))
        view = cache.buffer
        after = set(view.key[view.group[cache.rows_of()[0], 0]].tolist())
        for left in before - after:
            yield step, key, left, after
        before = after


def test_a_walk_without_drift_leaves_the_farthest():
    law = Walk(DiscreteLaw(-2, [0.1, 0.2, 0.4, 0.2, 0.1]))
    seen = 0
    for _, last, left, kept in victims(law, law.sample(400, seed=3).tolist(), 4):
        assert abs(left - last) == max(abs(key - last) for key in kept | {left})
        seen += 1
    assert seen > 50


def test_a_rising_trend_leaves_the_smallest():
    """Or another that can never come again, which is as good."""
    law = Trend(0.5, 0, DiscreteLaw.uniform(-6, 6))
    seen = 0
    for step, _, left, kept in victims(law, law.sample(400, seed=4).tolist(), 5):
        assert left < min(kept) or left < law.centre([step + 1])[0] - 6
        seen += left < min(kept)
    assert seen > 50


def test_a_stationary_law_is_lfu():
    keys = np.random.default_rng(5).zipf(1.3, 3000) % 300
    assert hits(keys, 40, "heeb") == hits(keys, 40, "lfu")
