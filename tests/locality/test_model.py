"""The locality model: the true shares come back, by both fits; the fit is the best there is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import InputError
from recollect.locality.coincidences import Coincidences
from recollect.locality.mixture import least_mixture
from recollect.locality.model import b_by_h, fit_from_chance, fit_locality
from recollect.streams import LocalityStream
from recollect_papers.theory.locality_fit import LagProducts, fit_values, locality_model
from tests.naive import locality_model as naive


def _keys(**parameters):
    return LocalityStream(**parameters).table()["key"].to_numpy()


def _permuted(keys):
    return np.random.default_rng(5).permutation(keys)


@pytest.mark.parametrize("b", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("h", [10, 50])
def test_recovery(h, b):
    keys = _keys(tuples=200_000, keys=500, exponent=0.75, repeat=1 - b, depth=h, seed=h)
    model = locality_model(keys, h)
    assert abs(model.b - b) < 0.02
    assert np.abs(model.weights - (1 - b) / h).max() < 0.01
    assert model.h == h
    assert locality_model(_permuted(keys), h).b > 0.95


def test_recovery_of_uneven_weights_among_many_keys():
    weights = [0.3, 0.0, 0.0, 0.2, 0.1]
    keys = _keys(tuples=200_000, keys=100_000, exponent=0.8, weights=weights, seed=1)
    model = locality_model(keys, 8)
    assert np.abs(model.weights - [*weights, 0, 0, 0]).max() < 0.01
    assert abs(model.b - 0.4) < 0.02
    assert locality_model(_permuted(keys), 8).b > 0.95


def test_numbering_makes_no_difference():
    keys = _keys(tuples=5_000, keys=60, repeat=0.6, depth=4, seed=2)
    names = np.random.default_rng(3).permutation(60) * 10**9
    one, two = locality_model(keys, 6), locality_model(names[keys], 6)
    assert one.b == two.b
    assert one.weights.tolist() == two.weights.tolist()


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(1, 4), st.data())
def test_shares_are_shares(keys, h, data):
    model = locality_model(keys, h)
    assert (model.weights >= 0).all()
    assert model.b >= 0
    assert model.weights.sum() + model.b == pytest.approx(1)


@pytest.mark.parametrize("seed", range(6))
def test_no_other_shares_fit_better(seed):
    """The error over all tuples and keys, against that of random shares and of near ones."""
    random = np.random.default_rng(seed)
    keys = _keys(tuples=400, keys=6, repeat=0.5, depth=3, seed=seed)
    model = locality_model(keys, 3)
    chance_of = {key: float(np.mean(keys == key)) for key in np.unique(keys)}
    fitted = np.array([*model.weights, model.b])

    def error(shares):
        return naive.squared_error(keys, shares[:-1], shares[-1], chance_of)

    least = error(fitted)
    for step in (1.0, 0.3, 0.1):
        for other in random.dirichlet(np.ones(4), 5):
            # The ends of the stream are counted in another way, which is worth far less than 0.1 %.
            assert least <= 1.001 * error((1 - step) * fitted + step * other)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**32))
def test_least_mixture_against_all_subsets(errors, dimensions, seed):
    vectors = np.random.default_rng(seed).normal(size=(errors, dimensions)).round(1)
    products = vectors @ vectors.T
    shares, best = least_mixture(products), naive.least_mixture(products)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1)
    assert shares @ products @ shares == pytest.approx(best @ products @ best, abs=1e-9)


def test_what_popularity_explains_is_not_called_correlation():
    assert locality_model([7] * 40, 5).b == 1
    assert locality_model([7], 5).b == 1
    assert locality_model(range(100), 5).b == 1


def test_b_falls_until_the_true_depth():
    keys = _keys(tuples=100_000, keys=500, exponent=0.75, repeat=0.8, depth=20, seed=4)
    pairs = Coincidences(40)
    pairs.add(keys)
    curve = b_by_h(pairs.counts, pairs.tuples, np.bincount(keys), [1, 5, 10, 20, 40])
    assert (np.diff(curve) < 0.01).all()
    assert curve[0] > 0.8
    assert curve[3:] == pytest.approx([0.2, 0.2], abs=0.02)


@pytest.mark.parametrize("origin", [1, 10**9])
def test_value_fit_against_one_equation_per_tuple(origin):
    values = _keys(tuples=500, keys=50, repeat=0.6, depth=3, seed=6) + origin
    sums = LagProducts(4)
    for start in range(0, 500, 77):
        sums.add(values[start : start + 77])
    model = fit_values(sums)
    *weights, b = naive.value_fit(values, 4)
    assert model.weights == pytest.approx(weights, abs=1e-5)
    assert model.b == pytest.approx(b, abs=1e-5)


@pytest.mark.parametrize("b", [0.3, 0.7])
def test_value_fit_recovers_b(b):
    keys = _keys(tuples=200_000, keys=500, exponent=0.75, repeat=1 - b, depth=10, seed=7) + 1
    assert abs(locality_model(keys, 10, encoding="value").b - b) < 0.03
    assert locality_model(_permuted(keys), 10, encoding="value").b > 0.95


def test_bad_input():
    with pytest.raises(InputError, match="sum to 5, but the stream has 6"):
        fit_locality([1], 6, [2, 3])
    with pytest.raises(InputError, match="tuples must be a whole number of at least 1, not 0"):
        fit_locality([0], 0, [])
    with pytest.raises(InputError, match="h must be a whole number of at least 1, not 0"):
        fit_from_chance([], 5, 0.5)
    with pytest.raises(InputError, match="depth must be a whole number from 1 to 2, not 3"):
        b_by_h([1, 1], 3, [3], [3])
    with pytest.raises(InputError, match="encoding='rank' is neither"):
        locality_model([1, 2], 1, encoding="rank")
    with pytest.raises(InputError, match="2 tuples are too few to fit h=2"):
        locality_model([1, 2], 2, encoding="value")
    with pytest.raises(InputError, match="mean of the values is 0"):
        locality_model([-1, 1, -1, 1], 1, encoding="value")
    with pytest.raises(InputError, match="finite numbers"):
        locality_model([1.0, float("nan")], 1, encoding="value")
