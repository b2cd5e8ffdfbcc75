"""Predictions under the locality model: against powers of the matrix, the recursion, and chance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import InputError
from recollect.locality.model import LocalityModel
from recollect.locality.prediction import descendants, predict
from recollect.streams import LocalityStream
from recollect_papers.theory import expected_occurrences, probabilities
from tests.naive import locality_model as naive

shares = st.lists(st.integers(0, 5), min_size=2, max_size=6).filter(sum)


def _model(parts):
    *weights, b = np.array(parts) / sum(parts)
    return LocalityModel(np.array(weights), float(b))


@settings(max_examples=50, deadline=None)
@given(shares, st.integers(1, 12))
def test_column_sums_against_the_power_of_the_matrix(parts, horizon):
    model = _model(parts)
    by_lag, fresh = naive.column_sums(model.weights, model.b, horizon)
    prediction = predict(model, horizon)
    assert prediction.by_lag == pytest.approx(by_lag, abs=1e-12)
    assert prediction.fresh == pytest.approx(fresh)
    assert prediction.by_lag.sum() + prediction.fresh == pytest.approx(horizon)


@settings(max_examples=50, deadline=None)
@given(shares, st.lists(st.integers(0, 2), max_size=9), st.integers(0, 12))
def test_lemma_3_is_the_sum_of_the_recursion(parts, recent, horizon):
    model = _model(parts)
    chances = probabilities(model, 1, recent, 0.2, horizon)
    assert len(chances) == horizon
    assert expected_occurrences(predict(model, horizon), 1, recent, 0.2) == pytest.approx(
        chances.sum()
    )


def test_against_what_streams_do():
    """The mean over many streams that begin alike."""
    weights = [0.1, 0.3, 0.2]
    model = LocalityModel(np.array(weights), 0.4)
    horizon = 6
    seen = []
    for seed in range(300):
        keys = (
            LocalityStream(tuples=3000, keys=4, exponent=0, weights=weights, seed=seed)
            .table()["key"]
            .to_numpy()
        )
        for at in range(40, len(keys) - horizon, 10):
            if keys[at - 3 : at].tolist() == [1, 0, 1]:
                seen.append((keys[at : at + horizon] == 1).sum())
    assert len(seen) > 1000
    expected = expected_occurrences(predict(model, horizon), 1, [1, 0, 1], 0.25)
    assert np.mean(seen) == pytest.approx(expected, abs=4 * np.std(seen) / len(seen) ** 0.5)


def test_a_tuple_has_one_descendant_per_1_over_b():
    model = LocalityModel(np.full(50, 0.7 / 50), 0.3)
    assert descendants(model, 5_000)[-1] == pytest.approx(1 / 0.3)
    assert descendants(model, 0).tolist() == [0]


def test_popularity_decides_in_the_long_run():
    prediction = predict(LocalityModel(np.full(50, 0.7 / 50), 0.3), 100_000)
    assert prediction.fresh / 100_000 == pytest.approx(1, abs=0.001)


def test_bad_input():
    model = LocalityModel(np.array([0.5]), 0.5)
    with pytest.raises(InputError, match="horizon must be a whole number of at least 0, not -1"):
        predict(model, -1)
    with pytest.raises(InputError, match="horizon must be a whole number"):
        probabilities(model, 1, [1], 0.5, 2.5)
