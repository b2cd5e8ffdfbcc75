"""HEEB and HIST in every kind of workload: against their twins on streams with laws, and why."""

import numpy as np
import pytest

import recollect as rc
from recollect.errors import PolicyError
from recollect.forecast import DiscreteLaw, Trend
from recollect.policies.heeb import Heeb
from recollect.streams import TrendStream
from recollect.workload import Prepared, Stream, Workload
from tests.engines import new_engine
from tests.naive import workload_forecasts as forecasts
from tests.naive.join import CountWindow, LandmarkWindow, TimeWindow, UnlimitedWindow
from tests.naive.workload import Problem, Row
from tests.workload.test_twins import assert_same

SHORT, LONG = TimeWindow(40), TimeWindow(90)
KINDS = {
    "three streams": Problem((SHORT, LONG, CountWindow(30)), ((0, 1, 2),)),
    "five streams": Problem((SHORT, LONG, SHORT, UnlimitedWindow(), LONG), ((3, 0, 1, 4, 2),)),
    "several joins": Problem((SHORT, SHORT, LandmarkWindow(64)), ((0, 1), (1, 0), (2, 1, 0))),
    "one buffer": Problem((SHORT, LONG, UnlimitedWindow(), SHORT), ((0, 1), (2, 3))),
    "itself, filtered": Problem((LONG, SHORT), ((0, 0), (0, 1)), filtered=(0,)),
    "validity": Problem((None, SHORT, None), ((0, 1), (0, 1, 2))),
}
HEEB = {
    "trend": {"forecast": "trend"},
    "fixed": {"forecast": "trend", "survival": "fixed"},
    "sampled": {"forecast": "walk", "alpha": 4.0, "sample": 3},
    "chain": {"forecast": "markov", "survival": "fixed", "alpha": 5.0},
}


def rows_with_laws(problem: Problem, length: int = 240, seed: int = 0) -> list[Row]:
    """Keys of the first join rise, those of the second wander, those of the third do neither."""
    random = np.random.default_rng(seed)
    wandering = np.cumsum(random.integers(-1, 2, length))
    streams = len(problem.windows)
    rows: list[Row] = []
    for time in range(length):
        stream = int(random.integers(streams))
        laws = (time // 3 - stream, int(wandering[time]), 0)
        keys = tuple(
            int(laws[join] + random.integers(-3, 4))
            if stream in of and random.random() < 0.95
            else None
            for join, of in enumerate(problem.joins)
        )
        end = time + int(random.integers(80)) if problem.windows[stream] is None else None
        rows.append(Row(stream, time, keys, end))
    return rows


def check(policy, twin, problem, seed):
    streams = len(problem.windows)
    rows = rows_with_laws(problem, seed=seed)
    for capacity in ([12], [5, 6, 7, 8, 9][:streams]):
        engine, _ = assert_same(policy, twin, problem, rows, capacity, seed, first_slots=2)
        ledger = engine.ledger
        assert ledger.refused.sum() + ledger.evicted.sum() > 30


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", HEEB)
def test_heeb(kind, name):
    parameters = HEEB[name] | {"warmup": 10}
    twin = type("Twin", (forecasts.Heeb,), parameters)
    check(Heeb(**parameters), twin, KINDS[kind], seed=1)


@pytest.mark.parametrize("kind", KINDS)
def test_hist(kind):
    check("hist:buckets=4,period=3,decay=0.5", forecasts.Hist, KINDS[kind], seed=2)


@pytest.mark.compiled
def test_a_result_that_lacks_its_last_tuple_is_worth_waiting_for():
    """T comes 20 steps after R and S has come before: only HEEB sees which tuples T will need."""
    streams = {
        name: Stream(
            TrendStream(2_000, lag=lag, deviation=deviation, bound=20, seed=lag),
            time="time",
            window=60,
        )
        for name, lag, deviation in (("R", 0, 3.0), ("S", 5, 5.0), ("T", 20, 4.0))
    }
    prepared = Prepared(Workload(streams, {"all": "R.key = S.key = T.key"}))
    policies = ("fifo", "clock", "prob", "heeb:forecast=trend")
    recall = {policy: prepared.run(policy, 30).recall for policy in policies}
    assert recall.pop("heeb:forecast=trend") > 0.3 + max(recall.values())


@pytest.mark.compiled
@pytest.mark.thorough
@pytest.mark.parametrize("policy", ["heeb:forecast=trend", "hist"])
def test_a_join_of_two_is_the_plain_one(policy):
    left, right = (TrendStream(2_000, lag=lag, deviation=6.0, seed=lag) for lag in (0, 1))
    words = {"time": "time", "window": 50}
    streams = {"L": Stream(left, **words), "R": Stream(right, **words)}
    prepared = Prepared(Workload(streams, {"j": "L.key = R.key"}))
    plain = rc.join(left, right, on="key", policy=policy, budget=10, **words)
    assert prepared.run(policy, 10).results == plain.stats.results


def test_laws_are_given_only_to_a_plain_join():
    law = Trend(1, 0, DiscreteLaw.uniform(-3, 3))
    with pytest.raises(PolicyError, match="one plain join of two"):
        new_engine(Heeb(left=law, right=law), KINDS["itself, filtered"], 5)
