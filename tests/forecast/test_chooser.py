"""The chooser finds the law that made a stream."""

import numpy as np
import pytest

from recollect.errors import InputError
from recollect.forecast import (
    Ar1,
    DiscreteLaw,
    Locality,
    Markov,
    Stationary,
    Trend,
    Walk,
    choose,
    judge,
)
from recollect.locality.model import LocalityModel

N = 1_500
POPULAR = Stationary(np.arange(30), np.full(30, 1 / 30))
STREAMS = {
    "trend": Trend(0.5, 3, DiscreteLaw.normal(2, bound=6)),
    "walk": Walk(DiscreteLaw(-1, [0.5, 0.0, 0.2, 0.3])),
    "ar1": Ar1(0.6, 40, 10),
    "markov": Markov(np.arange(4), np.roll(np.eye(4) * 0.7 + 0.075, 1, axis=1)),
    "stationary": Stationary(np.arange(5), np.array([0.5, 0.2, 0.1, 0.1, 0.1])),
    "locality": Locality(LocalityModel(np.array([0.0, 0.0, 0.3, 0.4]), 0.3), POPULAR),
}


@pytest.mark.parametrize("name", STREAMS)
def test_the_law_behind_a_stream_is_found(name):
    values = STREAMS[name].sample(N, seed=1)
    judged = judge(values)
    best = judged[0].log_likelihood
    # A law may be a special case of another, which is then as good.
    near = [one.name for one in judged if one.log_likelihood > best - 0.02]
    assert name in near
    assert {one.name for one in judged} == set(STREAMS)
    assert choose(values, laws=[name]).name == name


def test_something_is_always_kept_back():
    judged = judge(range(10), kept_back=0.05)
    assert judged[0].name == "trend"
    assert np.isfinite(judged[0].log_likelihood)


def test_what_cannot_be_fitted_says_why():
    values = np.random.default_rng(1).integers(0, 2**40, 300)
    judged = {one.name: one for one in judge(values)}
    assert judged["walk"].forecast is None
    assert "too far apart" in judged["walk"].reason
    assert judged["walk"].log_likelihood == -np.inf
    assert judged["stationary"].forecast is not None
    with pytest.raises(InputError, match="no law fits"):
        choose(values, laws=["walk"])


def test_mistakes():
    with pytest.raises(InputError, match="at least 10"):
        judge([1, 2, 3])
    with pytest.raises(InputError, match="kept_back"):
        judge(range(20), kept_back=1)
    with pytest.raises(InputError, match="unknown forecast"):
        judge(np.arange(20), laws=["stationery"])
