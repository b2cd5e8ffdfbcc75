"""Every policy on random workloads against its naive twin, and the universal checks there."""

from unittest import mock

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.join import engine as engines
from recollect.join.kernel import PEAK
from recollect.policies import policy_names
from recollect.policies.shape import Pair
from tests.engines import buffered_in, feed_of, new_engine, run_counting, run_listing, setting_of
from tests.naive import clock, greedy_dual, simple
from tests.naive import workload as naive
from tests.naive import workload_forecasts as forecasts
from tests.naive.join import TimeWindow
from tests.policies.scenarios import examples
from tests.workload.scenarios import inputs, problems

METHOD_1 = greedy_dual.with_rules(greedy_dual.Method1(0.9))
TWINS = {
    "rand": simple.Rand,
    "fifo": simple.Fifo,
    "lru": simple.Lru,
    "lfu": simple.Lfu,
    "clock": clock.Clock,
    "clock:partial=0.5": naive.PartialClock,
    "clock-exp": clock.ClockExp,
    "gdj": METHOD_1,
    "gdj:percentile=0.5,full=2,partial=1": naive.PartialMethod1,
    "prob": naive.Prob,
    "life": naive.Life,
    "age": naive.Age,
    "lba:h=3,warmup=8": naive.Lba,
    "elba:h=3,warmup=8": naive.Elba,
    "heeb:forecast=trend,warmup=10": forecasts.Heeb,
    "hist:buckets=4,period=3,decay=0.5": forecasts.Hist,
}

FOR_PAIRS = [policy for policy in TWINS if policy.startswith(("heeb", "hist"))]
"""A plain join of two has other ties there, see tests/policies."""


@st.composite
def runs_of(draw, kinds="any"):
    """A problem, an input, and a budget for all streams or one for each."""
    problem = draw(problems(kinds))
    streams = len(problem.windows)
    each = st.lists(st.integers(1, 5), min_size=streams, max_size=streams)
    capacity = draw(st.one_of(st.lists(st.integers(1, 9), min_size=1, max_size=1), each))
    return problem, draw(inputs(problem)), capacity


def pools_of(problem, capacity):
    """By stream its part of the budget."""
    streams = range(len(problem.windows))
    return [0 for _ in streams] if len(capacity) == 1 else list(streams)


def assert_sound(engine, results, problem, rows, capacity):
    """What holds for any policy: the budget is kept, and results are some of the exact ones."""
    ledger = engine.ledger
    assert len(set(results)) == len(results)
    assert set(results) <= naive.exact_results(rows, problem)
    assert ledger.results.sum() == len(results)
    assert ledger.totals[PEAK] <= sum(capacity)
    assert all(used <= most for used, most in zip(ledger.used, capacity, strict=True))
    reasons = (ledger.evicted, ledger.expired, ledger.replaced, ledger.refused, ledger.shed)
    gone = sum(int(part.sum()) for part in reasons)
    took_part = sum(any(key is not None for key in row.keys) for row in rows)
    assert gone + int(ledger.used.sum()) == took_part, "a tuple is not accounted for"


def assert_same(policy, twin, problem, rows, capacity, seed=0, first_slots=1024):
    """The engine and the naive workload do the same at every step, listing results or counting."""
    feed = feed_of(rows, problem)
    trace = naive.run(rows, problem, pools_of(problem, capacity), capacity, twin, seed)
    with mock.patch.object(engines, "FIRST_SLOTS", first_slots):
        listing = new_engine(policy, problem, capacity, seed)
        results = run_listing(listing, feed)
        counting = new_engine(policy, problem, capacity, seed)
        found = run_counting(counting, feed)
    assert results == trace.results
    assert found.held.tolist() == trace.held
    for engine in (listing, counting):
        assert engine.ledger.results.sum() == found.found.sum() == len(results)
        for name in ("expired", "replaced", "evicted", "refused", "shed"):
            counts = getattr(trace, name)
            expected = [counts[stream] for stream in range(len(problem.windows))]
            assert getattr(engine.ledger, name).tolist() == expected
        assert buffered_in(engine) == trace.buffered
    return listing, results


@pytest.mark.parametrize("policy", TWINS)
@pytest.mark.parametrize("kinds", ["any", "validity"])
@examples(12)
@given(data=st.data(), seed=st.integers(0, 99), first_slots=st.sampled_from([2, 1024]))
def test_twin(policy, kinds, data, seed, first_slots):
    problem, rows, capacity = data.draw(runs_of(kinds))
    assume(not (policy in FOR_PAIRS and isinstance(setting_of(problem).shape, Pair)))
    done = assert_same(policy, TWINS[policy], problem, rows, capacity, seed, first_slots)
    assert_sound(*done, problem, rows, capacity)


@examples(20)
@given(data=st.data())
def test_a_part_that_is_shed_by_rate_drops_what_comes_while_it_is_full(data):
    problem, rows, capacity = data.draw(runs_of("validity"))
    streams = range(len(problem.windows))
    some = st.lists(st.sampled_from(streams), unique=True).map(tuple)
    problem = problem._replace(by_rate=data.draw(st.one_of(some, st.just(tuple(streams)))))
    done = assert_same("fifo", TWINS["fifo"], problem, rows, capacity)
    assert_sound(*done, problem, rows, capacity)


@pytest.mark.parametrize("kinds", ["any", "validity"])
@examples(30)
@given(data=st.data())
def test_unlimited_is_exact(kinds, data):
    problem, rows, _ = data.draw(runs_of(kinds))
    engine = new_engine("fifo", problem, None)
    assert set(run_listing(engine, feed_of(rows, problem))) == naive.exact_results(rows, problem)
    assert engine.ledger.evicted.sum() == engine.ledger.refused.sum() == 0


def test_every_policy_has_a_twin():
    assert {name.partition(":")[0] for name in TWINS} == set(policy_names())


def test_three_streams_with_hot_keys():
    """Many combinations: 6 arrivals of one key in each of 3 streams give 6 * 6 * 6 results."""
    rows = [naive.Row(i % 3, i, (7,)) for i in range(18)]
    problem = naive.Problem((TimeWindow(100),) * 3, ((0, 1, 2),))
    engine = new_engine("clock", problem, 100)
    results = run_listing(engine, feed_of(rows, problem))
    assert len(set(results)) == int(engine.ledger.results.sum()) == 6**3
