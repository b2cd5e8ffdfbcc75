"""A query goes on from its checkpoint with the same buffer, policy state and victims to come."""

import json
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException

from recollect.errors import StateError
from recollect.spark.bounded_join import bounded_join
from recollect.spark.keeping import keeper as keeping
from recollect.spark.keeping.header import read_header
from recollect.spark.keeping.keeper import Keeper
from recollect.spark.keeping.shard import Job, Shard
from recollect.spark.operators import DictVault
from tests.spark.feeds import (
    PROVIDER,
    SECOND,
    START,
    STORE,
    Parts,
    batches_of,
    cut,
    events,
    job,
    join_locally,
    pairs_of,
    random_events,
    run,
    start,
    streams,
    write,
)
from tests.spark.shards import contents_of

pytestmark = pytest.mark.spark

WORDS = {"on": "k", "time": "lt=rt", "window": "10s", "lateness": "5 seconds"}
BOUND = {"budget": 40, "policy": "gdj", "shards": 2, "seed": 3}


def as_read(checkpoint: Path, parts: list[Parts]) -> list[list[pa.Table]]:
    """The parts of both streams by micro-batch, as the query took them.

    A query that is stopped while it plans a micro-batch may have taken note of a file of one
    stream but not yet of the other; from then on one stream is a file ahead.
    """
    taken: list[list[pa.Table]] = [[], []]
    before = [-1, -1]
    for batch in sorted((checkpoint / "offsets").glob("[0-9]*"), key=lambda file: int(file.name)):
        lines = batch.read_text().splitlines()[-2:]
        for side, line in enumerate(lines):
            last = json.loads(line)["logOffset"]
            new = parts[side][before[side] + 1 : last + 1]
            taken[side].append(pa.concat_tables([parts[side][0].slice(0, 0), *new]))
            before[side] = last
    return taken


@pytest.mark.parametrize(
    "store", ["RocksDB", pytest.param("HDFSBacked", marks=pytest.mark.thorough)]
)
def test_a_query_is_stopped_in_mid_stream_and_started_again(spark, tmp_path, store):
    parts = [cut(random_events(side, seed=21, rows=200, jitter=6, late=30), 5) for side in "lr"]
    both = streams(spark, tmp_path, *parts)
    before = spark.conf.get(STORE)
    spark.conf.set(STORE, PROVIDER.format(store))
    try:
        query = start(bounded_join(*both, **WORDS, **BOUND).select("l", "r"), tmp_path)
        while query.isActive and (query.lastProgress or {"batchId": -1})["batchId"] < 1:
            time.sleep(0.01)
        query.stop()
        first = query.lastProgress["batchId"]
        # It may well be a session elsewhere that goes on.
        spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        found = run(bounded_join(*both, **WORDS, **BOUND).select("l", "r"), tmp_path)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        spark.conf.set(STORE, before)
    assert first < found.progress[0]["batchId"] < 5
    parts = as_read(tmp_path / "checkpoint", parts)
    assert found.rows == join_locally(*parts, "10s", **BOUND).pairs != {}


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
    local = join_locally(*parts, "10s", **BOUND)
    assert found.rows == local.pairs != {}


# -- without Spark: what is kept between micro-batches -------------------------------------------


EMPTY = [[events(side, [], [])] for side in "lr"]


def micro_batches(made: Job, seed: int, batches: int = 30):
    """Batches of both streams that overlap in time, with how late rows may be then and next."""
    random = np.random.default_rng(seed)
    for number in range(batches):
        parts = []
        for side in "lr":
            rows = int(random.integers(0, 60))
            times = number * 5 + random.uniform(-6, 5, rows)
            parts.append(events(side, times, random.zipf(1.5, rows) % 40))
        brought = [batch if batch.num_rows else None for batch in batches_of(made, parts)]
        if any(brought):
            yield number, brought, [START + (number * 5 - late) * SECOND for late in (10, 5)]


def assert_same_state(one: Shard, two: Shard) -> None:
    """All is the same, but for the places of rows and what policies have not yet filled."""
    contents = [contents_of(shard) for shard in (one, two)]
    for name, array in contents[0].items():
        if not name.startswith("state"):
            assert np.array_equal(array, contents[1][name]), name


@pytest.mark.parametrize(
    ("policy", "budget"),
    [
        ("clock", 25), ("gdj", 25), ("rand", 25),
        ("prob", "300kB"), ("life:counts=sketch", "300kB"), ("lfu", None),
    ],
)  # fmt: skip
def test_a_shard_is_the_same_however_it_is_opened(monkeypatch, policy, budget):
    """Mostly at hand, rebuilt each time from log or snapshot, or never closed at all."""
    monkeypatch.setattr(keeping, "SMALLEST_SNAPSHOT", 400)
    made = job(*EMPTY, "10s", budget=budget, policy=policy, shards=1, seed=5)
    vaults = {"at hand": DictVault(), "rebuilt": DictVault()}
    open_shard = Shard(made, 0)
    snapshots = 0
    for number, brought, marks in micro_batches(made, seed=len(policy)):
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
    made = job(*EMPTY, "10s")
    vault = DictVault()
    number, brought, marks = next(micro_batches(made, seed=1))
    keeper = Keeper(made, 0, vault, read_header(vault, made), "whole")
    taken = keeper.shard.take(brought, *marks)
    list(keeper.shard.results(taken))
    keeper.save(taken, number, marks[1])
    lost = next(name for name in vault if name.startswith("rows"))
    vault.delete(lost)
    with pytest.raises(StateError, match=f"part '{lost}' of the state"):
        Keeper(made, 0, vault, read_header(vault, made), "elsewhere")
