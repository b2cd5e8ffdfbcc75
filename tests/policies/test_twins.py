"""Every policy against its naive twin, victim by victim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policies.age import Age
from recollect.policies.clock import Clock
from recollect.policies.clock_exp import ClockExp
from recollect.policies.gdj import Gdj
from recollect.policies.prob import Prob
from tests.naive import age, clock, frequency, greedy_dual, simple
from tests.naive.join import (
    CountWindow,
    LandmarkWindow,
    TimeWindow,
    UnlimitedWindow,
    join,
)
from tests.policies.scenarios import arrivals, capacities, examples, local_stream, windows
from tests.policies.victims import assert_same_victims, trace_engine


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
LONG_WINDOWS = {
    "time": (TimeWindow(400), TimeWindow(400)),
    "time and rows": (TimeWindow(150), CountWindow(300)),
    "landmark and for ever": (LandmarkWindow(256), UnlimitedWindow()),
}


def _check(name, rows, spans, capacity, seed=0, first_slots=1024):
    policy, twin = TWINS[name]
    assert_same_victims(
        trace_engine(policy, rows, spans, capacity, seed, first_slots),
        join(rows, spans, capacity, twin, seed),
    )


@pytest.mark.parametrize("name", TWINS)
@examples(25)
@given(arrivals(), st.tuples(windows, windows), capacities, st.integers(0, 2**32))
def test_small_streams(name, rows, spans, capacity, seed):
    _check(name, rows, spans, capacity, seed)


@pytest.mark.parametrize("name", TWINS)
@examples(10)
@given(arrivals(sizes=True), windows, capacities, st.sampled_from([2, 3, 1024]))
def test_sizes_and_growing_buffers(name, rows, window, capacity, first_slots):
    _check(name, rows, (window, window), capacity, 5, first_slots)


@pytest.mark.parametrize("spans", LONG_WINDOWS.values(), ids=LONG_WINDOWS.keys())
@pytest.mark.parametrize("name", [name for name in TWINS if "gdj 3" not in name])
def test_long_streams(name, spans):
    rows = local_stream(seed=len(name), length=1500)
    _check(name, rows, spans, 120 if spans[0] == spans[1] else (50, 70), 2**63 + 1, 8)
