"""Quality counts rows as a multiset, in all, by key and by slice of time."""

import json
from collections import Counter
from datetime import datetime

import numpy as np
import pytest
from pyspark.sql import functions as F  # noqa: N812

from recollect.errors import InputError, WindowError
from recollect.spark.exact_join import exact_join
from recollect.spark.quality import quality

pytestmark = pytest.mark.spark

SCHEMA = "k long, time long, x string, time long"


def rows_of_a_result(seed: int, rows: int = 300) -> list[tuple]:
    """Rows of which some are equal; two columns have the same name, and any may be NULL."""
    random = np.random.default_rng(seed)
    numbers = random.integers(-4, 5, (rows, 4)).tolist()
    return [(k, t, None if x == 0 else f"x{x}", u) for k, t, x, u in numbers]


def counted(exact: list[tuple], bounded: list[tuple], group) -> dict:
    """By group: exact, results and recall."""
    both = Counter(exact), Counter(bounded)
    found = both[0] & both[1]
    sums = [Counter() for _ in range(3)]
    for total, rows in zip(sums, (*both, found), strict=True):
        for row, count in rows.items():
            total[group(row)] += count
    groups = set(sums[0]) | set(sums[1])
    return {
        g: (sums[0][g], sums[1][g], sums[2][g] / sums[0][g] if sums[0][g] else None)
        for g in groups
    }  # fmt: skip


def test_by_the_definition(spark):
    exact = rows_of_a_result(1)
    bounded = exact[::3] + exact[:10] + [(99, 50, "foreign", 50), (0, 0, None, 99)]
    frames = [spark.createDataFrame(rows, SCHEMA) for rows in (bounded, exact)]
    found = quality(*frames, key="k", time="time", slice=3)
    total = counted(exact, bounded, lambda row: None)[None]
    assert (found.exact_results, found.results, found.recall) == total
    assert found.foreign == sum((Counter(bounded) - Counter(exact)).values()) >= 2

    by_key = found.by_key.collect()
    assert found.by_key.columns == ["k", "exact", "results", "recall"]
    assert {row[0]: tuple(row[1:]) for row in by_key} == counted(exact, bounded, lambda r: r[0])
    assert [row.k for row in by_key] == sorted({row[0] for row in (*exact, *bounded)})
    assert by_key[-1].recall is None

    def slice_of(row):
        return max(row[1], row[3]) // 3 * 3

    by_slice = found.by_slice.collect()
    assert found.by_slice.columns == ["slice_start", "exact", "results", "recall"]
    assert {row[0]: tuple(row[1:]) for row in by_slice} == counted(exact, bounded, slice_of)
    starts = [row.slice_start for row in by_slice]
    assert starts == sorted(starts)

    readable = json.loads(json.dumps(found.as_dict()))
    assert readable["recall"] == found.recall
    assert readable["by_key"][-1] == {"k": 99, "exact": 0, "results": 1, "recall": None}
    assert len(readable["by_slice"]) == len(by_slice)
    assert repr(found).startswith(f"Quality(recall={found.recall:.4f}, exact_results=300, results=")


