"""A join that is saved and loaded goes on as if nothing had happened, wherever it was."""

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest

import recollect as rc
from recollect.errors import StateError
from recollect.forecast import DiscreteLaw, Trend
from recollect.policies.heeb import Heeb
from tests.join.brute import WHAT, random_table
from tests.join.feeding import numbers, take_all

WORDS = pa.array([["a", None, f"word {i}"][: i % 4] for i in range(60)])
LEFT, RIGHT = (random_table(seed, 60, 5, gap=1, words=WORDS) for seed in (1, 2))
LATE = LEFT.take(pa.array([i ^ 1 for i in range(60)]))
SETTINGS = {
    "payload": {"window": 20},
    "where": {"window": 20, "budget": 10, "policy": "clock", "where": "left.n < right.n"},
    "lateness": {"window": 9, "budget": 9, "policy": "clock", "lateness": 3},
    "bytes": {"window": 30, "budget": "4kB", "policy": "clock"},
    "statistics": {"window": 30, "budget": "99kB", "policy": "prob:counts=exact"},
    "split": {"window": ("9rows", "landmark:8"), "budget": 9, "policy": "prob", "split": (1, 2)},
    "count": {"window": 20, "budget": 10, "policy": "clock", "count_only": True},
}


def steps(left: pa.Table) -> list:
    """Uneven feeding: now one stream is ahead, now the other."""
    calls = []
    for start in range(0, 60, 10):
        pieces = [(start, 3), (start + 3, 7)]
        calls += [("left", left.slice(*pieces[0])), ("right", RIGHT.slice(start, 10))]
        calls += [("left", left.slice(*pieces[1]))]
    return [*calls, ("finish", "left"), ("finish", "right")]


def do(join: rc.Join, step: tuple) -> list[dict]:
    name, argument = step
    return take_all(join.finish(argument) if name == "finish" else join.feed(name, argument))


@pytest.mark.parametrize("how", SETTINGS)
def test_at_every_step(how):
    arguments = WHAT | SETTINGS[how]
    calls = steps(LATE if "lateness" in arguments else LEFT)
    without = rc.Join(**arguments)
    expected = [do(without, step) for step in calls]
    join = rc.Join(**arguments)
    for step, results in zip(calls, expected, strict=True):
        join = rc.Join.load(join.save())
        assert do(join, step) == results
    assert numbers(join) == numbers(without)
    assert join.stats.results > 20


def test_in_the_middle_of_the_results():
    many = random_table(1, 3_000, 4)
    arguments = WHAT | {"window": 60}
    whole = rc.Join(**arguments)
    expected = take_all(whole.feed("left", many)) + take_all(whole.feed("right", many))
    expected += take_all(whole.finish())
    join = rc.Join(**arguments)
    join.feed("left", many)
    begun = join.feed("right", many)
    results = [*next(begun).to_pylist(), *next(begun).to_pylist()]
    assert 10_000 < len(results) < len(expected)
    join = rc.Join.load(join.save())
    assert results + take_all(join.finish()) == expected


def test_a_lateness_given_as_a_timedelta_and_numbers_of_numpy():
    schema = pa.schema({"time": pa.timestamp("s"), "key": pa.int64()})
    join = rc.Join(
        on="key", time="time", window=timedelta(hours=1), lateness=timedelta(seconds=5),
        budget=np.int64(7), seed=np.int64(3),
    )  # fmt: skip
    join.expect("left", schema)
    join.expect("right", schema)
    assert numbers(rc.Join.load(join.save())) == numbers(join)


def test_a_policy_that_is_more_than_its_text():
    """HEEB with given laws: these are not in the text, so the policy is given again."""
    law = Trend(0, 2, DiscreteLaw.uniform(-2, 2))
    arguments = WHAT | {"window": 20, "budget": 9, "policy": Heeb(left=law, right=law)}
    calls = steps(LEFT)
    without = rc.Join(**arguments)
    expected = [do(without, step) for step in calls]
    join = rc.Join(**arguments)
    for step, results in zip(calls, expected, strict=True):
        join = rc.Join.load(join.save(), policy=Heeb(left=law, right=law))
        assert do(join, step) == results
    with pytest.raises(StateError, match=r"left=Trend is not .* is given to load as well"):
        rc.Join.load(join.save())
    with pytest.raises(StateError, match=r"saved with the policy heeb:left=.*, not heeb:alpha=3"):
        rc.Join.load(join.save(), policy=Heeb(alpha=3))
