"""The estimate against exact expectations on small streams, and the measured peak on long ones."""

from itertools import product

import numpy as np
import pytest

from recollect.counting import LossyCounter, epsilon_for_memory, estimated_entries, fresh_draws
from recollect.counting.estimate import Estimate, dispersion
from recollect.counting.lossy import width_of
from recollect.errors import InputError
from recollect.locality.coincidences import Coincidences
from recollect.locality.model import LocalityModel, fit_locality
from recollect.streams import LocalityStream, ZipfStream
from tests.naive.lossy import Lossy

EPSILONS = [0.01, 0.003, 0.001, 0.0003]
TUPLES = 200_000


def zipf(keys, exponent):
    popularity = np.arange(1.0, keys + 1) ** -exponent
    return popularity / popularity.sum()


def test_the_identity_it_rests_on():
    """All streams of 3 buckets of 2 tuples: entries before the last bucket ends."""
    popularity = [0.5, 0.3, 0.2]
    expected = identity = 0.0
    for stream in product(range(3), repeat=6):
        chance = np.prod([popularity[key] for key in stream])
        twin = Lossy(2)
        for key in stream:
            twin.add(key)
        expected += chance * twin.before[-1]
        identity += chance * sum(min(stream.count(key), 3) for key in range(3)) / 3
    assert identity == pytest.approx(expected)


@pytest.mark.compiled
@pytest.mark.parametrize("b", [0.1, 0.3, 0.7])
@pytest.mark.parametrize(("keys", "exponent", "h"), [(500, 0.75, 50), (50_000, 0.9, 10)])
def test_locality_streams(b, keys, exponent, h):
    """With popularity and model known, and with both fitted to the stream."""
    stream = LocalityStream(TUPLES, keys=keys, exponent=exponent, repeat=1 - b, depth=h, seed=5)
    codes = stream.table()["key"].to_numpy()
    known = LocalityModel(np.full(h, (1 - b) / h), b)
    pairs = Coincidences(h)
    pairs.add(codes)
    fitted = fit_locality(pairs.counts, pairs.tuples, np.bincount(codes))
    draws = fresh_draws(codes, fitted)
    for epsilon in EPSILONS:
        counter = LossyCounter(epsilon)
        counter.add(codes)
        for popularity, model in ((zipf(keys, exponent), known), (draws, fitted)):
            estimated = estimated_entries(epsilon, popularity, model, TUPLES)
            assert estimated == pytest.approx(counter.entries_peak, rel=0.25)


def test_locality_matters_on_short_streams():
    """In 10 buckets, families of ten tuples are not half as many keys as independent tuples."""
    popularity = zipf(100_000, 0.5)
    codes = LocalityStream(10_000, keys=100_000, exponent=0.5, repeat=0.9).table()["key"]
    counter = LossyCounter(0.001)
    counter.add(codes.to_numpy())
    local = LocalityModel(np.full(50, 0.9 / 50), 0.1)
    independent, estimated = (
        estimated_entries(0.001, popularity, model, 10_000) for model in (None, local)
    )
    assert estimated == pytest.approx(counter.entries_peak, rel=0.25)
    assert independent > 1.4 * counter.entries_peak


def test_a_long_stream_needs_one_over_epsilon_at_most():
    """The mean for a stream without end, whatever its popularity."""
    for popularity in (zipf(10**5, 0.0), zipf(3000, 1.2), [1.0]):
        for width in (1, 10, 1000):
            estimate = Estimate(popularity, None, None)
            mean = np.minimum(1, estimate.shares * width) @ estimate.keys
            assert mean <= width * (1 + 1e-9)
            assert mean <= estimate.entries(width) <= len(popularity)


