"""LBA and ELBA against their naive twins, and what they are for: more results than PROB."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect as rc
from recollect.errors import PolicyError
from recollect.locality.model import LocalityModel
from recollect.locality.prediction import predict
from recollect.policies import parse_policy
from recollect.policies.elba import Elba
from recollect.policies.lba import HORIZON, Lba
from recollect.streams import LocalityStream
from tests.engines import assert_same_victims, new_engine, pair_feed, pair_problem, trace_engine
from tests.naive import locality_aware as naive
from tests.naive.join import CountWindow, LandmarkWindow, TimeWindow, UnlimitedWindow, join
from tests.policies.scenarios import arrivals, capacities, examples, local_stream, windows


def _variant(cls, **parameters):
    return type(cls.__name__, (cls,), parameters)


SMALL = {"h": 3, "warmup": 4}
TWINS = {
    "lba": (Lba(**SMALL), _variant(naive.Lba, **SMALL)),
    "lba at 7": (Lba(**SMALL, horizon=7), _variant(naive.Lba, **SMALL, horizon=7)),
    "lba sketch": (
        Lba("sketch", 8, h=2, warmup=1),
        _variant(naive.SketchLba, h=2, warmup=1, entries=8),
    ),
    "elba": (Elba(**SMALL), _variant(naive.Elba, **SMALL)),
    "elba at 9": (Elba(**SMALL, horizon=9), _variant(naive.Elba, **SMALL, horizon=9)),
}
SETTINGS = [
    ((TimeWindow(400), TimeWindow(400)), 120),
    ((TimeWindow(150), CountWindow(300)), (50, 70)),
    ((LandmarkWindow(256), UnlimitedWindow()), 90),
]


def _check(twins, rows, spans, capacity, first_slots=1024):
    policy, twin = twins
    got = trace_engine(policy, rows, spans, capacity, 0, first_slots)
    assert_same_victims(got, join(rows, spans, capacity, twin))


@pytest.mark.parametrize("name", TWINS)
@examples(25)
@given(arrivals(), st.tuples(windows, windows), capacities)
def test_small_streams(name, rows, spans, capacity):
    _check(TWINS[name], rows, spans, capacity)


@pytest.mark.parametrize("name", TWINS)
@examples(8)
@given(arrivals(sizes=True), windows, capacities, st.sampled_from([2, 3, 1024]))
def test_sizes_and_growing_buffers(name, rows, window, capacity, first_slots):
    _check(TWINS[name], rows, (window, window), capacity, first_slots)


@pytest.mark.compiled
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(("kind", "twin"), [(Lba, naive.Lba), (Elba, naive.Elba)])
def test_long_streams(kind, twin, setting):
    """Several fits, keys that come and go among the recent ones, groups that are used again."""
    parameters = {"h": 9, "warmup": 60}
    rows = local_stream(seed=5, length=600, keys=60)
    twins = (kind(**parameters), _variant(twin, **parameters))
    _check(twins, rows, *setting, first_slots=8)


@pytest.mark.compiled
def test_it_learns_the_model_of_the_partner():
    """The left stream repeats itself, the right one does not."""
    keys = [
        LocalityStream(tuples=9000, keys=500, exponent=0.75, repeat=repeat, depth=4, seed=seed)
        for repeat, seed in ((0.7, 1), (0.0, 2))
    ]
    both = zip(*(one.table()["key"].to_pylist() for one in keys), strict=True)
    rows = [(stream, time, pair[stream]) for time, pair in enumerate(both) for stream in (0, 1)]
    spans = (TimeWindow(200), TimeWindow(200))
    engine = new_engine(Lba(h=6), pair_problem(spans), (20, 20))
    engine.count(pair_feed(rows, spans))
    of_the_right, of_the_left = engine.states
    assert of_the_left.tally[0, HORIZON] == of_the_right.tally[1, HORIZON] == 20
    true = predict(LocalityModel(np.array([0.175] * 4 + [0.0] * 2), 0.3), horizon=20)
    assert of_the_left.by_lag[0] == pytest.approx(true.by_lag, abs=0.1)
    assert of_the_left.fresh[0] == pytest.approx(true.fresh, rel=0.03)
    assert of_the_right.by_lag[1] == pytest.approx(np.zeros(6), abs=0.1)
    assert of_the_right.fresh[1] == pytest.approx(20, rel=0.03)


@pytest.fixture(scope="module")
def recalls():
    """The workload of the benchmark, shorter: recall in per cent by policy."""
    left, right = (
        LocalityStream(tuples=30_000, keys=500, exponent=0.75, repeat=0.7, depth=50, seed=seed)
        for seed in (1, 2)
    )
    runs = rc.compare(
        left, right, on="key", time="time", window=1000,
        policies=["prob", "lba", "elba"], budgets=["10%"], split=True,
    ).runs  # fmt: skip
    return {run.policy: 100 * run.recall for run in runs}


@pytest.mark.compiled
def test_locality_gives_more_results_than_popularity_alone(recalls):
    assert recalls["lba"] >= recalls["prob"] + 0.5
    assert recalls["elba"] >= recalls["lba"] - 0.5


@pytest.mark.compiled
def test_streams_of_different_rates():
    """What is frequent is as valuable in the slow stream as in the fast one."""
    random = np.random.default_rng(0)
    slow, fast = 240, 4_800
    left = np.where(random.random(slow) < 0.5, random.integers(0, 3, slow), 1_000)
    left[left == 1_000] += np.arange((left == 1_000).sum())
    right = np.where(random.random(fast) < 0.005, random.integers(0, 3, fast), 5_000)
    right[right == 5_000] += np.arange((right == 5_000).sum())
    streams = [
        pa.table({"time": np.arange(len(keys)) * (fast // len(keys)), "key": keys})
        for keys in (left, right)
    ]
    words = {"on": "key", "time": "time", "window": 4_800, "budget": 20, "count_only": True}
    prob, lba, elba = (
        rc.join(*streams, policy=policy, **words).stats.results
        for policy in ("prob", "lba", "elba")
    )
    assert min(lba, elba) > 0.9 * prob


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("lba:h=0", "lba: h=0 is not from 1 to 200"),
        ("elba:h=201", "elba: h=201 is not from 1 to 200"),
        ("lba:warmup=0", "lba: warmup=0 is not from 1 to"),
        ("elba:horizon=-1", "elba: horizon=-1 is not from 0 to 100000"),
        ("lba:counts=none", "lba: counts=none is not"),
        ("lba:depth=5", "lba: unknown parameter 'depth=5'; it takes counts, entries, h, warmup"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(PolicyError, match=message):
        parse_policy(spec)