def test_every_type_is_compared(spark):
    exact = spark.sql("""
        select * from values
        (1, map('a', 1, 'b', 2), array(map(1, struct(double('nan') as d))), null, 'x', x'01'),
        (1, map('a', 1, 'b', 2), array(map(1, struct(double('nan') as d))), 'x', null, x'01'),
        (2, map(), array(), 'x', 'y', x''),
        (3, null, null, '', null, null) as (k, m, am, s, t, b)""")
    other_order = F.map_from_arrays(F.array(F.lit("b"), F.lit("a")), F.array(F.lit(2), F.lit(1)))
    bounded = exact.withColumn("m", F.when(F.col("k") == 1, other_order).otherwise(F.col("m")))
    found = quality(bounded, exact)
    assert (found.recall, found.exact_results, found.foreign) == (1.0, 4, 0)
    # NULL has its place: neither moved to another column nor the same as something empty.
    changed = bounded.select(
        "k", "m", F.coalesce("am", F.array().cast(exact.schema["am"].dataType)).alias("am"),
        F.col("t").alias("s"), F.col("s").alias("t"), "b",
    )  # fmt: skip
    found = quality(changed.where("k != 2"), exact)
    assert (found.results, found.foreign) == (3, 1)
    assert found.by_key is found.by_slice is None
    assert found.as_dict() == {"recall": 0.5, "exact_results": 4, "results": 3, "foreign": 1}


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz", "date"])
def test_slices_have_the_type_of_the_time(spark, kind):
    texts = ["1969-12-31 12:00:00", "1970-01-01 00:00:00", "2024-03-10 02:30:59"]
    exact = spark.createDataFrame([(text,) for text in texts], "t string")
    exact = exact.select(F.col("t").cast(kind))
    found = quality(exact.limit(1), exact, time="t", slice="2 days").by_slice
    assert found.schema["slice_start"].dataType == exact.schema["t"].dataType
    starts = [datetime(1969, 12, 30), datetime(1970, 1, 1), datetime(2024, 3, 10)]
    expected = [start.date() if kind == "date" else start for start in starts]
    assert [(row.slice_start, row.recall) for row in found.collect()] == [
        (expected[0], 1.0), (expected[1], 0.0), (expected[2], 0.0)
    ]  # fmt: skip


def test_of_a_join(spark):
    left = spark.range(100).selectExpr("id % 7 as a", "id as n", "id as time")
    right = spark.range(100).selectExpr("id % 7 as b", "id as m", "id as time")
    exact = exact_join(left, right, on="a=b", time="time", window=20)
    bounded = exact.where("n % 2 = 0")
    found = quality(bounded, exact, key="a=b", time="time", slice=10)
    assert found.results == bounded.count() == round(found.recall * found.exact_results)
    assert found.foreign == 0
    assert [row.a for row in found.by_key.collect()] == list(range(7))
    assert [row.slice_start for row in found.by_slice.collect()] == list(range(0, 100, 10))


def test_nothing_to_find(spark):
    none = spark.createDataFrame([], SCHEMA)
    found = quality(none, none, key="k")
    assert (found.recall, found.exact_results, found.results, found.foreign) == (None, 0, 0, 0)
    assert found.by_key.collect() == []
    assert repr(found) == "Quality(recall=None, exact_results=0, results=0, foreign=0)"


def test_mistakes_are_refused_at_once(spark):
    table = spark.sql("""
        select 1 as k, 2 as t, timestamp_seconds(1) as ts, map(1, 2) as m,
        3 as twice, 4 as twice""")
    flow = spark.readStream.format("rate").load()
    odd = spark.sql("select parse_json('1') as v")
    for error, says, frames, words in (
        (InputError, "different columns: k int, .* in the bounded, k bigint",
         (table, table.withColumn("k", F.lit(1).cast("long"))), {}),
        (InputError, "different columns", (table, table.drop("k")), {}),
        (InputError, "bounded result is a stream", (flow, flow), {}),
        (InputError, "'v' is of type variant", (odd, odd), {}),
        (InputError, "result has no column 'kee'; its columns are 'k'", (table,), {"key": "kee"}),
        (InputError, "2 columns called 'twice'", (table,), {"key": "twice"}),
        (InputError, "cannot compare", (table,), {"key": "m"}),
        (InputError, "needs both", (table,), {"time": "t"}),
        (InputError, "needs both", (table,), {"slice": "t"}),
        (InputError, "no column 'u'", (table,), {"time": "t=u", "slice": 1}),
        (InputError, "int and timestamp", (table,), {"time": "t=ts", "slice": 1}),
        (WindowError, "slice 0 is not a span", (table,), {"time": "t", "slice": 0}),
        (WindowError, "slice 5rows is not", (table,), {"time": "t", "slice": "5rows"}),
        (WindowError, "plain numbers", (table,), {"time": "t", "slice": "5s"}),
    ):  # fmt: skip
        bounded, exact = frames if len(frames) == 2 else frames * 2
        with pytest.raises(error, match=says):
            quality(bounded, exact, **words)
