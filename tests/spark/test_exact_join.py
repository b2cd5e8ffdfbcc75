"""Spark's own join with our words gives what the definition of the join says."""

import os
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F  # noqa: N812

from recollect.errors import InputError, WindowError
from recollect.spark.exact_join import _interval, exact_join
from tests.naive.join import LandmarkWindow, TimeWindow, UnlimitedWindow, exact_pairs

pytestmark = pytest.mark.spark

SECOND, DAY = 1_000_000, 86_400


def stream(seed: int, rows: int, start: int) -> list[tuple[int, int, int | None]]:
    """Number, time and key; times go up by 0 to 2, a few keys are NULL."""
    random = np.random.default_rng(seed)
    times = np.cumsum(random.integers(0, 3, rows)) + start
    keys = [None if key == 0 else int(key) for key in random.integers(0, 12, rows)]
    return [(i, int(times[i]), keys[i]) for i in range(rows)]


LEFT, RIGHT = (stream(seed, rows=120, start=-60) for seed in (1, 2))  # since before 1970


def expected(windows, left=LEFT, right=RIGHT) -> list[tuple[int, int]]:
    arrivals = sorted((t, s, n, k) for s, side in enumerate((left, right)) for n, t, k in side)
    pairs = exact_pairs([(s, t, k) for t, s, _, k in arrivals], windows)
    return sorted((arrivals[a - 1][2], arrivals[b - 1][2]) for a, b in pairs)


def frame(spark, rows, name: str):
    """The rows with the time in every type; a unit is a second, or a day for dates."""
    made = spark.createDataFrame(rows, f"{name} long, t long, k long")
    return made.select(
        name, "k", F.col("t").alias("whole"), F.col("t").cast("int").alias("short"),
        F.timestamp_seconds("t").alias("stamp"),
        F.expr("TIMESTAMP_NTZ '1970-01-01' + make_dt_interval(0, 0, 0, t)").alias("local"),
        F.date_add(F.lit("1970-01-01").cast("date"), F.col("t").cast("int")).alias("date"),
    )  # fmt: skip


@pytest.fixture(scope="module")
def frames(spark):
    return frame(spark, LEFT, "n").cache(), frame(spark, RIGHT, "m").cache()


def numbers(result) -> list[tuple[int, int]]:
    return sorted((row.n, row.m) for row in result.select("n", "m").collect())


WINDOWS = {
    "9{}": (TimeWindow(9), TimeWindow(9)),
    ("7{}", "0{}"): (TimeWindow(7), TimeWindow(0)),
    ("landmark:10{}", "landmark:7{}"): (LandmarkWindow(10), LandmarkWindow(7)),
    ("unlimited", "landmark:25{}"): (UnlimitedWindow(), LandmarkWindow(25)),
    ("3{}", None): (TimeWindow(3), UnlimitedWindow()),
}


@pytest.mark.parametrize(
    ("time", "unit"),
    [("whole=short", ""), ("stamp", "s"), ("local", " seconds"), ("date", "d")],
    ids=["whole", "stamp", "local", "date"],
)
def test_every_window_by_its_definition(frames, time, unit):
    # One job for all windows: starting one takes longer than running it.
    results = []
    chosen = WINDOWS if unit == "" else dict(list(WINDOWS.items())[1:3])
    for number, window in enumerate(chosen):
        parts = window if isinstance(window, tuple) else (window, window)
        typed = tuple(part and part.format(unit) for part in parts)
        joined = exact_join(*frames, on="k", time=time, window=typed)
        results.append(joined.select(F.lit(number).alias("window"), "n", "m"))
    both = results[0]
    for other in results[1:]:
        both = both.union(other)
    rows = both.collect()
    for number, windows in enumerate(chosen.values()):
        pairs = sorted((row.n, row.m) for row in rows if row.window == number)
        assert pairs == expected(windows)


