"""A profile brings everything together in one pass, and says what is wrong with its input."""

import json
import tracemalloc
from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest

from recollect.errors import InputError, TimeOrderError
from recollect.locality import Distances, profile
from recollect.streams import LocalityStream
from tests.naive import locality as naive

CONTRACT = {
    *("tuples", "distinct", "zipf_slope", "entropy_iid", "entropy", "b", "h"),
    *("iad_quantiles", "iad_quantiles_permuted", "stack_quantiles"),
}


def test_every_part_is_that_of_its_definition():
    keys = LocalityStream(3_000, keys=200, repeat=0.5, depth=5, seed=3).table()["key"].to_pylist()
    found = profile(pa.table({"key": keys}), "key", h=5, seed=9)
    for order, tuples in ((found.stream, keys), (found.permuted, naive.permuted(keys, 9))):
        assert order.interarrival == Distances.of(*naive.interarrival(tuples))
        assert order.stack == Distances.of(*naive.stack_distance(tuples))
        model = order.fitted.model
        entropy = naive.conditional_entropy(tuples, model.weights, model.b)
        assert order.fitted.entropy == pytest.approx(entropy)
        assert order.fitted.b_by_h[5] == pytest.approx(model.b)
    assert found.popularity.distinct == len(set(keys))
    assert found.popularity.tuples == 3_000
    assert found.stream.fitted.model.b == pytest.approx(0.5, abs=0.06)


def test_to_dict_is_the_contract():
    found = profile(LocalityStream(2_000, keys=100, seed=1), "key", time="time", h=7).to_dict()
    assert set(found) >= CONTRACT
    assert json.loads(json.dumps(found)) == found
    assert (found["tuples"], found["h"], len(found["weights"])) == (2_000, 7, 7)
    assert sum(found["weights"]) + found["b"] == pytest.approx(1)
    assert list(found["iad_quantiles"]) == ["0.1", "0.25", "0.5", "0.75", "0.9", "0.99"]


def test_keys_of_several_columns_and_of_any_type_without_those_that_are_missing():
    texts, numbers = ["a", "a", None, "b", "a"], [1.0, 2.0, 1.0, float("nan"), 1.0]
    found = profile(pa.table({"t": texts, "n": numbers}), ["t", "n"])
    assert (found.popularity.counts.tolist(), found.null_keys) == ([2, 1], 2)
    assert found.stream.interarrival == Distances.of([2], 2)


@pytest.mark.parametrize("keys", [["x"], ["x"] * 5, ["x", "y", "z"]])
def test_streams_of_next_to_nothing(keys):
    found = profile(pa.table({"key": keys}), "key", h=10).to_dict()
    assert (found["tuples"], found["distinct"]) == (len(keys), len(set(keys)))
    assert found["entropy_iid"] == pytest.approx(np.log2(len(set(keys))))
    assert 0 <= found["b"] <= 1
    json.dumps(found, allow_nan=False)


def test_progress_is_told():
    told: dict[str, int] = {}

    def note(stage: str, tuples: int) -> None:
        told[stage] = told.get(stage, 0) + tuples

    profile(pa.table({"key": [1, None, 2]}), "key", progress=note)
    assert told == {"reading": 3, "shuffled": 2}


def test_mistakes_are_named():
    table = pa.table({"key": [1, 2, 1], "ts": [3, 5, 4], "text": ["a", "b", "c"], "no": [None] * 3})
    with pytest.raises(InputError, match="no column 'kye'; it has 'key', 'ts', 'text', 'no'"):
        profile(table, "kye")
    with pytest.raises(TimeOrderError, match="row 3 has ts 4, but row 2 has 5; sort it by 'ts'"):
        profile(table, "key", time="ts")
    with pytest.raises(InputError, match="'text' is of type string; it must be a time stamp"):
        profile(table, "key", time="text")
    with pytest.raises(InputError, match="none of 3 tuples has a key"):
        profile(table, "no")
    with pytest.raises(InputError, match="h must be a whole number from 1 to 1000, not 0"):
        profile(table, "key", h=0)
    with pytest.raises(InputError, match="at least one key column"):
        profile(table, [])
    stamps = pa.array([datetime(2026, 1, 2), None])
    with pytest.raises(InputError, match="row 2 has no ts"):
        profile(pa.table({"key": [1, 2], "ts": stamps}), "key", time="ts")


@pytest.mark.compiled
def test_the_order_of_times_is_watched_across_batches():
    times = np.arange(70_000)
    times[65_536] = 65_000
    with pytest.raises(TimeOrderError, match="row 65537 has ts 65000, but row 65536 has 65535"):
        profile(pa.table({"key": times % 7, "ts": times}), "key", time="ts", h=1)


@pytest.mark.compiled
def test_memory_is_what_the_docstring_says():
    stream = LocalityStream(400_000, keys=20_000, seed=1)
    profile(LocalityStream(100), "key", h=10)  # compiled
    tracemalloc.start()
    profile(stream, "key", h=10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 * 400_000 + 100 * 20_000 + 10_000_000
