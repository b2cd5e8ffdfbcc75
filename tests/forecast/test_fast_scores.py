"""The fast ways to HEEB's scores give what the definition gives."""

import numpy as np
import pytest

from recollect.errors import InputError
from recollect.forecast import Ar1, DiscreteLaw, Markov, Now, Stationary, Survival, Trend, Walk
from recollect.forecast.heeb_scores import caching_scores, joining_scores
from recollect.forecast.precomputed import ar1_surface, markov_surface, trend_curve, walk_curve
from recollect.forecast.survival import alpha_for_lifetime, decay, lifetime_for_alpha
from recollect_papers.theory import Known
from recollect_papers.theory.bicubic import Bicubic
from recollect_papers.theory.incremental import (
    earlier_caching_score,
    earlier_joining_score,
    joining_score_from_neighbour,
    next_caching_score,
    next_joining_score,
)

NOISE = DiscreteLaw.normal(2.5, bound=7)
TREND = Trend(2, 5, NOISE)
ALPHA = 6.0
EXP = Survival("exp", ALPHA)
SCORE = {False: joining_scores, True: caching_scores}


def at(time: int) -> Now:
    return Now(time, np.array([0]))


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


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize("slope", [1, 3, -2, 0, 0.5, -0.75])
def test_trend_curve(slope, caching):
    law = Trend(slope, 4, NOISE)
    curve = trend_curve(law, EXP, caching)
    for time in (0, 7, 30):
        line = slope * time + 4
        values = np.arange(round(line) - 60, round(line) + 60)
        expected = SCORE[caching](law, values, at(time), EXP)
        assert curve.at(values - line) == pytest.approx(expected, abs=1e-9)


def test_trend_curve_between_sixteenths():
    law = Trend(0.99, 0.3, DiscreteLaw.normal(4, bound=12))
    curve, values = trend_curve(law, EXP), np.arange(0, 80)
    exact = joining_scores(law, values, at(40), EXP)
    assert curve.at(values - (0.99 * 40 + 0.3)) == pytest.approx(exact, abs=0.02 * exact.max())


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize("drift", [0, 2])
def test_walk_curve(drift, caching):
    law = Walk(DiscreteLaw.normal(1, mean=drift))
    values = np.arange(-20, 40)
    for survival in (EXP, Survival("fixed", 8)):
        expected = SCORE[caching](law, 500 + values, Now.after([500]), survival)
        assert walk_curve(law, survival, caching).at(values) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("caching", [False, True])
def test_a_walk_without_drift_prefers_what_is_near(caching):
    curve = walk_curve(Walk(DiscreteLaw.normal(1)), Survival("exp", 10), caching)
    near_first = curve.at(np.arange(0, 60))
    assert np.all(np.diff(near_first) < 0)
    assert curve.at(-np.arange(60)) == pytest.approx(near_first, rel=1e-9)


def test_uniform_noise_and_a_rising_trend_prefer_what_is_large():
    """Section 7.3: in a cache, the smallest value goes."""
    curve = trend_curve(Trend(1, 0, DiscreteLaw.uniform(-10, 10)), Survival("exp", 10), True)
    fetched = curve.at(np.arange(-9, 11))
    assert np.all(np.diff(fetched) > 0)


def test_stationary_scores_are_in_the_order_of_popularity():
    law = Stationary(np.arange(6), np.array([0.3, 0.05, 0.2, 0.1, 0.25, 0.1]))
    scores = joining_scores(law, law.values, at(0), EXP)
    gamma = decay(ALPHA)
    assert scores == pytest.approx(law.popularity * gamma / (1 - gamma), rel=1e-9)


def test_with_the_future_known_the_cache_keeps_what_comes_next():
    """Section 7.1: LFD."""
    law = Known([1, 2, 3, 2, 1, 4])
    for survival in (Survival("inv"), EXP):
        scores = caching_scores(law, [1, 2, 3, 4, 5], Now.after([1]), survival, 10)
        assert np.argsort(-scores).tolist() == [1, 2, 0, 3, 4]


@pytest.mark.parametrize("caching", [False, True])
def test_markov_surface(caching):
    random = np.random.default_rng(1)
    law = Markov(np.arange(0, 14, 2), random.dirichlet(np.ones(7), 7))
    surface = markov_surface(law, ALPHA, caching)
    values = np.arange(-1, 14)
    for last in (0, 6, 12):
        expected = SCORE[caching](law, values, Now.after([last]), EXP)
        assert surface.at(values, last) == pytest.approx(expected, abs=1e-9)
    with pytest.raises(InputError, match="last value 3"):
        surface.at([2], 3)


@pytest.mark.parametrize("caching", [False, True])
def test_ar1_surface(caching):
    law = Ar1(0.7, 3, 4)
    values = np.arange(-20, 40)
    expected = SCORE[caching](law, values, Now.after([15]), EXP)
    assert ar1_surface(law, ALPHA, caching).at(values, 15) == pytest.approx(expected, abs=1e-9)


def test_bicubic():
    surface = ar1_surface(Ar1(0.72, 5.6, 4.2), alpha=15, caching=True)
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


def test_alpha_and_lifetime():
    for lifetime in (1.5, 10, 1e6):
        assert lifetime_for_alpha(alpha_for_lifetime(lifetime)) == pytest.approx(lifetime, rel=1e-6)
    assert alpha_for_lifetime(1) == pytest.approx(0.05)
    with pytest.raises(InputError):
        alpha_for_lifetime(0.5)


def test_a_trend_too_steep_for_a_curve():
    with pytest.raises(InputError, match="too far"):
        trend_curve(Trend(1e6, 0, NOISE), Survival("exp", 100))
