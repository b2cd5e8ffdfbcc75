"""Inter-arrival and stack distances are those of brute force, in whatever batches tuples come."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.locality import Distances, InterArrival, KeyNumbers, StackDistance, permutation
from recollect.locality.distances import BINS, EXACT_BELOW, LONGEST, bins_of, longest_in
from tests.naive import locality as naive
from tests.policies.scenarios import examples

streams = st.lists(st.integers(-3, 30), max_size=120)
TWINS = {
    "inter-arrival": (InterArrival, naive.interarrival),
    "stack": (StackDistance, naive.stack_distance),
}


def numbered(keys) -> np.ndarray:
    return KeyNumbers().add(np.array(keys, np.int64))


@pytest.mark.parametrize("name", TWINS)
@given(keys=streams, cut=st.integers(0, 120))
@examples(25)
def test_as_brute_force(name, keys, cut):
    counter, twin = TWINS[name]
    measured, numbers = counter(), numbered(keys)
    measured.add(numbers[:cut])
    measured.add(numbers[cut:])
    distances, firsts = twin(keys)
    assert measured.distances == Distances.of(np.array(distances, np.int64), firsts)


@pytest.mark.parametrize("name", TWINS)
def test_on_a_long_stream_with_more_keys_than_first_slots(name):
    # So long that slots are moved together and doubled, and that bins are wider than one distance.
    random = np.random.default_rng(1)
    keys = np.concatenate(
        [random.integers(0, 3_000, 4_000), np.arange(5_000), random.zipf(1.3, 3_000) % 5_000]
    ).tolist()
    measured, numbers = TWINS[name][0](), numbered(keys)
    for start in range(0, len(keys), 999):
        measured.add(numbers[start : start + 999])
    distances, firsts = TWINS[name][1](keys)
    assert max(distances) > EXACT_BELOW
    assert measured.distances == Distances.of(distances, firsts)


@given(st.lists(st.integers(1, LONGEST), min_size=1, max_size=20))
@examples(50)
def test_a_bin_is_narrow_and_holds_its_distances(distances):
    bins = bins_of(distances)
    assert bins.max() < BINS
    for distance, number in zip(distances, bins, strict=True):
        longest, before = longest_in(number), longest_in(number - 1)
        assert before < distance <= longest
        assert (longest - before - 1) * 1024 <= distance
        if distance < EXACT_BELOW:
            assert longest == distance == number


def test_quantiles_count_repeats_only():
    found = Distances.of([1] * 50 + [10] * 49 + [100], firsts=1000)
    assert found.quantiles() == {
        "0.1": 1, "0.25": 1, "0.5": 1, "0.75": 10, "0.9": 10, "0.99": 10,
    }  # fmt: skip
    assert found.quantile(1.0) == 100
    assert (found.within(0), found.within(9), found.within(10), found.within(10**15)) == (
        0, 50, 99, 100,
    )  # fmt: skip
    assert set(Distances.of(np.empty(0, np.int64), firsts=3).quantiles().values()) == {None}


@given(streams, st.integers(-5, 2**70))
@examples(25)
def test_the_permutation_is_that_of_the_definition(keys, seed):
    order = permutation(len(keys), seed)
    assert [keys[n] for n in order] == naive.permuted(keys, seed)


def test_other_seeds_give_other_permutations():
    orders = {tuple(permutation(50, seed).tolist()) for seed in range(20)}
    assert len(orders) == 20


def test_keys_are_numbered_by_first_appearance_and_counted():
    random = np.random.default_rng(2)
    codes = random.integers(-(2**63), 2**63 - 1, 5_000)[random.integers(0, 5_000, 20_000)]
    keys = KeyNumbers()
    numbers = np.concatenate([keys.add(part) for part in np.array_split(codes, 7)])
    known: dict[int, int] = {}
    expected = [known.setdefault(code, len(known)) for code in codes.tolist()]
    assert numbers.tolist() == expected
    assert keys.distinct == len(known)
    np.testing.assert_array_equal(keys.counts, np.bincount(numbers))


@pytest.mark.compiled
def test_inter_arrival_distances_of_a_shuffled_zipf_stream_fall_as_one_by_k():
    # Theorem 1 of the reference-locality paper: d(k) ~ 1/k for Zipf 1, here over two decades.
    from recollect.streams import ZipfStream

    keys = ZipfStream(400_000, keys=100_000, exponent=1.0, seed=3).table()["key"].to_numpy()
    arrivals = InterArrival()
    arrivals.add(numbered(keys)[permutation(len(keys), seed=1)])
    edges = np.geomspace(10, 1000, 13).round().astype(int)
    counts = arrivals.distances.counts
    density = [counts[a:b].mean() for a, b in pairwise(edges)]
    middles = np.sqrt(edges[:-1] * (edges[1:] - 1))
    slope = np.polyfit(np.log(middles), np.log(density), 1)[0]
    assert slope == pytest.approx(-1, abs=0.1)
