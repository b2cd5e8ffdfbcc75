"""Streams and tables enriched from a database through the caches of Spark's Python workers."""

import sqlite3

import numpy as np
import pyarrow as pa
import pytest

from recollect.errors import InputError, PolicyError
from recollect.spark.lookup_join import (
    FIELDS,
    MOST_CACHES,
    OBSERVATION,
    _caches,
    cache_of,
    lookup_join,
)
from tests.spark.feeds import count, cut, run, stream, write

pytestmark = pytest.mark.spark

KEYS = np.random.default_rng(6).zipf(1.4, 600) % 60
EVENTS = pa.table({"good": pa.array([*KEYS.tolist()[:-1], None]), "n": np.arange(600)})


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE goods(id INTEGER PRIMARY KEY, name TEXT, price REAL)")
        rows = [(i, f"good {i}", i / 4) for i in range(40)]
        connection.executemany("INSERT INTO goods VALUES (?, ?, ?)", rows)
    connection.close()
    return f"sqlite:///{path}"


WORDS = {"on": "good=id", "table": "goods", "cache": 20, "policy": "lru"}


def expected(how="left"):
    rows = zip(EVENTS["good"].to_pylist(), EVENTS["n"].to_pylist(), strict=True)
    found = [
        (g, n, f"good {g}", g / 4) if g is not None and g < 40 else (g, n, None, None)
        for g, n in rows
    ]
    return {row: 1 for row in found if how == "left" or row[2] is not None}


def test_a_stream(spark, tmp_path, url):
    """The caches outlive the micro-batches: after a while most rows hit."""
    events = stream(spark, write(tmp_path / "in", cut(EVENTS, 3)))
    joined = lookup_join(events, url, **WORDS, name="shop")
    assert joined.columns == ["good", "n", "name", "price"]
    done = run(joined, tmp_path)
    assert done.rows == expected()
    observed = [batch["observedMetrics"][OBSERVATION + "shop"].asDict() for batch in done.progress]
    sums = {name: sum(numbers[name] for numbers in observed) for name in FIELDS}
    assert sums["rows_in"] == sums["hits"] + sums["misses"] + sums["null_keys"] == 600
    assert sums["not_found"] == np.count_nonzero(KEYS[:-1] >= 40)
    assert sums["hits"] > 300
    assert 1 <= sums["queries"] <= 6
    assert sums["misses"] > sums["evicted"] > 0


def test_a_table(spark, tmp_path, url):
    events = spark.read.parquet(str(write(tmp_path / "in", cut(EVENTS, 1))))
    assert count(lookup_join(events, url, how="inner", ttl="1h", **WORDS)) == expected("inner")


def test_mistakes_show_before_a_query_runs(spark, url):
    events = spark.createDataFrame(EVENTS.slice(0, 2))
    with pytest.raises(InputError, match="no such table: bads"):
        lookup_join(events, url, **(WORDS | {"table": "bads"}))
    with pytest.raises(InputError, match="the stream has no single column 'bad'"):
        lookup_join(events, url, **(WORDS | {"on": "bad=id"}))
    with pytest.raises(InputError, match="cannot be a Table"):
        lookup_join(events, EVENTS, **WORDS)
    with pytest.raises(PolicyError, match="lfd must know the whole stream"):
        lookup_join(events, url, **(WORDS | {"policy": "lfd"}))


def test_a_worker_keeps_few_caches(url):
    """One per lookup; those of queries long gone are closed."""
    words = WORDS | {"relation": url}
    first = cache_of("first", words)
    assert cache_of("first", words) is first
    try:
        for number in range(MOST_CACHES):
            cache_of(f"other {number}", words)
        assert len(_caches) == MOST_CACHES
        assert cache_of("first", words) is not first
    finally:
        while _caches:
            _caches.popitem()[1].close()
