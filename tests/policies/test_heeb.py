"""HEEB in the join: against its naive twin, in the paper's cases, and what it is for."""

from time import perf_counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect as rc
from recollect.errors import InputError, PolicyError
from recollect.forecast import Ar1, DiscreteLaw, Markov, Now, Stationary, Survival, Trend, Walk
from recollect.forecast.precomputed import trend_curve, walk_curve
from recollect.policies import parse_policy
from recollect.policies.heeb import Heeb
from recollect.policies.heeb_tables import table_of
from recollect_papers import catalogue
from recollect_papers.theory import run_steps
from recollect_papers.theory.heeb_scores import joining_scores
from tests.engines import (
    assert_same_victims,
    buffered_in,
    new_engine,
    pair_feed,
    pair_problem,
    part_of,
    trace_engine,
)
from tests.naive.heeb import heeb as naive
from tests.naive.join import CountWindow, LandmarkWindow, TimeWindow, UnlimitedWindow, join
from tests.policies.scenarios import arrivals, capacities, examples, local_stream, windows

RISING = (Trend(1, -1, DiscreteLaw.normal(1, 4)), Trend(1, 0, DiscreteLaw.uniform(-5, 3)))
SLOW = (Trend(-0.25, 1.5, DiscreteLaw.normal(2, 5)), Trend(0, 2.5, DiscreteLaw.uniform(0, 3)))
WANDERING = (Walk(DiscreteLaw(-1, [0.4, 0.2, 0.4])), Walk(DiscreteLaw.normal(1, mean=0.5)))
WIDE = (Trend(1, -1, DiscreteLaw.normal(40, 90)), Trend(1, 0, DiscreteLaw.uniform(-90, 50)))
CROSSING = (Trend(-0.25, 1, DiscreteLaw.normal(40)), Walk(DiscreteLaw.normal(9, mean=4)))
CHAINS = (
    Ar1(0.5, 1, 2),
    Markov(states=[-1, 0, 2, 5], transitions=np.full((4, 4), 0.05) + 0.8 * np.eye(4)[[1, 2, 3, 0]]),
)
KNOWN = {
    "rising": (RISING, {"alpha": 4.0}),
    "rising, fixed": (RISING, {"alpha": 7, "survival": "fixed"}),
    "rising, seen": (RISING, {}),
    "rising, sampled": (RISING, {"alpha": 4.0, "sample": 3}),
    "wide": (WIDE, {"alpha": 60.0}),
    "crossing": (CROSSING, {"alpha": 30.0}),
    "slow": (SLOW, {"alpha": 3.0}),
    "wandering": (WANDERING, {"alpha": 6.0}),
    "chains": (CHAINS, {"alpha": 5.0}),
    "chains, fixed": (CHAINS, {"survival": "fixed"}),
}


def _twins(name):
    laws, parameters = KNOWN[name]
    policy = Heeb(left=laws[0], right=laws[1], **parameters)
    return policy, naive(laws=laws, **parameters)


def _check(twins, rows, spans, capacity, first_slots=1024):
    policy, twin = twins
    got = trace_engine(policy, rows, spans, capacity, 0, first_slots)
    assert_same_victims(got, join(rows, spans, capacity, twin))


def sampled(laws, steps, seed=0):
    """A merged input of two streams with these laws."""
    keys = [law.sample(steps, seed + stream).tolist() for stream, law in enumerate(laws)]
    return [(stream, step, keys[stream][step]) for step in range(steps) for stream in (0, 1)]


@pytest.mark.parametrize("name", KNOWN)
@examples(12)
@given(arrivals(), st.tuples(windows, windows), capacities)
def test_known_laws_on_small_streams(name, rows, spans, capacity):
    """Of streams that have other laws, so that values are all over the table and beyond it."""
    _check(_twins(name), rows, spans, capacity)


@pytest.mark.parametrize(
    ("spans", "capacity"),
    [
        ((UnlimitedWindow(), UnlimitedWindow()), 90),
        ((TimeWindow(20), CountWindow(30)), (20, 20)),
        ((LandmarkWindow(64), UnlimitedWindow()), 30),
    ],
)
@pytest.mark.parametrize("name", KNOWN)
def test_known_laws_on_their_own_streams(name, spans, capacity):
    rows = sampled(KNOWN[name][0], 150)
    _check(_twins(name), rows, spans, capacity, first_slots=8)


@pytest.mark.parametrize("forecast", ["trend", "walk", "ar1", "markov"])
@examples(8)
@given(arrivals(), windows, capacities)
def test_fitted_laws(forecast, rows, window, capacity):
    policy = Heeb(forecast=forecast, warmup=10, alpha=4)
    _check((policy, naive(forecast, alpha=4, warmup=10)), rows, (window, window), capacity)


