"""Entropy under the locality model, against its definition written out for every key."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.locality import (
    Coincidences,
    KeyNumbers,
    LocalityModel,
    conditional_entropy,
    entropy_iid,
    fit_locality,
    permutation,
)
from recollect.streams import LocalityStream, ZipfStream
from tests.naive import locality as naive
from tests.policies.scenarios import examples


def measured(keys, model) -> float:
    numbering = KeyNumbers()
    numbers = numbering.add(np.array(keys, np.int64))
    counts = numbering.counts
    shares = counts / len(keys)
    return conditional_entropy(numbers, shares, model, entropy_iid(counts)) / len(keys)


@given(
    keys=st.lists(st.integers(0, 6), min_size=1, max_size=40),
    parts=st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.5]), min_size=2, max_size=9),
)
@examples(30)
def test_as_the_definition(keys, parts):
    whole = sum(parts) or 1.0
    *weights, b = [part / whole for part in parts] if sum(parts) else [*parts[:-1], 1.0]
    model = LocalityModel(np.array(weights), b)
    assert measured(keys, model) == pytest.approx(
        naive.conditional_entropy(keys, weights, b), abs=1e-9
    )


def test_without_copies_it_is_that_of_one_draw():
    keys = [1, 2, 2, 3, 3, 3, 3, 3]
    alone = naive.entropy([1 / 8, 2 / 8, 5 / 8])
    assert entropy_iid(np.array([2, 5, 1])) == pytest.approx(alone)
    assert measured(keys, LocalityModel(np.zeros(3), 1.0)) == pytest.approx(alone)
    assert entropy_iid(np.array([9])) == 0


def test_the_past_of_a_part_counts_but_is_not_forecast():
    random = np.random.default_rng(0)
    numbers = random.integers(0, 5, 60).astype(np.int32)
    shares = np.bincount(numbers) / 60
    model, one_draw = LocalityModel(np.array([0.3, 0.0, 0.2]), 0.5), naive.entropy(shares)
    whole = conditional_entropy(numbers, shares, model, one_draw)
    first = conditional_entropy(numbers[:33], shares, model, one_draw)
    second = conditional_entropy(numbers[30:], shares, model, one_draw, start=3)
    assert first + second == pytest.approx(whole)


GENERATED = [
    LocalityStream(30_000, keys=keys, exponent=exponent, repeat=1 - b, depth=h, seed=7)
    for keys, exponent in ((300, 0.75), (5_000, 1.0), (300, 0.0))
    for h in (10, 50)
    for b in (0.1, 0.3, 0.7)
] + [LocalityStream(30_000, keys=500, weights=[0.0] * 29 + [0.1], seed=7)]


@pytest.mark.compiled
@pytest.mark.parametrize("stream", GENERATED, ids=str)
def test_a_permutation_has_no_less_than_the_stream(stream):
    keys = stream.table()["key"].to_numpy()
    h = 50
    found = []
    for order in (np.arange(len(keys)), permutation(len(keys), seed=1)):
        pairs = Coincidences(h)
        pairs.add(keys[order])
        counts = np.bincount(keys)
        model = fit_locality(pairs.counts, len(keys), counts)
        found.append(measured(keys[order], model))
    bound = entropy_iid(counts[counts > 0])
    assert found[0] < found[1] < bound + 0.01


def test_independent_tuples_lose_next_to_nothing():
    keys = ZipfStream(50_000, keys=500, exponent=1.0, seed=2).table()["key"].to_numpy()
    pairs = Coincidences(20)
    pairs.add(keys)
    counts = np.bincount(keys)
    alone = entropy_iid(counts[counts > 0])
    assert 0.97 * alone < measured(keys, fit_locality(pairs.counts, len(keys), counts)) <= alone
