"""LocalityStream follows its model, compared with a naive twin in plain Python."""

import random

import numpy as np
import pytest

from recollect.streams import LocalityStream


def naive(tuples, keys, exponent, weights, seed):
    """Draw the model word for word."""
    source = random.Random(seed)
    popularity = [rank**-exponent for rank in range(1, keys + 1)]
    stream = []
    for n in range(tuples):
        lags = range(1, len(weights) + 1)
        lag = source.choices([*lags, None], [*weights, max(0.0, 1 - sum(weights))])[0]
        if lag is None or lag > n:
            stream.append(source.choices(range(keys), popularity)[0])
        else:
            stream.append(stream[n - lag])
    return np.array(stream)


def equal_at_lag(stream, lag):
    return np.mean(stream[lag:] == stream[:-lag])


@pytest.mark.parametrize(
    "weights", [[0.5], [0.0, 0.4], [0.2, 0.1, 0.3], [0.05] * 10], ids=lambda w: f"{len(w)} lags"
)
def test_coincidences_match_the_naive_twin(weights):
    twin = naive(40_000, 200, 0.8, weights, seed=5)
    stream = LocalityStream(400_000, keys=200, exponent=0.8, weights=weights, seed=5)
    drawn = stream.table()["key"].to_numpy()
    for lag in range(1, len(weights) + 3):
        assert equal_at_lag(drawn, lag) == pytest.approx(equal_at_lag(twin, lag), abs=0.02)


def test_each_lag_copies_with_its_own_probability():
    # With so many keys that fresh ones never meet, a match at a lag is a copy, not chance.
    stream = LocalityStream(200_000, keys=2**40, exponent=0.0, weights=[0.0, 0.0, 0.3], seed=2)
    drawn = stream.table()["key"].to_numpy()
    assert equal_at_lag(drawn, 3) == pytest.approx(0.3, abs=0.01)
    assert equal_at_lag(drawn, 6) == pytest.approx(0.09, abs=0.01)
    assert equal_at_lag(drawn, 1) == equal_at_lag(drawn, 2) == 0


def test_default_weights_share_repeat_evenly():
    even = LocalityStream(5_000, repeat=0.6, depth=3, seed=4)
    given = LocalityStream(5_000, weights=[0.2, 0.2, 0.2], seed=4)
    assert even.table()["key"] == given.table()["key"]
    fresh = len(set(LocalityStream(50_000, keys=2**40, exponent=0).table()["key"].to_pylist()))
    assert fresh == pytest.approx(25_000, rel=0.03)


def test_without_repeats_the_popularity_is_zipf():
    drawn = LocalityStream(200_000, keys=10, exponent=1.0, repeat=0.0).table()["key"].to_numpy()
    expected = np.arange(1, 11) ** -1.0 / sum(1 / r for r in range(1, 11))
    np.testing.assert_allclose(np.bincount(drawn) / 200_000, expected, atol=0.005)


def test_full_repetition_copies_the_start_forever():
    keys = LocalityStream(100, weights=[0.0, 0.0, 1.0], seed=9).table()["key"].to_pylist()
    assert keys == (keys[:3] * 34)[:100]
    assert len(set(keys)) == 3


def test_weights_are_taken_over_not_referred_to():
    weights = [0.5, 0.2]
    stream = LocalityStream(100, weights=weights)
    before = stream.table()
    weights[0] = 0.0
    assert stream.table() == before