@pytest.mark.parametrize("forecast", ["trend", "walk", "ar1", "markov"])
def test_fitted_laws_on_long_streams(forecast):
    rows = local_stream(seed=3, length=300, keys=30)
    policy = Heeb(forecast=forecast, warmup=30)
    spans = (TimeWindow(100), TimeWindow(150))
    _check((policy, naive(forecast, warmup=30)), rows, spans, 50)


# -- tables --------------------------------------------------------------------------------------

TRENDS = [
    Trend(slope, intercept, noise)
    for slope, intercept in [(1, 0), (-2, 3), (0, 4), (0.5, 0.25), (-0.0625, 0.5), (0.9998, 0.01)]
    for noise in [DiscreteLaw.normal(2, 6), DiscreteLaw(-4, [0.5, 0, 0, 0.2, 0.3])]
]


@pytest.mark.parametrize("law", TRENDS, ids=repr)
def test_trend_tables_are_the_sums(law):
    """Also by definition, at moments when the line is on the grid of the table."""
    survival = Survival("exp", 9)
    table, curve = table_of(law, survival), trend_curve(law, survival)
    assert (table.low, table.per_unit) == (curve.low, curve.per_unit)
    assert table.scores == pytest.approx(curve.scores, abs=1e-11)


def test_trend_tables_for_long_lifetimes():
    """These are interpolated where the slope is off the grid, and must be quick to make."""
    noise = DiscreteLaw.normal(300)
    exact = table_of(Trend(1, 0, noise), Survival("exp", 5_000))
    near = table_of(Trend(1.0001, 0, noise), Survival("exp", 5_000))
    places = np.arange(-800, 20_000, 50)
    assert near.scores[16 * places - near.low] == pytest.approx(
        exact.scores[places - exact.low], rel=2e-3, abs=1e-6
    )
    assert exact.turns().tolist() == [[np.argmax(exact.scores)]]


@pytest.mark.parametrize(
    "steps", [DiscreteLaw.normal(1), DiscreteLaw.normal(2, mean=1.5), DiscreteLaw(-3, [0.7, 0.3])]
)
@pytest.mark.parametrize("alpha", [0.5, 10, 60])
def test_walk_tables_are_the_sums(steps, alpha):
    survival = Survival("exp", alpha)
    table, curve = table_of(Walk(steps), survival), walk_curve(Walk(steps), survival)
    places = np.arange(table.low, table.low + len(table.scores))
    assert table.scores == pytest.approx(curve.at(places), abs=1e-10)


def test_scores_in_the_join_are_the_scores_by_definition():
    """A buffer of one keeps the better of two values, by the sum over all Δ."""
    law = RISING[1]
    survival = Survival("exp", 6)
    policy = Heeb(left=law, right=law, alpha=6)
    for value in range(-6, 12):
        rows = [(1, 0, 100), (0, 0, 4), (0, 1, value)]
        kept = trace_engine(policy, rows, (UnlimitedWindow(), UnlimitedWindow()), (1, 1)).steps[-1]
        old, new = joining_scores(law, [4, value], Now(0, np.array([100])), survival)
        assert kept.refused == (new < old), value


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (Stationary.fit([1, 2]), "no table of scores for a Stationary"),
        (Walk(DiscreteLaw.normal(1, mean=1e4)), "goes too far"),
        (Ar1(0.99, 0, 100), "more than 4096"),
        (Ar1(0.7, 0, 50), "need a table of more than"),
    ],
)
def test_laws_without_a_table(law, message):
    with pytest.raises(InputError, match=message):
        table_of(law, Survival("exp", 1_000))


# -- the paper's cases ---------------------------------------------------------------------------


def victims_of(policy, rows, capacity):
    """The keys of the tuples that went, one after the other, buffered ones or newcomers."""
    keys = {serial: row[2] for serial, row in enumerate(rows, 1)}
    steps = trace_engine(policy, rows, (UnlimitedWindow(), UnlimitedWindow()), capacity).steps
    gone = []
    for serial in range(2, len(rows) + 1):
        left = {*steps[serial - 2].buffered, serial} - set(steps[serial - 1].buffered)
        gone += [keys[one] for one in left]
    return gone


