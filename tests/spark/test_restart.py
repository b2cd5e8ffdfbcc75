"""A query goes on from its checkpoint with the same buffer, policy state and victims to come."""

import time
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException

from recollect.errors import StateError
from recollect.spark import keeping
from recollect.spark.bounded_join import bounded_join
from recollect.spark.keeping import Keeper, read_header
from recollect.spark.operators import DictVault
from recollect.spark.shard import Shard
from tests.spark.feeds import (
    PROVIDER,
    STORE,
    cut,
    events,
    job,
    join_locally,
    random_events,
    run,
    start,
    stream,
    streams,
    write,
    written,
)

pytestmark = pytest.mark.xdist_group("spark")

LATENESS = 5
WORDS = {"on": "k", "time": "lt=rt", "window": "10s", "lateness": "5 seconds"}
BOUND = {"budget": 40, "policy": "gdj", "shards": 2, "seed": 3}


@pytest.mark.parametrize("store", ["RocksDB", "HDFSBacked"])
def test_a_query_is_stopped_in_mid_stream_and_started_again(spark, tmp_path, store):
    parts = [cut(random_events(side, seed=21, rows=240, jitter=6, late=30), 6) for side in "lr"]
    both = streams(spark, tmp_path, *parts)
    before = spark.conf.get(STORE)
    spark.conf.set(STORE, PROVIDER.format(store))
    try:
        joined = bounded_join(*both, **WORDS, **BOUND).select("l", "r")
        query = start(joined, tmp_path)
        while query.isActive and (query.lastProgress or {"batchId": -1})["batchId"] < 1:
            time.sleep(0.02)
        query.stop()
        first = query.lastProgress["batchId"]
        found = run(joined, tmp_path)
    finally:
        spark.conf.set(STORE, before)
    assert first < found.progress[0]["batchId"] < 6
    local = join_locally(job("10s", 40, "gdj", 2, LATENESS, seed=3), *parts, LATENESS)
    assert found.rows == local.pairs != {}


def test_a_checkpoint_of_another_join_is_refused(spark, tmp_path):
    parts = [cut(random_events(side, seed=22, rows=80), 2) for side in "lr"]
    both = streams(spark, tmp_path, *(side[:1] for side in parts))
    run(bounded_join(*both, **WORDS, **BOUND).select("l", "r"), tmp_path)
    for side, (_, more) in zip(("left", "right"), parts, strict=True):
        write(tmp_path / side, [more], first=1)
    for change, says in (
        ({"budget": 41}, "budget 40, this one has budget 41"),
        ({"policy": "lru"}, "policy gdj, this one has policy lru"),
        ({"shards": 3}, "shards 2, this one has shards 3"),
    ):
        query = start(bounded_join(*both, **WORDS, **(BOUND | change)).select("l", "r"), tmp_path)
        with pytest.raises(StreamingQueryException, match=f"StateError.*{says}"):
            query.awaitTermination()
    found = run(bounded_join(*both, **WORDS, **BOUND).select("l", "r"), tmp_path)
    local = join_locally(job("10s", 40, "gdj", 2, LATENESS, seed=3), *parts, LATENESS)
    assert found.rows == local.pairs != {}


def test_another_time_zone_is_no_other_join(spark, tmp_path):
    parts = [cut(random_events(side, seed=23, rows=80), 2) for side in "lr"]
    both = streams(spark, tmp_path, *(side[:1] for side in parts))
    run(bounded_join(*both, **WORDS, **BOUND).select("l", "r"), tmp_path)
    for side, (_, more) in zip(("left", "right"), parts, strict=True):
        write(tmp_path / side, [more], first=1)
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        found = run(bounded_join(*both, **WORDS, **BOUND).select("l", "r"), tmp_path)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    local = join_locally(job("10s", 40, "gdj", 2, LATENESS, seed=3), *parts, LATENESS)
    assert found.rows == local.pairs != {}


# -- without Spark: what is kept between micro-batches -------------------------------------------


