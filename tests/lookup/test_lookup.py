"""What comes out of a lookup: the right rows, the same however the stream is cut, and counters."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from recollect.errors import InputError, PolicyError, RecollectError
from recollect.lookup import Lookup, arrow_relation, lookup, online
from tests.policies.forget_newest import ForgetTheNewest

KEYS = np.random.default_rng(1).zipf(1.2, 6_000) % 3_000
STREAM = pa.table({"id": KEYS, "n": np.arange(6_000)})
GOODS = pa.table({"id": range(0, 3_000, 2), "name": [f"good {i}" for i in range(0, 3_000, 2)]})
WORDS = {"on": "id", "cache": 200, "policy": "lru"}


def name_of(key):
    return f"good {key}" if key % 2 == 0 else None


def counters(stats):
    """What does not depend on time, nor on how the stream was cut."""
    values = dataclasses.asdict(stats)
    return {name: value for name, value in values.items() if name not in ("seconds", "queries")}


@pytest.mark.parametrize("policy", ["lru", "fifo", "lfd", "sieve"])
@pytest.mark.parametrize("rows", [1_000, 97])
def test_the_right_rows_however_the_stream_is_cut(policy, rows):
    answer = lookup(STREAM, GOODS, batch_rows=rows, **(WORDS | {"policy": policy}))
    assert answer.table["n"].to_pylist() == list(range(6_000))
    assert answer.table["name"].to_pylist() == [name_of(key) for key in KEYS.tolist()]
    whole = lookup(STREAM, GOODS, count_only=True, **(WORDS | {"policy": policy}))
    assert counters(answer.stats) == counters(whole.stats)
    assert whole.table is None
    assert whole.stats.queries == 1 < answer.stats.queries <= -(-6_000 // rows)


def test_counters():
    stats = lookup(STREAM, GOODS, **WORDS).stats
    assert stats.hits + stats.misses == stats.tuples_in == stats.results == 6_000
    assert stats.hit_rate == stats.hits / 6_000
    assert stats.not_found == np.count_nonzero(KEYS % 2)
    assert 0 < stats.negative_hits < stats.not_found
    assert stats.evicted == stats.misses - 200
    assert stats.cached == 200
    assert stats.as_dict()["hit_rate"] == stats.hit_rate


def test_an_inner_join_leaves_out_what_is_not_there():
    stream = pa.table({"id": pa.array([4, None, 3, 4]), "n": range(4)})
    left = lookup(stream, GOODS, **WORDS)
    assert left.table["name"].to_pylist() == ["good 4", None, None, "good 4"]
    inner = lookup(stream, GOODS, how="inner", **WORDS)
    assert inner.table.to_pydict() == {"id": [4, 4], "n": [0, 3], "name": ["good 4"] * 2}
    assert (left.stats.results, inner.stats.results) == (4, 2)
    assert inner.stats.null_keys == 1
    assert inner.stats.hits + inner.stats.misses == 3


def test_rows_are_kept_no_longer_than_they_are_cached():
    stream = pa.table({"id": np.arange(60_000) % 50_000})
    relation = pa.table({"id": np.arange(50_000), "text": ["x" * 100] * 50_000})
    run = Lookup(relation, on="id", cache=100, policy="fifo")
    for batch in stream.to_batches(max_chunksize=5_000):
        run.feed(batch)
        stored = sum(part.num_rows for _, part in run._payload._store.segments())
        assert stored <= 20_000


def test_many_small_batches():
    """Rows that come a few at a time are put together, and stay the right ones."""
    run = Lookup(GOODS, on="id", cache=900, policy="fifo")
    found = []
    for batch in STREAM.to_batches(max_chunksize=9):
        found += run.feed(batch)["name"].to_pylist()
        assert sum(1 for _ in run._payload._store.segments()) <= 40
    assert found == [name_of(key) for key in KEYS.tolist()]
    assert run.stats.evicted > 100


@pytest.mark.parametrize("moduli", [1, 7, 10**6])
@pytest.mark.parametrize("count_only", [False, True])
def test_keys_that_share_a_code(monkeypatch, moduli, count_only):
    """The right rows, and the counters of what really happened."""
    true_codes = online.code_of_columns
    for module in (online, arrow_relation):
        monkeypatch.setattr(module, "code_of_columns", lambda keys: true_codes(keys) % moduli)
    words = pa.array([str(key) for key in KEYS[:900]])
    relation = pa.table({"id": [str(i) for i in range(0, 3_000, 2)], "good": range(0, 3_000, 2)})
    answer = lookup(
        pa.table({"id": words}), relation, batch_rows=100, count_only=count_only, **WORDS
    )
    found = [key if key % 2 == 0 else None for key in KEYS[:900].tolist()]
    if not count_only:
        assert answer.table["good"].to_pylist() == found
    assert answer.stats.hits + answer.stats.misses == 900
    assert answer.stats.not_found == found.count(None)
    if moduli < WORDS["cache"]:  # nothing is evicted: the first key with a code stays
        codes = (true_codes([words]) % moduli).tolist()
        kept = dict(zip(codes[::-1], words.to_pylist()[::-1], strict=True))
        first = {code: codes.index(code) for code in kept}
        hits = [
            key
            for place, (key, code) in enumerate(zip(words.to_pylist(), codes, strict=True))
            if kept[code] == key and place > first[code]
        ]
        assert answer.stats.hits == len(hits)
        assert answer.stats.negative_hits == sum(int(key) % 2 for key in hits)


def test_several_keys_and_columns_of_the_same_name():
    relation = pa.table({"a": [1, 1, 2], "b": ["x", "y", "x"], "n": [10, 20, 30]})
    stream = pa.table({"a": [1, 2, 1], "c": ["y", "x", "z"], "n": [1, 2, 3]})
    table = lookup(stream, relation, on="a,c=b", cache=9).table
    assert table.schema.names == ["a", "c", "n", "relation_n"]
    assert table["relation_n"].to_pylist() == [20, 30, None]


def test_rows_are_fetched_anew_after_a_while(monkeypatch):
    now = 0
    monkeypatch.setattr(online.time, "monotonic_ns", lambda: now)
    run = Lookup(GOODS, on="id", cache=9, policy="lru", ttl="2s")
    for second in (0, 1, 2, 3):
        now = second * 10**9
        run.feed(pa.record_batch({"id": [2, 2]}))
    assert (run.stats.hits, run.stats.misses, run.stats.expired) == (6, 2, 1)


def test_a_ttl_of_ages():
    assert lookup(STREAM, GOODS, **WORDS, ttl=10**20).stats.expired == 0


def test_a_policy_of_the_users_own():
    mine = ForgetTheNewest(patience=5)
    stats = lookup(STREAM, GOODS, **(WORDS | {"policy": mine}), count_only=True).stats
    spec = "tests.policies.forget_newest:ForgetTheNewest:patience=5"
    named = lookup(STREAM, GOODS, **(WORDS | {"policy": spec}), count_only=True).stats
    assert stats.hits == named.hits != lookup(STREAM, GOODS, **WORDS).stats.hits
    assert stats.evicted > 0


def test_empty_streams():
    answer = lookup(STREAM.slice(0, 0), GOODS, **WORDS)
    assert answer.table.schema.names == ["id", "n", "name"]
    assert (answer.table.num_rows, answer.stats.hit_rate, answer.stats.queries) == (0, 0.0, 0)
    nulls = lookup(pa.table({"id": pa.array([None, None], pa.int64())}), GOODS, **WORDS)
    assert (nulls.stats.results, nulls.stats.queries) == (2, 0)
    untyped = lookup(pa.table({"id": pa.nulls(2)}), GOODS, **WORDS)
    assert (untyped.stats.results, untyped.stats.null_keys) == (2, 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"cache": 0}, "cache must be a whole number from 1 to [0-9]+, not 0"),
        ({"how": "outer"}, "how='outer' is neither 'left' nor 'inner'"),
        ({"ttl": "soon"}, "ttl='soon' is not a time above 0"),
        ({"ttl": -1}, "ttl=-1 is not a time above 0"),
        ({"ttl": float("inf")}, "ttl=inf is not a time above 0"),
        ({"retries": -1}, "retries must be a whole number of at least 0"),
        ({"on": "key=id"}, "the stream has no single column 'key'; it has 'id', 'n'"),
        ({"on": "key=id", "count_only": True}, "no single column 'key'; it has 'id', 'n'"),
        ({"on": "key=id", "policy": "lfd"}, "no single column 'key'; it has 'id', 'n'"),
        ({"on": "id=no"}, "Table has no column 'no'"),
        ({"policy": "lruu"}, "unknown policy 'lruu': did you mean lru"),
        ({"policy": "gdj"}, "unknown policy 'gdj': known are clock"),
        ({"policy": "s3-fifo:small=2"}, "small=2.0 is not between 0 and 1"),
        ({"policy": "heeb:forecast=moon"}, "forecast=moon is not one of auto, locality"),
        ({"policy": "heeb:warmup=1"}, "warmup=1 is not from 10"),
        ({"policy": "heeb:unit=0"}, "unit=0.0 is not above 0"),
        ({"policy": "heeb:alpha=-1"}, "alpha=-1.0 is not from 0"),
        ({"policy": "lba:h=0"}, "h=0 is not from 1"),
    ],
)
def test_mistakes(words, message):
    with pytest.raises(RecollectError, match=message):
        lookup(STREAM, GOODS, **(WORDS | words))


def test_policies_that_need_what_is_not_there():
    reader = STREAM.to_reader()
    with pytest.raises(InputError, match="lfd must know the whole stream beforehand"):
        lookup(reader, GOODS, **(WORDS | {"policy": "lfd"}))
    with pytest.raises(PolicyError, match="lfd must know all references beforehand"):
        Lookup(GOODS, on="id", cache=9, policy="lfd").feed(pa.record_batch({"id": [1]}))
    texts = pa.table({"id": ["a"]})
    with pytest.raises(PolicyError, match="needs one key column of numbers"):
        lookup(texts, pa.table({"id": ["a"]}), on="id", cache=9, policy="heeb:forecast=ar1")


def test_batches_must_be_alike():
    run = Lookup(GOODS, on="id", cache=9, policy="lru")
    run.feed(pa.record_batch({"id": [1]}))
    with pytest.raises(InputError, match="a batch came with columns"):
        run.feed(pa.record_batch({"id": [1], "n": [2]}))
    with pytest.raises(InputError, match="which has no single value"):
        lookup(pa.table({"id": [[1]]}), GOODS, **WORDS)
