"""The fast ways to HEEB's scores give what the definition gives."""

import numpy as np
import pytest

from recollect.errors import InputError
from recollect.forecast import Ar1, DiscreteLaw, Markov, Now, Stationary, Survival, Trend, Walk
from recollect.forecast.precomputed import markov_surface, trend_curve, walk_curve
from recollect.forecast.survival import alpha_for_lifetime, decay
from recollect_papers.theory.heeb_scores import caching_scores, joining_scores

NOISE = DiscreteLaw.normal(2.5, bound=7)
TREND = Trend(2, 5, NOISE)
ALPHA = 6.0
EXP = Survival("exp", ALPHA)
SCORE = {False: joining_scores, True: caching_scores}


def at(time: int) -> Now:
    return Now(time, np.array([0]))


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
def test_surface_of_an_autoregressive_process(caching):
    law = Ar1(0.7, 3, 4)
    values = np.arange(-20, 40)
    expected = SCORE[caching](law, values, Now.after([15]), EXP)
    surface = markov_surface(law.chain, ALPHA, caching)
    assert surface.at(values, 15) == pytest.approx(expected, abs=1e-9)


def test_alpha_and_lifetime():
    for lifetime in (1.5, 10, 1e6):
        stays = 1 / (1 - decay(alpha_for_lifetime(lifetime)))
        assert stays == pytest.approx(lifetime, rel=1e-6)
    assert alpha_for_lifetime(1) == pytest.approx(0.05)
    with pytest.raises(InputError):
        alpha_for_lifetime(0.5)


def test_a_trend_too_steep_for_a_curve():
    with pytest.raises(InputError, match="too far"):
        trend_curve(Trend(1e6, 0, NOISE), Survival("exp", 100))
