"""ZipfStream follows its law, from uniform to extreme skew, without a table of the keys."""

import tracemalloc

import numpy as np
import pytest

from recollect.streams import ZipfStream


def law(keys, exponent):
    weights = np.arange(1, keys + 1, dtype=float) ** -exponent
    return weights / weights.sum()


@pytest.mark.compiled
@pytest.mark.parametrize("exponent", [0.0, 0.3, 0.8, 1.0, 1.0 + 1e-12, 1.7, 3.0])
@pytest.mark.parametrize("keys", [2, 30])
def test_frequencies_follow_the_law(keys, exponent):
    tuples = 300_000
    drawn = ZipfStream(tuples, keys=keys, exponent=exponent, seed=3).table()["key"].to_numpy()
    expected = law(keys, exponent) * tuples
    observed = np.bincount(drawn, minlength=keys)
    # Chi-square has mean keys - 1 and variance 2 (keys - 1): five deviations are far out.
    distance = ((observed - expected) ** 2 / expected).sum()
    assert distance < (keys - 1) + 5 * np.sqrt(2 * (keys - 1))


@pytest.mark.compiled
def test_slope_over_many_keys():
    drawn = ZipfStream(1_000_000, keys=100_000, exponent=0.8, seed=1).table()["key"].to_numpy()
    observed = np.bincount(drawn, minlength=100_000)
    expected = law(100_000, 0.8) * len(drawn)
    edges = [0, 1, 10, 100, 1_000, 10_000]
    np.testing.assert_allclose(
        np.add.reduceat(observed, edges), np.add.reduceat(expected, edges), rtol=0.02
    )


@pytest.mark.parametrize("exponent", [30.0, 1000.0, 1e300])
def test_extreme_skew_gives_the_first_key(exponent):
    assert set(ZipfStream(1000, exponent=exponent).table()["key"].to_pylist()) == {0}


@pytest.mark.compiled
@pytest.mark.parametrize("exponent", [0.0, 0.8])
def test_many_keys_need_no_memory(exponent):
    list(ZipfStream(10).batches())  # compiled before measuring
    stream = ZipfStream(100_000, keys=50_000_000, exponent=exponent)
    tracemalloc.start()
    drawn = np.concatenate([batch["key"].to_numpy() for batch in stream.batches()])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
    assert 0 <= drawn.min() < 2_000_000
    assert 48_000_000 < drawn.max() < 50_000_000


def test_streams_of_different_seeds_share_the_ranking():
    left, right = (ZipfStream(50_000, exponent=1.2, seed=s).table()["key"] for s in (1, 2))
    assert left != right
    for keys in (left, right):
        assert np.argmax(np.bincount(keys.to_numpy())) == 0
