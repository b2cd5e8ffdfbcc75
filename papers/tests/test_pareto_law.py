"""ParetoStream: Zipfian shares, Pareto gaps, as many tuples at the start as later."""

import numpy as np
import pytest

from recollect_papers.streams import AttributesStream, ParetoStream
from recollect_papers.streams.pareto import bounded_mean, bounded_pareto


def law(keys, exponent):
    weights = np.arange(1, keys + 1, dtype=float) ** -exponent
    return weights / weights.sum()


SHAPES = [0.0, 0.75, 1.0, 2.0]


@pytest.mark.parametrize("shape", SHAPES)
def test_shares_follow_zipf_and_one_tuple_comes_per_time_unit(shape):
    table = ParetoStream(300_000, keys=20, exponent=0.75, shape=shape, seed=1).table()
    shares = np.bincount(table["key"].to_numpy()) / 300_000
    np.testing.assert_allclose(shares, law(20, 0.75), rtol=0.08)
    assert table["time"][-1].as_py() == pytest.approx(300_000, rel=0.02)


@pytest.mark.parametrize("shape", SHAPES)
def test_gaps_of_a_key_follow_a_bounded_pareto_law(shape):
    table = ParetoStream(400_000, keys=100, exponent=1.0, shape=shape, seed=2).table()
    time, key = table["time"].to_numpy(), table["key"].to_numpy()
    rare = 60
    gaps = np.diff(time[key == rare])
    shortest = 1 / law(100, 1.0)[rare] / bounded_mean(shape, 100)
    # Times are whole numbers, so a gap is off by one at most.
    assert shortest - 1 <= gaps.min()
    assert gaps.max() <= 100 * shortest + 1
    for multiple in (1.5, 2, 4, 8, 50):
        below = np.mean(bounded_pareto(np.linspace(0, 1, 100_001), shape, 100) < multiple)
        assert np.mean(gaps < multiple * shortest) == pytest.approx(below, abs=0.05)


@pytest.mark.parametrize("shape", [0.0, 0.5, 1.0, 1.7, 3.0])
def test_the_mean_of_the_law(shape):
    middle = (np.arange(1_000_000) + 0.5) / 1_000_000
    numbers = bounded_pareto(middle, shape, 50.0)
    assert numbers.mean() == pytest.approx(bounded_mean(shape, 50.0), rel=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_start_is_like_the_rest(shape):
    """Over many seeds, the first tuples take as long and have the same keys as the law says."""
    first = [ParetoStream(400, shape=shape, seed=seed).table() for seed in range(300)]
    early = np.concatenate([t["key"].to_numpy()[t["time"].to_numpy() < 100] for t in first])
    assert len(early) / 300 == pytest.approx(100, rel=0.05)
    assert np.mean(early < 10) == pytest.approx(law(100, 0.75)[:10].sum(), rel=0.06)


def test_long_bounds_make_flurries():
    def median_distance(longest):
        key = ParetoStream(50_000, longest=longest, seed=3).table()["key"].to_numpy()
        return np.median(np.diff(np.flatnonzero(key == 40)))

    assert median_distance(1_000) < median_distance(100) < median_distance(2)


def test_nearly_equal_gaps_make_a_clock():
    table = ParetoStream(100, keys=1, longest=1.01).table()
    assert 98 <= table["time"][-1].as_py() <= 101


def test_attributes_have_their_own_skew():
    stream = AttributesStream(100_000, keys=10, exponents=(0.0, 1.5), seed=1)
    table = stream.table()
    for column, exponent in (("key_1", 0.0), ("key_2", 1.5)):
        shares = np.bincount(table[column].to_numpy()) / 100_000
        np.testing.assert_allclose(shares, law(10, exponent), atol=0.006)
    assert abs(np.corrcoef(table["key_1"].to_numpy(), table["key_2"].to_numpy())[0, 1]) < 0.02