def micro_batches(seed: int, batches: int = 30):
    """Batches of both streams that overlap in time, with how late rows may be then and next."""
    random = np.random.default_rng(seed)
    for number in range(batches):
        brought = []
        for side in "lr":
            rows = int(random.integers(0, 60))
            times = number * 5 + random.uniform(-6, 5, rows)
            part = events(side, times, random.zipf(1.5, rows) % 40)
            part = part.rename_columns([side, side + "t", side + "k"]).combine_chunks()
            batch = pa.RecordBatch.from_struct_array(part.to_struct_array().combine_chunks())
            brought.append(batch if rows else None)
        marks = [(1_700_000_000 + number * 5 - late) * 1_000_000 for late in (10, 5)]
        yield brought, marks


def pairs_of(batches) -> Counter:
    pairs: Counter = Counter()
    for batch in batches:
        found = batch.select(["l", "r"]).to_pydict()
        pairs.update(zip(found["l"], found["r"], strict=True))
    return pairs


def assert_same_state(one: Shard, two: Shard) -> None:
    """All is the same, but for the places of rows and what policies have not yet filled."""
    arrays = [shard.engine.arrays() for shard in (one, two)]
    for name, array in arrays[0].items():
        if name.startswith("state"):
            continue
        other = arrays[1][name]
        fields = [field for field in array.dtype.names or () if field != "row"]
        pairs = [(array[field], other[field]) for field in fields] or [(array, other)]
        assert all(np.array_equal(*pair) for pair in pairs), name


@pytest.mark.parametrize(
    ("policy", "budget"),
    [
        ("clock", 25), ("gdj", 25), ("rand", 25),
        ("prob", "300kB"), ("life:counts=sketch", "300kB"), ("lfu", None),
    ],
)  # fmt: skip
def test_a_shard_is_the_same_however_it_is_opened(monkeypatch, policy, budget):
    """Mostly at hand, rebuilt each time from log or snapshot, or never closed at all."""
    monkeypatch.setattr(keeping, "SMALLEST_SNAPSHOT", 3000)
    made = job("10s", budget, policy, 1, LATENESS, seed=5)
    vaults = {"at hand": DictVault(), "rebuilt": DictVault()}
    open_shard = Shard(made, 0)
    snapshots = 0
    for number, (brought, marks) in enumerate(micro_batches(seed=len(policy))):
        if not any(brought):
            continue
        wanted = pairs_of(open_shard.results(open_shard.take(brought, *marks)))
        for way, vault in vaults.items():
            header = read_header(vault, made)
            query = f"{way}-{number if way == 'rebuilt' else 0}"  # whose memory nobody has
            keeper = Keeper(made, 0, vault, header, query)
            assert keeper.rebuilt == (way == "rebuilt" and header.batch >= 0)
            taken = keeper.shard.take(brought, *marks)
            assert pairs_of(keeper.shard.results(taken)) == wanted
            header = keeper.save(taken, number, marks[1])
            assert header.buffered == open_shard.buffered == keeper.shard.buffered
            snapshots += header.snapshot_pages
    assert snapshots > 0
    assert_same_state(keeper.shard, open_shard)
    needed = {"header"} | {key for key in vaults["rebuilt"] if key.startswith(("rows", "log"))}
    assert len(vaults["rebuilt"]) == len(needed) + header.snapshot_pages


def test_state_that_is_not_whole_is_refused():
    made = job("10s", None, "clock", 1, LATENESS, seed=0)
    vault = DictVault()
    brought, marks = next(micro_batches(seed=1))
    keeper = Keeper(made, 0, vault, read_header(vault, made), "whole")
    taken = keeper.shard.take(brought, *marks)
    list(keeper.shard.results(taken))
    keeper.save(taken, 0, marks[1])
    lost = next(name for name in vault if name.startswith("rows"))
    vault.delete(lost)
    with pytest.raises(StateError, match=f"lacks its part '{lost}'"):
        Keeper(made, 0, vault, read_header(vault, made), "elsewhere")
