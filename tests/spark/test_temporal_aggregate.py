"""On Spark the answer is the local one, wherever time is cut."""

from datetime import datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest

import recollect.intervals as intervals
from recollect.errors import InputError
from recollect.spark.temporal_aggregate import temporal_aggregate

pytestmark = pytest.mark.spark


def relation(tuples: int, seed: int) -> list[tuple]:
    """Long and short intervals with gaps between them, some without an end or a value."""
    random = np.random.default_rng(seed)
    start = random.integers(-50, 50, tuples) * random.choice([1, 1, 5], tuples)
    length = random.choice([0, 1, 2, 3, 40], tuples)
    value = random.normal(0, 10, tuples).round(3)
    return [
        (s, None if v > 20 else s + n, None if v < -15 else v, "abc"[abs(s) % 3])
        for s, n, v in zip(start.tolist(), length.tolist(), value.tolist(), strict=True)
    ]


def same_as_local(df, local, sort, **arguments):
    found = temporal_aggregate(df, "s", "e", "v", **arguments).toArrow()
    arguments["agg"] = arguments.pop("aggs", "count,sum,avg,min,max")
    arguments.pop("ranges", None)
    expected = intervals.aggregate(local, "s", "e", "v", **arguments).table
    assert found.schema.names == expected.schema.names
    assert found.sort_by(sort).to_pylist() == expected.sort_by(sort).to_pylist()
    return expected


def test_floats_and_groups(spark):
    df = spark.createDataFrame(relation(60, 1), "s long, e long, v double, g string")
    local = df.toArrow()
    by_start = [("start", "ascending")]
    assert same_as_local(df, local, by_start, ranges=5).num_rows > 40
    by_group = [("g", "ascending"), ("start", "ascending")]
    same_as_local(df, local, by_group, group_by="g", where="g != 'b'", from_=-40, to=60, ranges=3)


def test_decimals_time_stamps_and_spans(spark):
    moments = [datetime(2024, 3, 30) + timedelta(hours=hours) for hours, *_ in relation(40, 2)]
    rows = [(m, m + timedelta(hours=5), Decimal(n) / 4) for n, m in enumerate(moments)]
    df = spark.createDataFrame(rows, "s timestamp, e timestamp, v decimal(9, 2)")
    same_as_local(df, df.toArrow(), [("start", "ascending")], span="day", ranges=3)


def test_a_session_in_another_time_zone(spark):
    """Time stamps are instants; a day is one of the session's zone."""
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        df = spark.sql("""
            select timestamp'2026-01-01 10:00:00' s, timestamp'2026-01-02 12:00:00' e,
            timestamp'2025-01-01 00:00:00' g""")
        for words in ({}, {"span": "day"}, {"group_by": "g"}):
            answer = temporal_aggregate(df, "s", "e", aggs="count", ranges=2, **words)
            ends = ["cast(min(start) as string)", "cast(max(end) as string)"]
            [(first, last)] = answer.selectExpr(*ends).collect()
            whole = "span" in words
            assert first == ("2026-01-01 00:00:00" if whole else "2026-01-01 10:00:00")
            assert last == ("2026-01-03 00:00:00" if whole else "2026-01-02 12:00:00")
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_nothing_and_mistakes(spark):
    empty = spark.createDataFrame([], "s long, e long, v long")
    assert temporal_aggregate(empty, "s", "e", "v", ranges=3).count() == 0
    with pytest.raises(InputError, match="no column 'x'"):
        temporal_aggregate(empty, "s", "x", "v")
    with pytest.raises(InputError, match="ranges"):
        temporal_aggregate(empty, "s", "e", "v", ranges=0)