def test_a_day_has_24_hours(spark):
    # In New York the 10th of March 2024 had 23.
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        start = int(datetime(2024, 3, 10, tzinfo=UTC).timestamp())
        left = spark.createDataFrame([(start,)], "t long")
        right = spark.createDataFrame([(start + DAY,), (start + DAY + 1,)], "t long")
        sides = [side.select(F.timestamp_seconds("t").alias("t"), F.lit(1).alias("k"))
                 for side in (left, right)]  # fmt: skip
        assert exact_join(*sides, on="k", time="t", window="1 day").count() == 1
        later = sides[0].select(F.unix_seconds(F.col("t") + _interval(DAY * SECOND)))
        assert later.first()[0] == start + DAY  # how it is written for streams
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_columns_are_those_of_sparks_own_join(spark):
    left = spark.sql("select 1 as a, 2L as b, 10 as t, 'l' as x, 'dots' as `x.y`")
    right = spark.sql("select 'r' as x, 1L as a, 2 as B, 11 as t, named_struct('a', 1) as s")
    for on, sparks in (
        ("a", left.join(right, ["a"])),
        ("b, a", left.join(right, ["b", "a"])),
        (["a", ("b", "b")], left.join(right, ["a", "b"])),
        ("a=a,b=B", left.join(right, [left.a == right.a, left.b == right.B])),
    ):
        ours = exact_join(left, right, on=on, time="t", window=1)
        assert ours.dtypes == sparks.dtypes
        assert ours.collect() == sparks.collect() != []


def test_keys_are_equal_as_spark_sees_it(spark):
    left = spark.sql("""
        select * from values (1, double('nan'), struct(1, null)), (2, -0.0D, struct(2, 'x')),
        (3, null, struct(3, 'x')), (4, 1.5D, null) as (n, d, s)""")
    right = left.select(F.col("n").alias("m"), (F.col("d") * F.lit(-1)).alias("e"), "s")
    sides = [side.withColumn("t", F.lit(0)) for side in (left, right)]
    window = {"time": "t", "window": 0}
    assert numbers(exact_join(*sides, on="d=e", **window)) == [(1, 1), (2, 2)]
    assert numbers(exact_join(*sides, on="s", **window)) == [(1, 1), (2, 2), (3, 3)]
    texts = spark.sql("select k collate utf8_lcase as k, 0 as t from values ('A'), ('a') as (k)")
    assert exact_join(texts, texts, on="k", **window).count() == 4


def test_the_ends_of_the_range_do_not_overflow(spark):
    last = 2**63 - 1
    sides = [spark.createDataFrame([(1, last), (2, -last)], "k long, t long") for _ in range(2)]
    assert exact_join(*sides, on="k", time="t", window=(5, "landmark:10")).count() == 2


def write_stream(folder, rows, name: str, files: int = 4) -> str:
    """Files that a stream reads in this order, which is that of the times they were written."""
    folder.mkdir()
    for i, part in enumerate(np.array_split(np.arange(len(rows)), files)):
        chosen = [rows[j] for j in part]
        times = pa.array([t * SECOND for _, t, _ in chosen], pa.timestamp("us", "UTC"))
        ids, keys = (pa.array([row[j] for row in chosen], pa.int64()) for j in (0, 2))
        file = folder / f"{i}.parquet"
        pq.write_table(pa.table({name: ids, "t": times, "k": keys}), file)
        os.utime(file, (10**9 + i, 10**9 + i))
    return str(folder)


