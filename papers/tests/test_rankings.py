"""Rankings: the same stream under other names, popular keys becoming rare or others popular."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import InputError
from recollect.streams import LocalityStream, TrendStream, UniformIntervals, ZipfStream
from recollect_papers.streams import ParetoStream, RankedStream
from recollect_papers.streams.ranked import ROUNDS, shuffled

STREAMS = [
    ZipfStream(5_000, keys=40, exponent=1.2),
    LocalityStream(5_000, keys=40),
    ParetoStream(5_000, keys=40),
]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 300), st.integers(0, 2**32))
def test_a_shuffle_is_a_permutation(size, seed):
    secrets = np.random.default_rng(seed).integers(2**63, size=ROUNDS)
    assert sorted(shuffled(np.arange(size), size, secrets)) == list(range(size))


def test_shuffles_have_no_order_left():
    """Over many secrets, every key goes everywhere about equally often, also of large domains."""
    size, places = 12, np.zeros((12, 12))
    for seed in range(3_000):
        secrets = np.random.default_rng(seed).integers(2**63, size=ROUNDS)
        places[np.arange(size), shuffled(np.arange(size), size, secrets)] += 1
    assert np.abs(places - 250).max() < 6 * np.sqrt(250)
    secrets = np.arange(ROUNDS)
    far = shuffled(np.arange(1000), 2**40, secrets)
    assert len(set(far.tolist())) == 1000
    assert far.mean() == pytest.approx(2**39, rel=0.1)
    assert abs(np.corrcoef(np.arange(1000), far)[0, 1]) < 0.1


@pytest.mark.parametrize("stream", STREAMS, ids=lambda s: type(s).__name__)
def test_only_the_names_of_keys_change(stream):
    plain = stream.table()
    for ranking in ("direct", "inverse", "random"):
        renamed = RankedStream(stream, ranking, seed=3).table()
        assert renamed["time"] == plain["time"]
        pairs = set(zip(plain["key"].to_pylist(), renamed["key"].to_pylist(), strict=True))
        used = len(set(plain["key"].to_pylist()))
        assert len(pairs) == used == len({new for _, new in pairs})
        assert (ranking == "direct") == all(old == new for old, new in pairs)
        if ranking == "inverse":
            assert all(old + new == 39 for old, new in pairs)


def test_correlation_of_popularity():
    def counts(stream):
        return np.bincount(stream.table()["key"].to_numpy(), minlength=40)

    left, right = (ZipfStream(50_000, keys=40, exponent=1.2, seed=s) for s in (1, 2))
    matches = {
        ranking: counts(left) @ counts(RankedStream(right, ranking, seed=1))
        for ranking in ("direct", "random", "inverse")
    }
    assert matches["direct"] > 2 * matches["random"] > 2 * matches["inverse"]


def test_rankings_and_bursts_can_be_stacked():
    twice = RankedStream(RankedStream(STREAMS[0], "inverse"), "inverse")
    assert twice.table() == STREAMS[0].table()


def test_errors():
    with pytest.raises(InputError, match="direct, inverse or random, not 'reverse'"):
        RankedStream(STREAMS[0], "reverse")
    for stream in (TrendStream(10), UniformIntervals(10)):
        with pytest.raises(InputError, match=f"{type(stream).__name__} has no popularity ranking"):
            RankedStream(stream)
