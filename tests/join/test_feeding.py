"""It makes no difference how the streams are cut into batches and when results are fetched."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect as rc
from recollect.errors import BudgetError, InputError
from tests.join.brute import WHAT, joined, random_table
from tests.join.feeding import feed, numbers, take_all

NAMES = pa.array([f"payload {i}" for i in range(150)])
LEFT, RIGHT = (random_table(seed, 150, 8, gap=1, name=NAMES) for seed in (1, 2))
SHUFFLED = np.argsort(np.asarray(LEFT["time"]) + np.random.default_rng(3).uniform(0, 9, 150))
LATE = LEFT.take(pa.array(SHUFFLED))
SETTINGS = {
    "unlimited": {"window": 20},
    "tuples": {"window": 20, "budget": 12, "policy": "clock"},
    "split": {"window": "15rows", "budget": 12, "policy": "prob", "split": "30:70"},
    "bytes": {"window": 30, "budget": "4kB"},
    "statistics in bytes": {"window": 60, "budget": "99kB", "policy": "prob:counts=exact"},
    "where": {"window": 20, "budget": 12, "policy": "clock", "where": "left.n < right.n"},
    "lateness": {"window": 20, "budget": 15, "policy": "clock", "lateness": 4},
}
CUTS = st.lists(st.tuples(st.sampled_from(["left", "right"]), st.integers(0, 40)), max_size=25)


def after(stream: pa.Table, time: int) -> int:
    return sum(other > time for other in stream["time"].to_pylist())


@pytest.mark.parametrize("how", SETTINGS)
@given(CUTS)
@settings(max_examples=15, deadline=None)
def test_any_cuts_give_the_same_as_one_piece(how, cuts):
    arguments = WHAT | SETTINGS[how]
    left = LATE if "lateness" in arguments else LEFT
    whole, pieces = rc.Join(**arguments), rc.Join(**arguments)
    expected = feed(whole, left, RIGHT, [])
    assert feed(pieces, left, RIGHT, cuts) == expected
    assert numbers(pieces) == numbers(whole)
    assert expected == joined(left, RIGHT, **SETTINGS[how]).to_pylist()
    assert len(expected) == whole.stats.results > 50
    assert whole.stats.evicted > 10 or how == "unlimited"


@pytest.mark.compiled
@pytest.mark.parametrize("rows", [10, 700, 5000])
def test_statistics_that_grow_do_not_depend_on_the_cuts(rows):
    arguments = WHAT | {"window": 900, "budget": "400kB", "policy": "prob:counts=exact"}
    left, right = (random_table(seed, 5000, 2000) for seed in (1, 2))
    cuts = [(side, rows) for _ in range(5000 // rows) for side in ("left", "right")]
    whole, pieces = rc.Join(**arguments), rc.Join(**arguments)
    feed(whole, left, right, [])
    feed(pieces, left, right, cuts)
    assert numbers(pieces) == numbers(whole)


def test_results_that_are_not_fetched_come_later():
    join = rc.Join(**WHAT, window=20)
    expected = feed(rc.Join(**WHAT, window=20), LEFT, RIGHT, [])
    join.feed("left", LEFT)  # not even started
    begun = join.feed("right", RIGHT.slice(0, 100))
    first = next(begun).to_pylist()
    second = take_all(join.feed("right", RIGHT.slice(100)))
    assert take_all(begun) == []
    assert first + second + take_all(join.finish()) == expected


def test_a_stream_waits_for_the_other():
    join = rc.Join(**WHAT, window=20)
    assert take_all(join.feed("left", LEFT)) == []
    assert (join.waiting, join.schema, join.stats.tuples_in) == (150, None, 0)
    join.expect("right", RIGHT.schema)
    assert join.schema.names[-1] == "right_name"
    assert (join.waiting, join.stats.tuples_in) == (150, 150)
    take_all(join.feed("right", RIGHT.slice(0, 10)))
    reached = RIGHT["time"][9].as_py()
    assert join.waiting == after(LEFT, reached)
    take_all(join.finish("right"))
    assert join.waiting == 0


def test_at_equal_times_the_left_stream_goes_first_even_if_it_comes_last():
    join = rc.Join(**WHAT, window=20, budget=1)
    one = random_table(1, 1, 1)
    assert take_all(join.feed("right", one)) == []
    assert take_all(join.feed("left", one)) == []  # another left one at this time may follow
    assert take_all(join.feed("left", one)) == []
    # Two left ones, of which the second has evicted the first, then the right one.
    assert len(take_all(join.finish())) == 1
    assert join.stats.evicted == 2


def test_one_side_may_end_first():
    join = rc.Join(**WHAT, window=20)
    results = take_all(join.feed("left", LEFT)) + take_all(join.finish("left"))
    for start in range(0, 150, 7):
        results += take_all(join.feed("right", RIGHT.slice(start, 7)))
        assert join.waiting == after(LEFT, RIGHT["time"][min(start + 6, 149)].as_py())
    assert results + take_all(join.finish()) == feed(rc.Join(**WHAT, window=20), LEFT, RIGHT, [])
    assert take_all(join.finish()) == []


def test_mistakes_are_named():
    join = rc.Join(**WHAT, window=20)
    with pytest.raises(InputError, match="'top' is not a side"):
        join.feed("top", LEFT)
    take_all(join.feed("left", LEFT))
    take_all(join.finish("left"))
    with pytest.raises(InputError, match="left stream has been finished"):
        join.feed("left", LEFT)
    take_all(join.feed("right", RIGHT))
    with pytest.raises(InputError, match="right stream does not have the columns of the first"):
        join.feed("right", RIGHT.drop_columns("name"))
    with pytest.raises(BudgetError, match=r"10% is a share .* only for whole inputs"):
        rc.Join(**WHAT, window=20, budget="10%")
    with pytest.raises(BudgetError, match="arrival rates only for whole inputs"):
        rc.Join(**WHAT, window=20, budget=10, split=True)


def test_columns_may_come_in_another_order_and_a_narrower_type():
    other = RIGHT.select(["key", "name", "time", "n"])
    other = other.set_column(0, "key", other["key"].cast(pa.int8()))
    expected = feed(rc.Join(**WHAT, window=20), LEFT, RIGHT, [])
    join = rc.Join(**WHAT, window=20)
    join.expect("right", RIGHT.schema)
    assert feed(join, LEFT, other, [("left", 70), ("right", 60)]) == expected