@pytest.mark.parametrize(
    ("window", "windows"),
    [
        (("12s", "5s"), (TimeWindow(12), TimeWindow(5))),
        ("landmark:10s", (LandmarkWindow(10), LandmarkWindow(10))),
    ],
    ids=["time", "landmark"],
)
def test_a_stream_is_joined_and_its_state_dropped(spark, tmp_path, checkpoint, window, windows):
    # Not before 1970, where Spark's watermarks begin.
    sides = [stream(seed, rows=400, start=100) for seed in (3, 4)]
    sides[1] = sides[1][1:40:2] + sides[1][0:40:2] + sides[1][40:]  # out of order
    frames = []
    for side, name in zip(sides, "nm", strict=True):
        reader = spark.readStream.schema(f"{name} long, t timestamp, k long")
        folder = write_stream(tmp_path / name, side, name)
        frames.append(reader.option("maxFilesPerTrigger", 1).parquet(folder))
    joined = exact_join(*frames, on="k", time="t", window=window, lateness="20 seconds")
    query = (
        joined.writeStream.format("memory").queryName("exact")
        .option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    states = [progress["stateOperators"][0] for progress in query.recentProgress]
    assert sum(state["numRowsDroppedByWatermark"] for state in states) == 0
    assert numbers(spark.table("exact")) == expected(windows, *sides)
    # A second brings one row of each side in the mean, and at the end those of the lateness and of
    # the window are left: 32 seconds at the most. Without a watermark it would be all 800.
    assert 0 < states[-1]["numRowsTotal"] < 4 * 32


def test_a_watermark_of_ones_own_stays(spark):
    rate = spark.readStream.format("rate").load().toDF("t", "k")
    joined = exact_join(
        rate.withWatermark("t", "7 seconds"), rate, on="k", time="t", window="1s", lateness="3.5s"
    )
    delays = [field.metadata.get("spark.watermarkDelayMs") for field in joined.schema]
    assert delays == [None, 7000, 3500]


def test_mistakes_are_refused_at_once(spark):
    table = spark.sql("""
        select 1 as k, 'x' as text, 2 as t, 2.5D as real, map(1, 2) as m, array(map(1, 2)) as am,
        array(1) as a, timestamp_seconds(1) as ts, date'2024-01-01' as d,
        1 as twice, 2 as twice""")
    flow = spark.readStream.format("rate").load().select(
        F.col("value").alias("k"), F.col("timestamp").alias("ts"), F.col("value").alias("t"),
        F.current_date().alias("d"), F.localtimestamp().alias("local"),
    )  # fmt: skip
    usual = {"left": table, "right": table, "on": "k", "time": "t", "window": 1}
    for error, says, change in (
        (InputError, "no column 'kee'; its columns are 'k', 'text'", {"on": "kee"}),
        (InputError, "right DataFrame has no column 'b'", {"on": "k=b"}),
        (InputError, "2 columns called 'twice'", {"on": "twice"}),
        (InputError, "no column 'when'", {"time": "t=when"}),
        (InputError, "not expressions", {"on": table.k}),
        (InputError, "not expressions", {"on": [table.k]}),
        (InputError, "5 is not the name of a column", {"on": [5]}),
        (InputError, "'real' is of type double", {"time": "real"}),
        (InputError, "int and timestamp; cast one", {"time": "t=ts"}),
        (InputError, "date and timestamp; cast one", {"time": "d=ts"}),
        (InputError, "map<int,int>, which Spark cannot compare", {"on": "m"}),
        (InputError, "cannot compare", {"on": "am"}),
        (InputError, r"k \(int\) = a \(array<int>\); cast", {"on": "k=a"}),
        (InputError, r"k \(int\) = d \(date\)", {"on": "text=text,k=d"}),
        (InputError, "how='left'", {"how": "left"}),
        (WindowError, "500rows counts arrivals", {"window": "500rows"}),
        (WindowError, "plain numbers", {"window": "1 hour"}),
        (WindowError, "not a number of time units", {"lateness": "landmark:5"}),
        (InputError, "left DataFrame is a stream and the right one a table", {"left": flow}),
        (InputError, "'t' is of type bigint, but streams", {"left": flow, "right": flow}),
        (InputError, "streams need TIMESTAMP", {"left": flow, "right": flow, "time": "d"}),
        (InputError, "'local' is of type", {"left": flow, "right": flow, "time": "local"}),
    ):  # fmt: skip
        with pytest.raises(error, match=says):
            exact_join(**(usual | change))
