"""The optimum is what trying every choice gives, and what it says is kept fits into the buffer."""

import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect as rc
from recollect.errors import BudgetError, InputError, MissingExtraError
from recollect.optimum import best_runs, flow, most_results
from recollect.policies import policy_names
from recollect.streams import ZipfStream
from tests.naive import flow as naive
from tests.naive.join import CountWindow, LandmarkWindow, TimeWindow, UnlimitedWindow
from tests.policies.scenarios import examples, runs

WORDS = {
    TimeWindow: lambda window: str(window.span),
    CountWindow: lambda window: f"{window.rows}rows",
    LandmarkWindow: lambda window: f"landmark:{window.span}",
    UnlimitedWindow: lambda window: "unlimited",
}
windows = st.one_of(
    st.integers(0, 8).map(TimeWindow),
    st.integers(1, 5).map(CountWindow),
    st.integers(1, 8).map(LandmarkWindow),
    st.just(UnlimitedWindow()),
)
arrivals = runs(
    st.tuples(st.integers(0, 1), st.integers(0, 2), st.sampled_from([1, 2, 3, None])), longest=11
)


def tables(merged: list[tuple]) -> list[pa.Table]:
    schema = pa.schema([("time", pa.int64()), ("key", pa.int64())])
    return [
        pa.table([[t for s, t, _ in merged if s == side], [k for s, _, k in merged if s == side]],
                 schema=schema)
        for side in (0, 1)
    ]  # fmt: skip


@examples(60)
@given(
    steps=arrivals,
    window=st.tuples(windows, windows),
    capacity=st.one_of(st.integers(1, 3), st.tuples(st.integers(1, 2), st.integers(1, 2))),
)
def test_equals_every_choice(steps, window, capacity):
    now = 0
    merged = []
    for stream, pause, key in steps:
        now += pause
        merged.append((stream, now, key))
    merged.sort(key=lambda arrival: (arrival[1], arrival[0]))
    split = isinstance(capacity, tuple)
    (run,) = best_runs(
        *tables(merged),
        on="key",
        time="time",
        window=tuple(WORDS[type(one)](one) for one in window),
        budgets=[sum(capacity) if split else capacity],
        split=capacity if split else None,
    )
    assert run.results == naive.most_results(merged, window, capacity)


def test_large_times_are_told_apart():
    """As nanoseconds since 1970 are, of which floats hold only every 256th."""
    (near, far) = (
        best_runs(
            *tables([(step % 2, first + step, step * step % 7) for step in range(60)]),
            on="key", time="time", window=20, budgets=[3], split=True,
        )[0]
        for first in (0, 1_700_000_000_000_000_000)
    )  # fmt: skip
    assert far.results == near.results > 0


def test_what_is_found_fits_into_the_buffer():
    random = np.random.default_rng(3)
    kept = random.integers(0, 60, 400)
    arrival = kept // 2
    meeting = arrival + random.integers(1, 25, 400)
    worth = random.integers(0, 4, 400)
    for capacity in (1, 4, 12):
        best = most_results(kept, arrival, meeting, capacity, worth)
        assert best.results == worth[best.found].sum()
        held_until = np.zeros(60, np.int64)
        np.maximum.at(held_until, kept[best.found], meeting[best.found])
        for moment in range(60):
            held = (np.arange(60) // 2 <= moment) & (moment < held_until)
            assert held.sum() <= capacity
        # Who is kept for one partner meets all earlier ones.
        assert np.array_equal(best.found, meeting <= held_until[kept])
    assert most_results(kept, arrival, meeting, 60, worth).results == worth.sum()


@pytest.mark.compiled
@pytest.mark.parametrize("split", [None, "30:70"])
def test_no_policy_does_better(split):
    streams = [ZipfStream(600, keys=40, seed=seed) for seed in (1, 2)]
    query = {"on": "key", "time": "time", "window": 50, "split": split}
    budgets = ["5%", "30%", 7]
    best = {run.budget: run for run in best_runs(*streams, budgets=budgets, **query)}
    compared = rc.compare(*streams, policies=policy_names(), budgets=budgets, **query)
    for run in compared.runs:
        optimum = best[run.budget]
        assert run.results <= optimum.results <= run.exact_results == optimum.exact_results
        assert optimum.budget_tuples == run.budget_tuples
        assert optimum.gap(run.results) == pytest.approx(1 - run.results / optimum.results)
    assert best["5%"].recall < best["30%"].recall < 1


def test_filters_and_unlimited_budgets():
    streams = [ZipfStream(200, keys=10, seed=seed) for seed in (1, 2)]
    query = {"on": "key", "time": "time", "window": 30, "where": "left.time != right.time"}
    few, all_ = best_runs(*streams, budgets=[3, "unlimited"], **query)
    exact = rc.join(*streams, exact=True, count_only=True, **query).stats.exact_results
    assert few.results < all_.results == all_.exact_results == exact
    assert all_.recall == 1


def test_a_hot_key_overflows_no_output():
    """More results from one arrival than a chunk of output holds."""
    left = pa.table({"time": np.zeros(300, np.int64), "key": np.ones(300, np.int64)})
    right = pa.table({"time": np.ones(300, np.int64), "key": np.ones(300, np.int64)})
    (run,) = best_runs(left, right, on="key", time="time", window=5, budgets=[10])
    assert run.exact_results == 90_000
    assert run.results == 3_000


def test_nothing_to_find():
    empty = pa.table({"time": pa.array([], pa.int64()), "key": pa.array([], pa.int64())})
    (run,) = best_runs(empty, empty, on="key", time="time", window=5, budgets=[3])
    assert (run.results, run.recall, run.gap(0)) == (0, 1.0, 0.0)


def test_mistakes(monkeypatch):
    streams = [ZipfStream(50, keys=5, seed=seed) for seed in (1, 2)]
    query = {"on": "key", "time": "time", "window": 50}
    with pytest.raises(BudgetError, match="tuples or per cent, not for 64MB"):
        best_runs(*streams, budgets=["64MB"], **query)
    with pytest.raises(InputError, match="comes later"):
        most_results([0], [3], [3], 1)
    with pytest.raises(InputError, match="capacity must be"):
        most_results([0], [3], [4], -1)
    with pytest.raises(InputError, match="count as whole numbers"):
        most_results([0], [3], [4], 1, worth=[0.5])
    monkeypatch.setattr(flow, "MOST_ARCS", 5)
    with pytest.raises(InputError, match="shorter window"):
        most_results([0, 1], [0, 1], [2, 3], 1)
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(MissingExtraError, match=r"recollect\[optimum\]"):
        most_results([0], [3], [4], 1)
