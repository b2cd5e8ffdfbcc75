"""Frequent values on Spark keep the promises of Lossy Counting, whatever the partitions."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from recollect.errors import InputError
from recollect.spark.frequent import frequent
from recollect.streams import LocalityStream

pytestmark = pytest.mark.spark


def test_promises_hold_for_the_sum(spark):
    """At least two partitions that differ: a key is frequent in one that is not in the other."""
    codes = LocalityStream(12_000, keys=3000, exponent=0.9, repeat=0.5).table()["key"].to_numpy()
    shift = np.repeat([0, 4], [4000, 8000])
    names = [f"é{code + step}" for code, step in zip(codes, shift, strict=True)]
    names[5] = names[7000] = None
    first, second = (
        spark.createDataFrame(pa.table({"count": part})) for part in (names[:4000], names[4000:])
    )
    df = first.union(second)
    true = Counter(names)
    del true[None]
    rows = sum(true.values())
    support, epsilon = 0.01, 0.004
    found = frequent(df, "count", support, epsilon)
    assert found.columns == ["count", "count", "max_error"]
    lines = [tuple(row) for row in found.collect()]
    assert {name for name, n in true.items() if n >= support * rows} <= {line[0] for line in lines}
    for name, count, max_error in lines:
        assert count <= true[name] <= count + max_error
        assert max_error <= epsilon * rows
        assert true[name] >= (support - epsilon) * rows
    assert lines == sorted(lines, key=lambda line: (-line[1], line[0]))
    assert len(lines) > 5
    assert any(line[2] for line in lines)


def test_numbers_and_nothing(spark):
    df = spark.sql("select id % 3 as k, cast(null as double) as nothing from range(0, 99, 1, 2)")
    assert [tuple(row) for row in frequent(df, "k", 0.3).collect()] == [
        (0, 33, 0), (1, 33, 0), (2, 33, 0)
    ]  # fmt: skip
    assert frequent(df, "nothing", 0.3).collect() == []


def test_bad_words(spark):
    df = spark.sql("select 1 as k, map(1, 2) as m, 'a' collate UTF8_LCASE as t")
    stream = spark.readStream.format("rate").load()
    for says, words in (
        ("no column 'x'", (df, "x", 0.1)),
        ("type map", (df, "m", 0.1)),
        ("collation UTF8_LCASE", (df, "t", 0.1)),
        ("epsilon 0.1 is not less than support 0.1", (df, "k", 0.1, 0.1)),
        ("epsilon must be a number from 1e-12 to 1, not 0", (df, "k", 0.1, 0)),
        ("support must be a number from 1e-12 to 1, not 3", (df, "k", 3)),
        ("is a stream", (stream, "value", 0.1)),
    ):
        with pytest.raises(InputError, match=says):
            frequent(*words)
