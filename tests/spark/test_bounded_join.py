"""Streams: all rows of Spark's own join without a budget, those of the local engine with one."""

from collections import Counter

import pytest

from recollect.forecast import DiscreteLaw, Trend
from recollect.policies.heeb import Heeb
from recollect.spark.bounded_join import bounded_join
from recollect.spark.exact_join import exact_join
from tests.policies.forget_newest import ForgetTheNewest
from tests.spark.feeds import (
    PROVIDER,
    STORE,
    count,
    cut,
    events,
    join_locally,
    random_events,
    run,
    streams,
)

pytestmark = pytest.mark.spark

LAW = Trend(0, 3, DiscreteLaw.uniform(-3, 4))
WORDS = {"on": "k", "time": "lt=rt", "lateness": "5 seconds"}


def out_of_order(rows=150, parts=4, **more):
    """Both streams, out of order within and across micro-batches, and a tenth of them too late."""
    more = {"jitter": 6, "late": 30, "missing": 0.03} | more
    return [cut(random_events(side, seed=1, rows=rows, **more), parts) for side in "lr"]


def in_order():
    return [cut(random_events(side, seed=2), 4) for side in "lr"]


def bursts():
    """Nothing, or many rows at once with the same few times; a side that is silent for a while."""
    left, right = (random_events(side, seed=3, rows=200, keys=3, late=2) for side in "lr")
    flood = [10 + 0.001 * (i % 3) for i in range(60)]
    return (
        [left[:20], left[20:20], events("l", flood, [1, 2] * 30), left[20:20], left[20:120]],
        [right[:1], right[1:1], events("r", flood, [1, 3] * 30), right[1:90], right[90:120]],
    )


@pytest.fixture
def store(spark, request):
    """The kind of state store that a test asks for."""
    before = spark.conf.get(STORE)
    spark.conf.set(STORE, PROVIDER.format(request.param))
    yield
    spark.conf.set(STORE, before)


@pytest.mark.parametrize(
    ("parts", "window", "shards", "store"),
    [
        (in_order(), "10s", None, "HDFSBacked"),
        (out_of_order(), ("12s", "3s"), 3, "RocksDB"),
        (bursts(), "landmark:7s", 1, "RocksDB"),
    ],
    ids=["in order", "out of order", "bursts"],
    indirect=["store"],
)
def test_without_a_budget_it_is_sparks_own_join(spark, store, tmp_path, parts, window, shards):
    both = streams(spark, tmp_path, *parts)
    exact = run(exact_join(*both, window=window, **WORDS), tmp_path / "exact")
    bounded = run(bounded_join(*both, window=window, shards=shards, **WORDS), tmp_path / "bounded")
    assert bounded.rows == exact.rows != {}
    dropped = [batch["stateOperators"][0]["numRowsDroppedByWatermark"] for batch in exact.progress]
    assert bounded.total("late") == sum(dropped)
    assert bounded.total("rebuilt") == 0
    assert bounded.total("results") == sum(bounded.rows.values())
    assert bounded.total("rows_in") == sum(part.num_rows for side in parts for part in side)


def test_without_a_watermark_nothing_is_late(spark, tmp_path):
    parts = out_of_order(rows=60, parts=2, late=1000)
    both = streams(spark, tmp_path, *parts)
    words = {"on": "k", "time": "lt=rt", "window": "unlimited"}
    bounded = run(bounded_join(*both, **words), tmp_path / "bounded")
    tables = [spark.read.parquet(str(tmp_path / side)) for side in ("left", "right")]
    assert bounded.rows == count(exact_join(*tables, **words)) != {}
    assert bounded.total("late") == bounded.total("expired") == 0


@pytest.mark.parametrize(
    ("words", "hot", "store"),
    [
        ({"window": ("12s", "8s"), "budget": 31, "shards": 3}, 0.9, "RocksDB"),
        ({"window": "60s", "budget": "2MB", "policy": "prob", "shards": 2}, 0.2, "RocksDB"),
        (
            {"window": "10s", "budget": 20, "policy": ForgetTheNewest(patience=2_000_000)},
            0.2,
            "HDFSBacked",
        ),
        ({"window": "20s", "budget": 30, "policy": Heeb(left=LAW, right=LAW)}, 0.2, "RocksDB"),
        ({"window": "20s", "budget": 30, "policy": "hist:period=8"}, 0.2, "RocksDB"),
    ],
    ids=["one key with nine tenths of the rows", "bytes", "own policy", "given laws", "hist"],
    indirect=["store"],
)
def test_with_a_budget_it_is_the_local_engine_shard_by_shard(spark, store, tmp_path, words, hot):
    in_bytes = words["budget"] == "2MB"
    parts = out_of_order(rows=200, hot=hot, payload=30_000 if in_bytes else 0)
    joined = bounded_join(*streams(spark, tmp_path, *parts), seed=7, **words, **WORDS)
    found = run(joined.select("l", "r"), tmp_path / "bounded")
    local = join_locally(*parts, seed=7, **words)
    assert found.rows == local.pairs != {}
    fields = ("results", "evicted", "refused", "expired", "late")
    assert [found.total(name) for name in fields] == [local.totals[name] for name in fields]
    assert found.total("evicted") + found.total("refused") > 50
    assert [numbers["buffered"] for numbers in found.numbers()] == local.buffered
    if in_bytes:
        assert max(numbers["buffered_bytes"] for numbers in found.numbers()) <= 2_000_000
    else:
        assert sum(local.peaks) <= words["budget"]


def test_two_joins_in_one_query_do_not_get_in_each_others_way(spark, tmp_path):
    parts = in_order()
    both = streams(spark, tmp_path, *parts)
    one = bounded_join(*both, window="10s", name="one", **WORDS)
    two = bounded_join(*both, window="3s", name="two", budget=20, **WORDS)
    found = run(one.union(two).select("l", "r"), tmp_path / "bounded")
    locally = [join_locally(*parts, "10s"), join_locally(*parts, "3s", budget=20)]
    assert found.rows == sum((local.pairs for local in locally), Counter())
    assert found.total("rebuilt", "one") == found.total("rebuilt", "two") == 0
