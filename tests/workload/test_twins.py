"""Every policy on random workloads against its naive twin, and the universal checks there."""

from unittest import mock

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.policies import policy_names
from recollect.workload import engine as engines
from tests.naive import clock, greedy_dual, simple
from tests.naive import workload as naive
from tests.naive import workload_forecasts as forecasts
from tests.naive.join import TimeWindow
from tests.policies.scenarios import examples
from tests.workload.scenarios import inputs, problems, results_of, run_engine

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
    """A problem, an input, a division of the budget and its parts."""
    problem = draw(problems(kinds))
    rows = draw(inputs(problem))
    streams = len(problem.windows)
    if draw(st.booleans()):
        return problem, rows, [0] * streams, [draw(st.integers(1, 9))]
    parts = st.lists(st.integers(1, 5), min_size=streams, max_size=streams)
    return problem, rows, list(range(streams)), draw(parts)


def assert_sound(engine, problem, rows, pools, capacity):
    """What holds for any policy: the budget is kept, and results are some of the exact ones."""
    results = results_of(engine)
    assert len(set(results)) == len(results)
    assert set(results) <= naive.exact_results(rows, problem)
    assert engine.ledger.found.sum() == len(results)
    assert engine.ledger.held.max(initial=0) <= sum(capacity)
    assert all(used <= most for used, most in zip(engine.ledger.used, capacity, strict=True))
    ledger = engine.ledger
    reasons = (ledger.evicted, ledger.expired, ledger.replaced, ledger.refused, ledger.shed)
    gone = sum(int(part.sum()) for part in reasons)
    took_part = sum(any(key is not None for key in row.keys) for row in rows)
    assert gone + int(ledger.used.sum()) == took_part, "a tuple is not accounted for"


def assert_same(policy, twin, problem, rows, pools, capacity, seed=0, first_slots=1024):
    """The engine and the naive workload do the same at every step."""
    with mock.patch.object(engines, "FIRST_SLOTS", first_slots):
        engine = run_engine(policy, rows, problem, pools, capacity, seed)
    trace = naive.run(rows, problem, pools, capacity, twin, seed)
    assert results_of(engine) == trace.results
    assert engine.ledger.held.tolist() == trace.held
    for name in ("expired", "replaced", "evicted", "refused", "shed"):
        counts = getattr(trace, name)
        assert getattr(engine.ledger, name).tolist() == [counts[s] for s in range(len(pools))]
    live = engine.buffer.stream >= 0
    assert sorted(engine.buffer.serial[live].tolist()) == trace.buffered
    return engine


@pytest.mark.parametrize("policy", TWINS)
@pytest.mark.parametrize("kinds", ["any", "validity"])
@examples(12)
@given(data=st.data(), seed=st.integers(0, 99), first_slots=st.sampled_from([2, 1024]))
def test_twin(policy, kinds, data, seed, first_slots):
    problem, rows, pools, capacity = data.draw(runs_of(kinds))
    plain_pair = problem.joins == ((0, 1),) and None not in problem.windows
    assume(not (plain_pair and policy in FOR_PAIRS))
    engine = assert_same(policy, TWINS[policy], problem, rows, pools, capacity, seed, first_slots)
    assert_sound(engine, problem, rows, pools, capacity)


@examples(20)
@given(data=st.data())
def test_a_part_that_is_shed_by_rate_drops_what_comes_while_it_is_full(data):
    problem, rows, pools, capacity = data.draw(runs_of("validity"))
    streams = range(len(pools))
    some = st.lists(st.sampled_from(streams), unique=True).map(tuple)
    problem = problem._replace(by_rate=data.draw(st.one_of(some, st.just(tuple(streams)))))
    engine = assert_same("fifo", TWINS["fifo"], problem, rows, pools, capacity)
    assert_sound(engine, problem, rows, pools, capacity)


@pytest.mark.parametrize("kinds", ["any", "validity"])
@examples(30)
@given(data=st.data())
def test_unlimited_is_exact(kinds, data):
    problem, rows, pools, _ = data.draw(runs_of(kinds))
    capacity = [1000] * (max(pools) + 1)
    engine = run_engine("fifo", rows, problem, pools, capacity)
    assert set(results_of(engine)) == naive.exact_results(rows, problem)
    counted = run_engine("fifo", rows, problem, pools, capacity, listing=False)
    assert (counted.ledger.found == engine.ledger.found).all()
    assert counted.ledger.evicted.sum() == counted.ledger.refused.sum() == 0


NO_TWIN = sorted({*policy_names()} - {twin.partition(":")[0] for twin in TWINS})


@pytest.mark.parametrize(
    "policy", [*NO_TWIN, "tests.policies.forget_newest:ForgetTheNewest:patience=2"]
)
@examples(8)
@given(data=st.data())
def test_universal_checks(policy, data):
    problem, rows, pools, capacity = data.draw(runs_of("validity"))
    engine = run_engine(policy, rows, problem, pools, capacity)
    assert_sound(engine, problem, rows, pools, capacity)
    again = run_engine(policy, rows, problem, pools, capacity)
    assert again.results == engine.results


def test_three_streams_with_hot_keys():
    """Many combinations: 6 arrivals of one key in each of 3 streams give 6 * 6 * 6 results."""
    rows = [naive.Row(i % 3, i, (7,)) for i in range(18)]
    problem = naive.Problem((TimeWindow(100),) * 3, ((0, 1, 2),))
    engine = run_engine("clock", rows, problem, (0, 0, 0), (100,))
    assert len(set(results_of(engine))) == int(engine.ledger.found.sum()) == 6**3