def test_zero_drift_forgets_the_farthest():
    """Section 7.5: of a walk with symmetric steps and no drift."""
    law = Walk(DiscreteLaw.normal(3))
    random = np.random.default_rng(5)
    values = random.permutation(np.arange(-400, 400, 7)).tolist()
    rows = [(1, 0, 11), *((0, 1, value) for value in values)]
    gone = victims_of(Heeb(left=law, right=law, alpha=20), rows, (30, 1))
    for number, victim in enumerate(gone):
        candidates = set(values[: 31 + number]) - set(gone[:number])
        assert abs(victim - 11) == max(abs(value - 11) for value in candidates)
    assert len(gone) == len(values) - 30


def test_rising_window_forgets_the_smallest():
    """Section 7.3: the smaller values leave the reach of uniform noise sooner."""
    law = Trend(1, 0, DiscreteLaw.uniform(-200, 200))
    random = np.random.default_rng(6)
    values = random.permutation(np.arange(-190, 190, 4)).tolist()
    rows = [(1, 0, 0), *((0, 1, value) for value in values)]
    gone = victims_of(Heeb(left=law, right=law, alpha=500), rows, (40, 1))
    for number, victim in enumerate(gone):
        assert victim == min(set(values[: 41 + number]) - set(gone[:number]))


def test_stationary_is_prob_and_locality_is_lba():
    rows = local_stream(seed=1, length=400, keys=50)
    for forecast, same in (("stationary", "prob"), ("locality", "lba")):
        spans = (TimeWindow(100), UnlimitedWindow())
        got = trace_engine(f"heeb:forecast={forecast}", rows, spans, 40)
        assert got == trace_engine(same, rows, spans, 40)


@pytest.mark.parametrize(
    ("keys", "step", "window", "budget"),
    [(np.zeros(600, np.int64), 1, 20, 5), (np.arange(600) % 3, 10, 5, 100)],
    ids=["one key", "hardly any tuple alive"],
)
def test_streams_that_stand_still_or_pass_at_once(keys, step, window, budget):
    stream = pa.table({"time": np.arange(600) * step, "key": keys})
    words = {"on": "key", "time": "time", "window": window, "budget": budget, "count_only": True}
    found = rc.join(stream, stream, policy="heeb", **words).stats.results
    assert found > 0.8 * rc.join(stream, stream, policy="fifo", **words).stats.results


def test_streams_without_a_law_are_left_to_prob():
    """Independent draws: no law predicts them better than their popularity."""
    random = np.random.default_rng(2)
    rows = [(step % 2, step, int(12 * random.random() ** 2)) for step in range(1500)]
    spans = (TimeWindow(200), TimeWindow(200))
    assert trace_engine("heeb", rows, spans, 30) == trace_engine("prob", rows, spans, 30)


# -- what it is for ------------------------------------------------------------------------------


def results_of(workload, policy, **options):
    return rc.join(
        *workload.streams.values(), **(workload.query | options), budget=10, policy=policy
    ).stats.results


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["tower", "roof", "floor", "walk"])
def test_it_beats_the_policies_that_know_no_law(name):
    found = dict.fromkeys(("rand", "prob", "life", "heeb"), 0)
    for seed in range(2):
        workload = catalogue.load(name, tuples=1_500, seed=seed)
        for policy in found:
            found[policy] += results_of(workload, policy)
    assert found["heeb"] > 1.1 * max(found["rand"], found["prob"], found["life"])


@pytest.mark.compiled
def test_a_sample_costs_little():
    workload = catalogue.load("roof", tuples=5_000, seed=3)
    laws = (Trend(1, -1, DiscreteLaw.normal(3.3, 10)), Trend(1, 0, DiscreteLaw.normal(5, 15)))
    all_, few, one = (
        results_of(workload, Heeb(left=laws[0], right=laws[1], sample=sample))
        for sample in (0, 16, 1)
    )
    assert one < 0.8 * all_
    assert 0.95 * all_ < few <= 1.02 * all_


@pytest.mark.compiled
def test_knowing_the_law_is_worth_something():
    """Fitted laws come close, after the warm-up."""
    workload = catalogue.load("roof", tuples=4_000, seed=1)
    laws = (Trend(1, -1, DiscreteLaw.normal(3.3, 10)), Trend(1, 0, DiscreteLaw.normal(5, 15)))
    known = results_of(workload, Heeb(left=laws[0], right=laws[1]))
    fitted = results_of(workload, "heeb:forecast=trend,warmup=100")
    assert 0.94 * known < fitted <= 1.01 * known


