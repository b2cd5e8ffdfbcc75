"""Tables: the same rows as the local join of the same tables."""

from collections import Counter

import pyarrow as pa
import pytest
from pyspark.sql import functions as F  # noqa: N812

import recollect
from recollect.spark.bounded_join import bounded_join
from recollect.spark.exact_join import exact_join
from tests.policies.forget_newest import ForgetTheNewest
from tests.spark.feeds import count, cut, join_locally, random_events, write

pytestmark = pytest.mark.spark

WORDS = {"on": "k", "time": "lt=rt"}


def in_order(side: str, rows: int = 400) -> pa.Table:
    return random_events(side, seed=31, rows=rows, keys=20, hot=0.2)


LEFT, RIGHT = (in_order(side) for side in "lr")


@pytest.fixture(scope="module")
def frames(spark, tmp_path_factory):
    """Both tables in several files, so that rows do not come in order."""
    folder = tmp_path_factory.mktemp("tables")
    return [
        spark.read.parquet(str(write(folder / side, cut(table, 3)[::-1])))
        for side, table in zip(("left", "right"), (LEFT, RIGHT), strict=True)
    ]


def local(window, **words) -> Counter:
    table = recollect.join(LEFT, RIGHT, window=window, **WORDS, **words).table
    return Counter(zip(*table.select(["l", "r"]).to_pydict().values(), strict=True))


def test_one_shard_with_a_budget_is_the_local_join(frames):
    runs = {
        "clock": ("20s", 30, "clock"),
        "gdj": (("30s", "10s"), 25, "gdj"),
        "rand": ("20s", 40, "rand"),
        "prob": ("landmark:25s", 30, "prob"),
        "lru": ("unlimited", 50, "lru"),
        "own": ("20s", 30, ForgetTheNewest(patience=3_000_000)),
    }
    joined = [
        bounded_join(
            *frames, window=window, budget=budget, policy=policy, shards=1, seed=9, name=title,
            **WORDS,
        ).select(F.lit(title), "l", "r")
        for title, (window, budget, policy) in runs.items()
    ]  # fmt: skip
    both = joined[0]
    for other in joined[1:]:
        both = both.union(other)
    found = count(both)
    for title, (window, budget, policy) in runs.items():
        wanted = local(window, budget=budget, policy=policy, seed=9)
        mine = Counter({row[1:]: times for row, times in found.items() if row[0] == title})
        assert mine == wanted != {}, title
        assert sum(wanted.values()) < sum(local(window).values())


@pytest.mark.parametrize(("budget", "shards"), [(31, 3), ("2MB", 2)], ids=["rows", "bytes"])
def test_several_shards_share_the_budget(spark, frames, budget, shards):
    tables = [LEFT, RIGHT]
    if budget == "2MB":
        tables = [random_events(side, seed=32, rows=200, payload=30_000) for side in "lr"]
        frames = [spark.createDataFrame(table) for table in tables]
    words = {"window": "60s", "budget": budget, "shards": shards, "seed": 4}
    joined = bounded_join(*frames, **words, **WORDS)
    # Small batches, so that shards are continued from one to the next.
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "17")
    try:
        found = count(joined.select("l", "r"))
    finally:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100000")
    wanted = join_locally(*([table] for table in tables), unordered=False, lateness=0, **words)
    assert found == wanted.pairs != {}
    assert wanted.totals["evicted"] > 50
    if budget == 31:
        assert sum(wanted.peaks) <= budget


def test_without_a_budget_it_is_sparks_own_join(spark, frames):
    left, right = (frame.withColumn("d", F.to_date(f"{side}t")) for frame, side in
                   zip(frames, "lr", strict=True))  # fmt: skip
    whole = [frame.withColumn("u", F.unix_micros(f"{side}t")) for frame, side in
             zip((left, right), "lr", strict=True)]  # fmt: skip
    for words in (
        {"on": "k", "time": "lt=rt", "window": ("3s", "landmark:20s"), "lateness": "1s"},
        {"on": "k=k,d=d", "time": "u", "window": 7_000_000},
        {"on": "d", "time": "d", "window": "unlimited"},
    ):
        bounded = bounded_join(*whole, **words)
        exact = exact_join(*whole, **words)
        assert bounded.columns == exact.columns
        counts = [frame.groupBy("l", "r").count() for frame in (bounded, exact)]
        assert count(counts[0]) == count(counts[1]) != {}


def test_empty_tables_and_rows_without_key_or_time(spark, frames):
    left, right = frames
    none = left.where("l < 0")
    assert bounded_join(none, right, window="1s", **WORDS).count() == 0
    assert bounded_join(left, right.where("false"), window="1s", shards=1, **WORDS).count() == 0
    rows = [(1, 5, 1), (2, None, 1), (None, 5, 1), (None, None, 1)]
    holes = spark.createDataFrame(rows, "k int, t int, p int")
    assert bounded_join(holes, holes, on="k", time="t", window=0).count() == 1
