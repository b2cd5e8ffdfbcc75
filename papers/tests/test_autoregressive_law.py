"""AR(1) follows the law that its dataclass shows, and trends give what was known of them before."""

import random

import numpy as np
import pytest

from papers.tests import naive_streams as naive
from recollect_papers import catalogue
from recollect_papers.streams import AutoregressiveStream
from tests.streams.test_trend_law import assert_follows, keys


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