@pytest.mark.compiled
def test_a_large_buffer_under_a_trend():
    """10,000 tuples: the victims of scoring all anew by definition, at over 200 times the rate."""
    noises = [DiscreteLaw.normal(4_000, 12_000), DiscreteLaw.normal(5_000, 15_000)]
    laws = [Trend(1, lag, noise) for lag, noise in zip((-1, 0), noises, strict=True)]
    # Filled for so long that scores of zero are gone: which of these goes first is not defined.
    capacity, filled, checked, steps = 10_000, 6_000, 6_002, 10_000
    keys = [law.sample(steps, seed).tolist() for seed, law in enumerate(laws)]
    spans = (UnlimitedWindow(), UnlimitedWindow())
    rows = [(stream, step, keys[stream][step]) for step in range(steps) for stream in (0, 1)]
    feed = pair_feed(rows, spans)
    policy = Heeb(left=laws[0], right=laws[1], alpha=50.0)
    engine = new_engine(policy, pair_problem(spans), capacity)

    def run(begin, end):
        started = perf_counter()
        engine.count(part_of(feed, 2 * begin, 2 * end))
        return (end - begin) / (perf_counter() - started)

    def kept():
        return sorted(((serial - 1) % 2, (serial - 1) // 2) for serial in buffered_in(engine))

    def worths(tuples, step, side):
        for stream in (0, 1):
            # The left tuple of a step comes before the right one.
            now = Now(step if 1 - stream <= side else step - 1, np.array([0]))
            values = [keys[stream][number] for mine, number in tuples if mine == stream]
            scores = joining_scores(laws[1 - stream], values, now, Survival("exp", policy.alpha))
            yield from zip(scores, [stream] * len(values), values, strict=True)

    run(0, filled)
    tuples = kept()
    assert len(tuples) == capacity
    started = perf_counter()
    for step in range(filled, checked):
        for side in (0, 1):
            tuples = sorted([*tuples, (side, step)])
            worth = list(worths(tuples, step, side))
            tuples.pop(worth.index(min(worth)))
    naive_rate = (checked - filled) / (perf_counter() - started)
    run(filled, checked)
    assert kept() == tuples
    assert run(checked, steps) > 200 * naive_rate


def test_memory_goes_to_the_leading_and_to_the_steadier_stream():
    """Figure 16: R gets less if it lags behind S, and more if S has more noise."""
    shares = []
    for lag, deviation in ((4, 1), (2, 1), (0, 1), (0, 2), (0, 4)):
        laws = (
            Trend(1, -lag, DiscreteLaw.normal(1, 10)),
            Trend(1, 0, DiscreteLaw.normal(deviation, 10)),
        )
        curves = [trend_curve(law, Survival("exp", 9.5)) for law in laws]

        def score(candidates, now, curves=curves, lag=lag):
            return np.where(
                candidates.stream == 0,
                curves[1].at(candidates.value - now),
                curves[0].at(candidates.value - now + lag),
            )

        streams = laws[0].sample(600, seed=1), laws[1].sample(600, seed=2)
        shares.append(run_steps(*streams, 10, score).left_share)
    assert shares == sorted(shares)
    assert shares[0] < 0.15
    assert shares[2] == pytest.approx(0.5, abs=0.04)
    assert shares[4] > 0.65


# -- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("heeb:forecast=arma", "heeb: forecast=arma is not one of auto, locality, stationary"),
        ("heeb:survival=inv", "heeb: survival=inv is not exp or fixed"),
        ("heeb:alpha=-1", "heeb: alpha=-1.0 is not from 0 to"),
        ("heeb:survival=fixed,alpha=0.5", "heeb: alpha=0.5 is less than 1, the least for fixed"),
        ("heeb:alpha=0.0001", "heeb: alpha=0.0001 is less than 0.05, the least for exp"),
        ("heeb:sample=-2", "heeb: sample=-2 is not from 0 to"),
        ("heeb:warmup=3", "heeb: warmup=3 is not from 10 to 4096"),
        ("heeb:counts=none", "heeb: counts=none is not"),
        ("heeb:left=Trend", "heeb: left=Trend is not an object of Trend, Walk, Ar1 or Markov"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(PolicyError, match=message):
        parse_policy(spec)


def test_laws_that_cannot_be_used():
    law = Trend(1, 0, DiscreteLaw.uniform(-3, 3))
    with pytest.raises(PolicyError, match="both streams, left and right, or of none"):
        Heeb(left=law)
    with pytest.raises(PolicyError, match="is not an object of Trend, Walk, Ar1 or Markov"):
        Heeb(left=law, right=Stationary.fit([1, 2]))
    wild = Walk(DiscreteLaw.normal(1, mean=1e4))
    with pytest.raises(PolicyError, match="left=Walk,right=Walk: it goes too far"):
        trace_engine(
            Heeb(left=wild, right=wild, alpha=1000), [(0, 0, 1), (1, 0, 1)] * 2,
            (UnlimitedWindow(), UnlimitedWindow()), 2,
        )  # fmt: skip
