"""Every policy against its naive twin, victim by victim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policies.age import BINS, K_OPT, WIDTH, Age
from recollect.policies.clock import Clock
from recollect.policies.clock_exp import ClockExp
from recollect.policies.gdj import Gdj
from recollect.policies.prob import Prob
from recollect.policies.ranking import BLOCKS
from tests.engines import assert_same_victims, trace_engine
from tests.naive import age, clock, frequency, greedy_dual, simple
from tests.naive.join import (
    CountWindow,
    LandmarkWindow,
    TimeWindow,
    UnlimitedWindow,
    join,
)
from tests.policies.scenarios import arrivals, capacities, examples, local_stream, windows


def _gdj(method, percentile):
    rules = {1: greedy_dual.Method1, 2: greedy_dual.Method2, 3: greedy_dual.Method3}[method]
    return Gdj(percentile, method), greedy_dual.with_rules(rules(percentile))


def _variant(cls, **parameters):
    """A naive policy class with other parameters."""
    return type(cls.__name__, (cls,), parameters)


TWINS = {
    "rand": ("rand", simple.Rand),
    "fifo": ("fifo", simple.Fifo),
    "lru": ("lru", simple.Lru),
    "lfu": ("lfu", simple.Lfu),
    "prob": ("prob", frequency.Prob),
    "prob sketch 4": (Prob("sketch", 4), frequency.SketchProb),
    "prob sketch 32": (Prob("sketch", 32), _variant(frequency.SketchProb, entries=32)),
    "life": ("life", frequency.Life),
    "life sketch 8": ("life:counts=sketch,entries=8", _variant(frequency.SketchLife, entries=8)),
    "age": (Age(), age.Age),
    "age 2": (Age(sample=2), _variant(age.Age, sample=2)),
    "gdj 1 at 0": _gdj(1, 0.0),
    "gdj 1 at 0.5": _gdj(1, 0.5),
    "gdj 1 at 0.9": _gdj(1, 0.9),
    "gdj 1 at 1": _gdj(1, 1.0),
    "gdj 2 at 0": _gdj(2, 0.0),
    "gdj 2 at 0.5": _gdj(2, 0.5),
    "gdj 2 at 0.9": _gdj(2, 0.9),
    "gdj 2 at 1": _gdj(2, 1.0),
    "gdj 3 at 0.5": _gdj(3, 0.5),
    "gdj 3 at 0.9": _gdj(3, 0.9),
    "clock 0": (Clock(0), _variant(clock.Clock, w0=0.0)),
    "clock 1": ("clock", clock.Clock),
    "clock 2.5": (Clock(2.5), _variant(clock.Clock, w0=2.5)),
    "clock 7": (Clock(7), _variant(clock.Clock, w0=7.0)),
    "clock-exp": ("clock-exp", clock.ClockExp),
    "clock-exp 0.25": (ClockExp(0.25), _variant(clock.ClockExp, rho=0.25)),
    "clock-exp 0.95": (ClockExp(0.95, 3), _variant(clock.ClockExp, rho=0.95, w0=3.0)),
}
LONG_SETTINGS = [
    ((TimeWindow(400), TimeWindow(400)), 120),
    ((TimeWindow(150), CountWindow(300)), (50, 70)),
    ((LandmarkWindow(256), UnlimitedWindow()), 90),
    ((CountWindow(500), TimeWindow(600)), (100, 30)),
]


def _check(name, rows, spans, capacity, seed=0, first_slots=1024):
    policy, twin = TWINS[name]
    assert_same_victims(
        trace_engine(policy, rows, spans, capacity, seed, first_slots),
        join(rows, spans, capacity, twin, seed),
    )


@pytest.mark.parametrize("name", TWINS)
@examples(18)
@given(arrivals(), st.tuples(windows, windows), capacities, st.integers(0, 2**32))
def test_small_streams(name, rows, spans, capacity, seed):
    _check(name, rows, spans, capacity, seed)


@pytest.mark.parametrize("name", TWINS)
@examples(10)
@given(arrivals(sizes=True), windows, capacities, st.sampled_from([2, 3, 1024]))
def test_sizes_and_growing_buffers(name, rows, window, capacity, first_slots):
    _check(name, rows, (window, window), capacity, 5, first_slots)


@pytest.mark.parametrize("name", ["prob", "life", "prob sketch 32", "life sketch 8"])
@examples(18)
@given(arrivals(), windows, capacities, st.booleans())
def test_no_window_before_time_zero(name, rows, window, capacity, swap):
    """Time stamps before 1970 are negative; so is the clock, while an endless lifetime is not."""
    rows = [(stream, time - 2**40, key) for stream, time, key in rows]
    spans = (window, UnlimitedWindow()) if swap else (UnlimitedWindow(), UnlimitedWindow())
    _check(name, rows, spans, capacity)


@pytest.mark.compiled
@pytest.mark.parametrize("name", [name for name in TWINS if "gdj 3" not in name])
def test_long_streams(name):
    number = list(TWINS).index(name)
    rows = local_stream(seed=number, length=1500)
    spans, capacity = LONG_SETTINGS[number % len(LONG_SETTINGS)]
    _check(name, rows, spans, capacity, 2**63 + 1, 8)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["gdj 2 at 0.9", "gdj 1 at 0.9", "prob", "life"])
def test_large_buffers(name):
    """Many blocks of the ranking, a deep tournament, a ladder with many rungs."""
    rows = local_stream(seed=8, length=1800, keys=600, repeat=0.1)
    _check(name, rows, (TimeWindow(900), TimeWindow(1200)), 500, first_slots=64)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["gdj 2 at 0.9", "gdj 2 at 1"])
def test_one_stream_stays_when_the_other_expires(name):
    """What one stream leaves in the ranking is thinly spread over all of it."""
    rows = local_stream(seed=9, length=4000, keys=4000, repeat=0.0, gap=1, left=0.97)
    spans = (TimeWindow(250), UnlimitedWindow())
    policy, twin = TWINS[name]

    def a_block_is_left(engine):
        ranking = engine.states[0].ranking
        assert ranking.totals[BLOCKS] < len(ranking.order)

    got = trace_engine(policy, rows, spans, 500, before=a_block_is_left)
    assert_same_victims(got, join(rows, spans, 500, twin))


@pytest.mark.parametrize("name", ["age", "age 2"])
@pytest.mark.parametrize("capacity", [30, (20, 60)])
def test_age_with_a_typical_age(name, capacity):
    """The partner comes after about 50 or 300 time units, so k_opt is learnt and bins widen."""
    lags = [(0, 0), (1, 50), (1, 300)]
    rows = sorted(
        (time + lag + time % 3, stream, time) for time in range(1200) for stream, lag in lags
    )
    merged = [(stream, time, key) for time, stream, key in rows]
    _check(name, merged, (TimeWindow(1000), TimeWindow(1000)), capacity)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["age", "age 2"])
def test_age_curves(name, seed):
    """No age is clearly the best, so k_opt depends on every count; these are compared as well."""
    rows = local_stream(seed, length=4000, keys=12, repeat=0.1, gap=1)
    spans, capacity = (TimeWindow(150 + 200 * seed), TimeWindow(300)), (20, 30)
    policy, twin = TWINS[name]
    twins, engines = [], []

    def make_twin(*arguments):
        twins.append(twin(*arguments))
        return twins[-1]

    got = trace_engine(policy, rows, spans, capacity, before=engines.append)
    assert_same_victims(got, join(rows, spans, capacity, make_twin))
    for stream, state in enumerate(engines[-1].states):
        curve = twins[stream].curves[stream]
        bins = range(BINS)
        assert state.hits[stream].tolist() == [curve.hits_in(bin_) for bin_ in bins]
        assert state.reach[stream].tolist() == [curve.ended_after(bin_) for bin_ in bins]
        assert state.curve[stream, [WIDTH, K_OPT]].tolist() == [curve.width, curve.k_opt]
