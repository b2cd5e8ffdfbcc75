"""Benefit curves, dominance, HEEB's scores step by step, splines, and the future itself."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InputError
from recollect.forecast import Ar1, DiscreteLaw, Markov, Now, Stationary, Survival, Trend, Walk
from recollect.forecast.precomputed import markov_surface
from recollect_papers.theory import (
    Bicubic,
    Known,
    caching_benefit,
    dominated_subset,
    dominates,
    earlier_caching_score,
    earlier_joining_score,
    joining_benefit,
    joining_score_from_neighbour,
    next_caching_score,
    next_joining_score,
    strongly_dominates,
)
from recollect_papers.theory.heeb_scores import caching_scores, joining_scores
from tests.forecast.laws import EXAMPLES
from tests.forecast.test_fast_scores import ALPHA, EXP, SCORE, TREND, at
from tests.naive import forecast as naive
from tests.policies.scenarios import examples

HORIZON = 40
SURVIVALS = [Survival("fixed", 7), Survival("inf"), Survival("inv"), Survival("exp", 6.0)]


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_curves(example):
    law, twin, history, values = example
    now = Now.after(history)
    joining = [[naive.probability(twin, history, v, d) for d in (1, 2, 3)] for v in values]
    caching = [[naive.first_probability(twin, history, v, d) for d in (1, 2, 3)] for v in values]
    assert joining_benefit(law, values, 3, now) == pytest.approx(np.cumsum(joining, 1), abs=1e-7)
    assert caching_benefit(law, values, 3, now) == pytest.approx(np.cumsum(caching, 1), abs=1e-7)


CURVES = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 2), min_size=width, max_size=width), min_size=1, max_size=6
    )
)


@examples(150)
@given(CURVES, st.data())
def test_dominated_subset_is_the_largest_there_is(lines, data):
    most = data.draw(st.integers(0, len(lines)))
    found = dominated_subset(lines, most)
    sizes = [
        size
        for size in range(most + 1)
        for inside in combinations(range(len(lines)), size)
        if naive.is_dominated(lines, set(inside))
    ]
    assert len(found) == max(sizes)
    assert naive.is_dominated(lines, set(found.tolist()))


def test_dominance_of_pairs():
    assert dominates([1, 2], [1, 2])
    assert not strongly_dominates([1, 3], [1, 2])
    assert strongly_dominates([2, 3], [1, 2])
    assert not dominates([0, 9], [1, 2])
    with pytest.raises(InputError, match="line per tuple"):
        dominated_subset([1, 2], 1)
    with pytest.raises(InputError, match="most must be"):
        dominated_subset([[1, 2]], 2)


def random_law(random: np.random.Generator):
    """A law of any kind with random parameters, and a moment in it."""
    weights = random.dirichlet(np.ones(5))
    noise = DiscreteLaw(int(random.integers(-4, 1)), weights)
    kind = random.integers(4)
    if kind == 0:
        return Stationary(np.arange(5), weights), Now.after([1])
    if kind == 1:
        return Trend(float(random.integers(-3, 4)) / 2, 0.0, noise), Now(4, np.array([0]))
    if kind == 2:
        return Walk(noise), Now.after([1])
    return Markov(np.arange(5), random.dirichlet(np.ones(5), 5)), Now.after([2])


@pytest.mark.parametrize("caching", [False, True])
def test_scores_agree_with_every_dominance(caching):
    """Theorem 2, for random laws, all survivals, and windows as long for both tuples."""
    random = np.random.default_rng(7)
    benefit = caching_benefit if caching else joining_benefit
    score = caching_scores if caching else joining_scores
    strong = weak = 0
    for _ in range(40):
        law, now = random_law(random)
        values = np.arange(-6, 12)
        lines = benefit(law, values, HORIZON, now)
        for survival in SURVIVALS:
            if not caching and not survival.for_joins:
                continue
            scores = score(law, values, now, survival, HORIZON)
            for x, y in combinations(range(len(values)), 2):
                for one, two in ((x, y), (y, x)):
                    if dominates(lines[one], lines[two]):
                        weak += 1
                        assert scores[one] >= scores[two] - 1e-12
                    if strongly_dominates(lines[one], lines[two] + 1e-12):
                        strong += 1
                        assert scores[one] > scores[two]
    assert strong > 1_000
    assert weak > strong


@pytest.mark.parametrize("caching", [False, True])
def test_time_incremental(caching):
    """Corollaries 3 and 4, forward and back."""
    forward = next_caching_score if caching else next_joining_score
    back = earlier_caching_score if caching else earlier_joining_score
    values = np.arange(20, 60)
    now, later = (SCORE[caching](TREND, values, at(t), EXP) for t in (10, 11))
    chance = TREND.probabilities(values, [1], at(10))[:, 0]
    assert forward(now, chance, ALPHA) == pytest.approx(later, abs=1e-9)
    assert back(later, chance, ALPHA) == pytest.approx(now, abs=1e-9)


def test_forward_steps_lose_their_digits_and_back_steps_do_not():
    """Why the policy must not run Corollary 3 for ever."""
    law = Stationary([1, 2], [0.1, 0.9])
    exact = joining_scores(law, [1], at(0), EXP, horizon=1_000)[0]
    forward = back = exact * (1 + 1e-15)  # off by some rounding
    for _ in range(400):
        forward = next_joining_score(forward, 0.1, ALPHA)
        back = earlier_joining_score(back, 0.1, ALPHA)
    assert abs(forward - exact) > 1
    assert back == pytest.approx(exact, rel=1e-12)


def test_value_incremental():
    """Corollary 5, towards smaller and larger values."""
    scores = dict(zip(range(60), joining_scores(TREND, np.arange(60), at(15), EXP), strict=True))
    for value in range(30, 56, 2):
        found = joining_score_from_neighbour(TREND, value, 42, scores[42], at(15), ALPHA)
        assert found == pytest.approx(scores[value], abs=1e-9)
    with pytest.raises(InputError, match="multiple of the slope"):
        joining_score_from_neighbour(TREND, 41, 42, scores[42], at(15), ALPHA)


def test_with_the_future_known_the_cache_keeps_what_comes_next():
    """Section 7.1: LFD."""
    law = Known([1, 2, 3, 2, 1, 4])
    for survival in (Survival("inv"), EXP):
        scores = caching_scores(law, [1, 2, 3, 4, 5], Now.after([1]), survival, 10)
        assert np.argsort(-scores).tolist() == [1, 2, 0, 3, 4]


def test_bicubic():
    surface = markov_surface(Ar1(0.72, 5.6, 4.2).chain, alpha=15, caching=True)
    exact = Bicubic.of(surface, len(surface.states))
    assert exact.loss(surface).largest < 1e-9
    losses = [Bicubic.of(surface, points, -10, 50).loss(surface) for points in (5, 10, 20)]
    assert losses[0].mean > losses[1].mean > losses[2].mean
    assert losses[0].largest > losses[0].mean > 0
    rough = Bicubic.of(surface)
    values = surface.states[10:20]
    assert rough.at(values, 20) == pytest.approx(rough.surface(surface.states).at(values, 20))
    assert rough.at([10_000], 20) == pytest.approx(rough.at([int(surface.states[-1])], 20))
    with pytest.raises(InputError, match="do not lie"):
        Bicubic.of(surface, 5, 10, 10_000)
    with pytest.raises(InputError, match="points must be"):
        Bicubic.of(surface, 3)


def test_the_future_is_known():
    law = Known([4, 4, 6, 4, 8, 6, 4])
    now = Now.after([4, 4])
    assert law.probabilities([4, 6, 8, 9], [3, 1, 2], now).tolist() == [
        [0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 0],
    ]  # fmt: skip
    assert law.first_probabilities([4, 6], 3, now).tolist() == [[0, 1, 0], [1, 0, 0]]
    assert law.sample(3).tolist() == [4, 4, 6]
    assert Known.fit([5, 6]).values.tolist() == [5, 6]


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: Known([1]).probabilities([1], [0], Now.after([1])), "1 step ahead, not 0"),
        (lambda: Known([1]).sample(2), "only 1 values are known"),
        (lambda: joining_benefit(Known([1]), [1], 0, Now.after([1])), "horizon must be"),
    ],
)
def test_mistakes(mistake, message):
    with pytest.raises(InputError, match=message):
        mistake()
