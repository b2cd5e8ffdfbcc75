"""The slope of Zipfian popularity is recovered, with an error that says how well."""

import numpy as np
import pytest

from recollect.locality import Popularity, fit_zipf
from recollect.streams import LocalityStream, ZipfStream


def counts_of(stream) -> np.ndarray:
    return Popularity.of(np.bincount(stream.table()["key"].to_numpy())).counts


@pytest.mark.parametrize("exponent", [0.0, 0.5, 0.8, 1.0, 1.3])
def test_the_slope_of_a_drawn_stream(exponent):
    stream = ZipfStream(300_000, keys=5_000, exponent=exponent, seed=4)
    fit = fit_zipf(counts_of(stream)[: stream.keys])
    assert fit.slope == pytest.approx(exponent, abs=0.06)
    assert fit.error < 0.05


def test_repeats_do_not_change_the_slope():
    stream = LocalityStream(300_000, keys=5_000, exponent=0.8, repeat=0.6, depth=20, seed=4)
    assert fit_zipf(counts_of(stream)).slope == pytest.approx(0.8, abs=0.06)


def test_the_error_grows_with_the_distance_from_a_power_law():
    ranks = np.arange(1, 2_001)
    straight = fit_zipf((1e7 / ranks).astype(np.int64))
    bent = fit_zipf((1e7 * np.exp(-ranks / 300)).astype(np.int64))
    assert straight.error < 0.005 < 0.05 < bent.error


def test_rare_keys_have_no_say():
    many = (1e5 / np.arange(1, 101)).astype(np.int64)
    rare = np.ones(50_000, np.int64)
    with_rare = fit_zipf(np.concatenate([many, rare]))
    assert with_rare.slope == pytest.approx(fit_zipf(many).slope)
    assert with_rare.last_rank == 100


def test_what_is_too_little_for_a_slope():
    assert fit_zipf(np.array([1_000])) is None
    two = fit_zipf(np.array([400, 100]))
    assert (two.slope, two.error) == (pytest.approx(2.0), None)
    few = fit_zipf(np.array([4, 3, 2, 1]))  # less than 30 tuples each: all take part
    assert few.slope > 0
    assert few.last_rank == 4
