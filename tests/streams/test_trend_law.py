"""Trends and walks follow the law that their dataclass shows."""

from math import inf

import numpy as np
import pytest

from recollect.streams import TrendStream, WalkStream
from recollect.streams.noise import DiscreteLaw


def keys(stream):
    return stream.table()["key"].to_numpy()


def assert_follows(drawn, law):
    """Chi-square over the values that are expected often enough."""
    expected = law.weights * len(drawn)
    assert drawn.min() >= law.low
    assert drawn.max() < law.low + len(expected)
    observed = np.bincount(drawn - law.low, minlength=len(expected))
    likely = expected > 5
    freedom = likely.sum() - 1
    distance = ((observed - expected)[likely] ** 2 / expected[likely]).sum()
    assert distance < freedom + 5 * np.sqrt(2 * freedom) + 1e-9
    assert observed[~likely].sum() < expected[~likely].sum() + 20


def moments(law):
    mean = (law.values * law.weights).sum()
    return mean, np.sqrt(((law.values - mean) ** 2 * law.weights).sum())


@pytest.mark.parametrize("deviation", [1.0, 2.0, 3.3, 5.0, inf])
def test_noise_around_the_trend(deviation):
    stream = TrendStream(100_000, lag=1, deviation=deviation, bound=10, seed=1)
    assert_follows(keys(stream) - np.arange(-1, 99_999), stream.noise)


def test_bounds_and_normalisation():
    for law in (
        DiscreteLaw.uniform(-10, 10),
        DiscreteLaw.normal(3.3, 10),
        DiscreteLaw.normal(5, 15),
    ):
        assert law.weights.sum() == pytest.approx(1, abs=1e-12)
        assert law.values[0] == -law.values[-1]
        assert np.all(law.weights > 0)
        np.testing.assert_allclose(law.weights, law.weights[::-1])
    assert DiscreteLaw.uniform(0, 0).weights.tolist() == [1.0]


@pytest.mark.parametrize(("mean", "deviation"), [(0, 1), (2, 1), (-0.4, 1.5), (0.3, 40)])
def test_a_discrete_normal_law_has_the_moments_asked_for(mean, deviation):
    law = DiscreteLaw.normal(deviation, mean=mean)
    assert moments(law) == pytest.approx((mean, deviation), abs=1e-6)


@pytest.mark.parametrize("slope", [0.25, -0.5, 3.0])
def test_slope(slope):
    stream = TrendStream(1000, slope=slope, lag=2, bound=0)
    assert keys(stream).tolist() == [int(np.floor(slope * (t - 2))) for t in range(1000)]


@pytest.mark.parametrize(("drift", "deviation"), [(0.0, 1.0), (2.0, 1.0), (-0.3, 2.5)])
def test_steps_of_a_walk(drift, deviation):
    stream = WalkStream(100_000, drift=drift, deviation=deviation, start=5, seed=2)
    assert_follows(np.diff(keys(stream), prepend=5), stream.step)
    assert moments(stream.step) == pytest.approx((drift, deviation), abs=1e-6)


def test_the_least_likely_noise_is_drawn_too():
    law = DiscreteLaw(3, np.array([0.001, 0.0, 0.999]))
    drawn = law.sampler(np.random.default_rng(1))(100_000)
    assert set(drawn.tolist()) == {3, 5}