def test_fresh_draws():
    """Copies are told from draws: as many draws as there were, and the popularity behind them."""
    weights = np.array([0.2, 0.0, 0.3, 0.1])
    stream = LocalityStream(100_000, keys=50, exponent=1.0, weights=weights, seed=2)
    codes = stream.table()["key"].to_numpy()
    draws = fresh_draws(codes, LocalityModel(weights, 0.4))
    assert draws.sum() == pytest.approx(40_000, rel=0.02)
    popularity = zipf(50, 1.0)
    assert draws / draws.sum() == pytest.approx(popularity, rel=0.25)
    plain = np.bincount(codes) / len(codes)
    closer = np.abs(draws / draws.sum() - popularity).sum() < np.abs(plain - popularity).sum()
    assert closer
    assert fresh_draws(codes, LocalityModel(np.zeros(2), 1.0)) == pytest.approx(np.bincount(codes))


def test_dispersion():
    """Of the numbers of occurrences of a rare key in long pieces of a stream."""
    weights = np.array([0.1, 0.0, 0.3, 0.1])
    stream = LocalityStream(400_000, keys=200, exponent=0.0, weights=weights, seed=1)
    pieces = stream.table()["key"].to_numpy().reshape(400, 1000)
    counts = np.array([np.bincount(piece, minlength=200) for piece in pieces])
    measured = counts.var() / counts.mean()
    assert dispersion(LocalityModel(weights, 0.5)) == pytest.approx(measured, rel=0.05)
    assert dispersion(LocalityModel(np.zeros(3), 1.0)) == 1


@pytest.mark.compiled
@pytest.mark.parametrize("memory", [200, 1000, 3000])
@pytest.mark.parametrize("seed", [1, 2])
def test_epsilon_for_memory(memory, seed):
    """Inside the memory given, and fewer false positives than with 7/B, on a skewed stream."""
    codes = ZipfStream(TUPLES, keys=20_000, exponent=1.1, seed=seed).table()["key"].to_numpy()
    true = np.bincount(codes)
    support = 10 / memory
    epsilons = [epsilon_for_memory(memory, true, tuples=n) for n in (TUPLES, None)]
    false_positives = []
    for epsilon in (*epsilons, 7 / memory):
        counter = LossyCounter(epsilon)
        counter.add(codes)
        assert counter.entries_peak <= memory
        found = counter.frequent(support).codes
        assert set(np.flatnonzero(true >= support * TUPLES)) <= set(found)
        false_positives.append(int((true[found] < support * TUPLES).sum()))
    assert max(false_positives[:2]) < false_positives[2]


@pytest.mark.compiled
@pytest.mark.parametrize("b", [0.1, 0.5])
def test_epsilon_for_memory_on_locality_streams(b):
    stream = LocalityStream(TUPLES, keys=20_000, repeat=1 - b, seed=3)
    codes = stream.table()["key"].to_numpy()
    model = LocalityModel(np.full(50, (1 - b) / 50), b)
    for memory in (100, 1000):
        epsilon = epsilon_for_memory(memory, zipf(20_000, 0.8), model, TUPLES)
        counter = LossyCounter(epsilon)
        counter.add(codes)
        assert 0.75 * memory <= counter.entries_peak <= memory


def test_it_is_the_smallest_error():
    popularity = zipf(5000, 1.0)
    for memory in (1, 10, 333):
        epsilon = epsilon_for_memory(memory, popularity, tuples=TUPLES)
        width = width_of(epsilon)
        estimate = Estimate(popularity, None, TUPLES)
        assert estimate.entries(width) <= memory or width == 1
        assert estimate.entries(width + 1) > memory


def test_memory_for_all_keys_needs_no_error():
    assert epsilon_for_memory(500, zipf(500, 1.0), tuples=1000) == 1 / 1000
    assert epsilon_for_memory(500, zipf(500, 1.0)) == 1e-12


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: epsilon_for_memory(0, [1]), "memory must be a whole number of at least 1, not 0"),
        (lambda: epsilon_for_memory(1, [0]), "popularity must be"),
        (lambda: epsilon_for_memory(1, [1], tuples=0), "tuples must be"),
        (lambda: estimated_entries(2, [1]), "epsilon must be"),
        (lambda: estimated_entries(0.1, [1], tuples=1.5), "tuples must be"),
    ],
)
def test_bad_parameters(call, says):
    with pytest.raises(InputError, match=says):
        call()
