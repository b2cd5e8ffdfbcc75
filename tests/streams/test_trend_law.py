"""Trends, walks and AR(1) follow the law that their dataclass shows."""

import random
from math import inf

import numpy as np
import pytest

from recollect.streams import TrendStream, WalkStream
from recollect.streams.noise import Noise, discrete_normal, uniform
from recollect_papers import catalogue
from recollect_papers.streams import AutoregressiveStream
from tests.naive import streams as naive


def keys(stream):
    return stream.table()["key"].to_numpy()


def assert_follows(drawn, law):
    """Chi-square over the values that are expected often enough."""
    expected = law.probabilities * len(drawn)
    assert drawn.min() >= law.least
    assert drawn.max() < law.least + len(expected)
    observed = np.bincount(drawn - law.least, minlength=len(expected))
    likely = expected > 5
    freedom = likely.sum() - 1
    distance = ((observed - expected)[likely] ** 2 / expected[likely]).sum()
    assert distance < freedom + 5 * np.sqrt(2 * freedom) + 1e-9
    assert observed[~likely].sum() < expected[~likely].sum() + 20


def moments(law):
    mean = (law.values * law.probabilities).sum()
    return mean, np.sqrt(((law.values - mean) ** 2 * law.probabilities).sum())


@pytest.mark.parametrize("deviation", [1.0, 2.0, 3.3, 5.0, inf])
def test_noise_around_the_trend(deviation):
    stream = TrendStream(100_000, lag=1, deviation=deviation, bound=10, seed=1)
    assert_follows(keys(stream) - np.arange(-1, 99_999), stream.noise)


def test_bounds_and_normalisation():
    for law in (uniform(10), discrete_normal(0, 3.3, bound=10), discrete_normal(0, 5, bound=15)):
        assert law.probabilities.sum() == pytest.approx(1, abs=1e-12)
        assert law.values[0] == -law.values[-1]
        assert np.all(law.probabilities > 0)
        np.testing.assert_allclose(law.probabilities, law.probabilities[::-1])
    assert uniform(0).probabilities.tolist() == [1.0]


@pytest.mark.parametrize(("mean", "deviation"), [(0, 1), (2, 1), (-0.4, 1.5), (0.3, 40)])
def test_a_discrete_normal_law_has_the_moments_asked_for(mean, deviation):
    assert moments(discrete_normal(mean, deviation)) == pytest.approx((mean, deviation), abs=1e-6)


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
    law = Noise(3, np.array([0.001, 0.0, 0.999]))
    drawn = law.sampler(np.random.default_rng(1))(100_000)
    assert set(drawn.tolist()) == {3, 5}


def test_autoregressive_keys_are_those_of_the_naive_twin():
    stream = AutoregressiveStream(500, coefficient=0.9, constant=-2, deviation=3, unit=0.5, seed=4)
    source = np.random.default_rng(4)
    first = round((stream.mean + stream.spread * source.standard_normal()) / 0.5)
    noise = 3 * source.standard_normal(500)
    assert keys(stream).tolist() == naive.autoregressive(noise, first, 0.9, -2, 0.5)


@pytest.mark.parametrize("coefficient", [0.72, -0.5, 0.0])
def test_autoregressive_moments(coefficient):
    stream = AutoregressiveStream(200_000, coefficient=coefficient, seed=1)
    values = keys(stream) * stream.unit
    assert values.mean() == pytest.approx(stream.mean, abs=0.1)
    assert values.std() == pytest.approx(stream.spread, rel=0.01)
    assert np.corrcoef(values[1:], values[:-1])[0, 1] == pytest.approx(coefficient, abs=0.01)


def test_autoregressive_transitions_follow_the_law():
    stream = AutoregressiveStream(200_000, coefficient=0.8, constant=0.7, deviation=1, unit=1)
    drawn = keys(stream)
    for key in (2, 4, 6):
        after = drawn[1:][drawn[:-1] == key]
        assert len(after) > 5_000
        assert_follows(after, stream.following(key))


@pytest.mark.parametrize(("name", "known"), [("tower", 1202), ("roof", 964), ("floor", 721)])
def test_random_eviction_lands_near_the_known_values(name, known):
    """A shared buffer of 10 over 2,000 steps after a warm-up of 40, mean of five seeds."""
    results = []
    for seed in range(5):
        workload = catalogue.load(name, tuples=2_040, seed=seed)
        left, right = (keys(stream).tolist() for stream in workload.streams.values())
        source = random.Random(seed)
        results.append(naive.random_eviction(source, left, right, 10, 40, lag=1, bounds=(10, 15)))
    assert np.mean(results) == pytest.approx(known, rel=0.04)
