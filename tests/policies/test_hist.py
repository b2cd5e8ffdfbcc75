"""HIST against its naive twin, and that it learns what HEEB is told."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect as rc
from recollect.errors import PolicyError
from recollect.forecast import DiscreteLaw, Trend, Walk
from recollect.policies import parse_policy
from recollect.policies.heeb import Heeb
from recollect.policies.hist import Hist
from recollect.policies.tracks import POSITION
from recollect.streams import TrendStream, WalkStream
from recollect_papers.catalogue.stochastic import trends
from tests.engines import assert_same_victims, new_engine, pair_feed, pair_problem, trace_engine
from tests.naive import hist as naive
from tests.naive.join import TimeWindow, UnlimitedWindow, join
from tests.policies.scenarios import arrivals, capacities, examples, windows

SETTINGS = [
    ((TimeWindow(40), TimeWindow(60)), 20),
    ((UnlimitedWindow(), TimeWindow(50)), (9, 14)),
]


def _check(parameters, rows, spans, capacity, first_slots=1024):
    twin = type("Twin", (naive.Hist,), parameters)
    got = trace_engine(Hist(**parameters), rows, spans, capacity, 0, first_slots)
    assert_same_victims(got, join(rows, spans, capacity, twin))


def sampled(laws, steps):
    keys = [law.sample(steps, seed).tolist() for seed, law in enumerate(laws)]
    return [(stream, step, keys[stream][step]) for step in range(steps) for stream in (0, 1)]


@examples(40)
@given(arrivals(), st.tuples(windows, windows), capacities, st.sampled_from([2, 1024]))
def test_small_streams(rows, spans, capacity, first_slots):
    _check({"buckets": 4, "period": 3, "decay": 0.5}, rows, spans, capacity, first_slots)


@pytest.mark.parametrize(("spans", "capacity"), SETTINGS)
@pytest.mark.parametrize(
    "laws",
    [
        (Trend(1, -1, DiscreteLaw.normal(4, 15)), Trend(1, 0, DiscreteLaw.normal(6, 20))),
        (Walk(DiscreteLaw.normal(2)), Trend(0, 3, DiscreteLaw.normal(6))),
        (Trend(-0.7, 0, DiscreteLaw.uniform(-9, 9)), Trend(-0.7, 2, DiscreteLaw.normal(3))),
    ],
)
def test_long_streams(laws, spans, capacity):
    """Long enough for buckets to be split and merged many times."""
    parameters = {"buckets": 8, "period": 10, "decay": 0.9}
    _check(parameters, sampled(laws, 350), spans, capacity, first_slots=4)


def test_it_follows_lines_and_walks():
    line = TrendStream(tuples=2_000, slope=-2.0, deviation=8.0, bound=30, seed=1)
    walk = WalkStream(tuples=2_000, seed=2)
    values = [stream.table()["key"].to_pylist() for stream in (line, walk)]
    both = enumerate(zip(*values, strict=True))
    rows = [(stream, time, pair[stream]) for time, pair in both for stream in (0, 1)]
    spans = (TimeWindow(50), TimeWindow(50))
    engine = new_engine(Hist(), pair_problem(spans), 10)
    engine.count(pair_feed(rows, spans))
    on_line, walking = engine.states[0].tracks[:, POSITION]
    assert on_line == pytest.approx(-2 * 1999, abs=4)
    assert walking == values[1][-1]


@pytest.mark.compiled
@pytest.mark.parametrize("buffer", [5, 10, 20])
@pytest.mark.parametrize(
    ("deviation", "bound", "enough"), [(1.0, 10, 0.97), (8.0, 32, 0.9)], ids=["low", "high"]
)
def test_it_comes_close_to_heeb(deviation, bound, enough, buffer):
    """The paper's figures 13 and 14: HEEB knows the laws, HIST learns what it needs.

    Its defaults were chosen on other streams.
    """
    noise = DiscreteLaw.normal(deviation, bound)
    heeb = Heeb(left=Trend(1, -1, noise), right=Trend(1, 0, noise))
    found = {"rand": 0, heeb: 0, "hist": 0}
    for seed in range(20_000, 20_012, 2):
        streams = [
            TrendStream(5_000, lag=lag, deviation=deviation, bound=bound, seed=seed + lag).table()
            for lag in (1, 0)
        ]
        query = {"on": "key", "time": "time", "window": 2 * bound + 1, "budget": buffer}
        for policy in found:
            found[policy] += rc.join(*streams, **query, policy=policy).stats.results
    assert enough * found[heeb] <= found["hist"] <= 1.01 * found[heeb]
    assert found["hist"] > 1.04 * found["rand"]


@pytest.mark.compiled
def test_what_the_partner_has_passed_goes_first():
    """Otherwise, where R is behind S, its tuples leave at once and it never learns their worth."""
    load = trends(3_000, 1000, (1, 1), (10, 10))
    laws = [Trend(1, -lag, DiscreteLaw.normal(1, 10)) for lag in (1, 0)]
    words = {**load.query, "where": "left.time != right.time", "budget": 10, "count_only": True}
    hist, heeb = (
        rc.join(*load.streams.values(), **words, policy=policy).stats.results
        for policy in ("hist", Heeb(left=laws[0], right=laws[1]))
    )
    assert hist > 0.97 * heeb


@pytest.mark.compiled
def test_streams_of_different_rates():
    """A tuple of the slow stream is worth what it brings per time, as any other."""
    random = np.random.default_rng(0)
    slow, fast = 2_000, 20_000
    left = np.arange(slow) * 10 + random.normal(0, 20, slow).round()
    right = np.arange(fast) + random.normal(0, 20, fast).round()
    streams = [
        pa.table({"time": np.arange(len(keys)) * (fast // len(keys)), "key": keys.astype(int)})
        for keys in (left, right)
    ]
    words = {"on": "key", "time": "time", "window": "unlimited", "budget": 30, "count_only": True}
    rand, hist = (
        rc.join(*streams, policy=policy, **words).stats.results for policy in ("rand", "hist")
    )
    assert hist > 1.5 * rand


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hist:buckets=2", "hist: buckets=2 is not from 3 to 1000"),
        ("hist:period=0", "hist: period=0 is not from 1 to"),
        ("hist:decay=1.5", "hist: decay=1.5 is not from 0.01 to 1.0"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(PolicyError, match=message):
        parse_policy(spec)
