"""Keys that share a code are told apart before a pair is handed out, and none gets lost."""

import numpy as np
import pyarrow as pa
import pytest

import recollect as rc
from recollect import hashing
from recollect.join import feed as feeds
from tests.join.brute import WHAT, brute_force, joined, pairs_in, random_table
from tests.join.feeding import take_all

WORDS = pa.array([f"key {i}" for i in range(20)])
MODULI = [1, 3, 7]


@pytest.fixture(params=MODULI)
def colliding(request, monkeypatch):
    """Only so many different codes of keys; those of times stay as they are."""
    true_codes = hashing.code_of_columns

    def codes(columns: list[pa.Array]) -> np.ndarray:
        found = true_codes(columns)
        own_code = len(columns) == 1 and hashing.fits_in_64_bits(columns[0].type)
        return found if own_code else found % request.param

    monkeypatch.setattr(feeds, "code_of_columns", codes)
    return request.param


def stream(seed: int, values: pa.Array) -> pa.Table:
    rows = random_table(seed, 300, len(values), gap=1)
    return rows.set_column(2, "key", values.take(rows["key"].combine_chunks()))


@pytest.mark.parametrize(
    "values", [WORDS, pa.array([[i % 5, None, i % 4] for i in range(20)])], ids=["text", "nested"]
)
def test_results_are_complete_and_right(colliding, values):
    left, right = stream(1, values), stream(2, values)
    answer = rc.join(left, right, window=40, **WHAT)
    expected = brute_force(left, right, (40, 40))
    assert pairs_in(answer.table, left, right) == expected
    assert answer.stats.results == len(expected)


def test_several_columns(colliding):
    left, right = (stream(seed, pa.array(range(20))) for seed in (1, 2))
    left, right = (one.append_column("b", one["key"]) for one in (left, right))
    result = joined(left, right, on="key,b", window=40)
    assert pairs_in(result, left, right) == brute_force(left, right, (40, 40))


def test_inside_a_budget_there_are_no_wrong_pairs(colliding):
    left, right = stream(1, WORDS), stream(2, WORDS)
    answer = rc.join(left, right, window=40, budget=20, **(WHAT | {"policy": "clock"}))
    found = pairs_in(answer.table, left, right)
    assert set(found) < set(brute_force(left, right, (40, 40)))
    assert 10 < len(found) == answer.stats.results


def test_the_numbers_survive_saving(colliding):
    left, right = stream(1, WORDS), stream(2, WORDS)
    join = rc.Join(**WHAT, window=40)
    rows = take_all(join.feed("left", left)) + take_all(join.feed("right", right.slice(0, 200)))
    join = rc.Join.load(join.save())
    assert join.stats.results == len(rows)
    rows += take_all(join.feed("right", right.slice(200))) + take_all(join.finish())
    assert join.stats.results == len(rows) == len(brute_force(left, right, (40, 40)))
