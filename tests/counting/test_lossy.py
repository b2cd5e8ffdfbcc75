"""Lossy Counting against its naive twin, and what it promises."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.counting import LossyCounter
from recollect.counting.lossy import as_typed, width_of
from recollect.errors import InputError
from recollect.streams import LocalityStream, ZipfStream
from tests.naive.lossy import Lossy
from tests.policies.scenarios import examples, runs

EXTREMES = [0, -1, 2**63 - 1, -(2**63), 1024]
keys = st.one_of(st.integers(0, 5), st.integers(0, 40), st.sampled_from(EXTREMES))
EPSILONS = [1.0, 0.5, 0.3, 0.1, 0.07, 0.01]


def by_key(entries) -> dict:
    columns = (entries.codes.tolist(), entries.counts.tolist(), entries.errors.tolist())
    return {code: [count, error] for code, count, error in zip(*columns, strict=True)}


@examples(120)
@given(
    st.lists(runs(keys, longest=80), max_size=3),
    st.sampled_from(EPSILONS),
    st.one_of(st.none(), st.integers(1, 12)),
)
def test_same_as_the_twin(parts, epsilon, memory):
    counter, twin = LossyCounter(epsilon, memory), Lossy(width_of(epsilon), memory)
    numbers = {}
    for part in parts:
        counter.add(np.array(part, np.int64))
        for key in part:
            if key not in twin.entries:
                numbers[key] = twin.tuples
            twin.add(key)
    entries = counter.all_entries()
    assert by_key(entries) == twin.entries
    assert entries.codes.tolist() == list(twin.entries)
    assert entries.origins.tolist() == [numbers[key] for key in twin.entries]
    assert (counter.tuples, counter.missed) == (twin.tuples, twin.missed)
    assert counter.entries_peak == max([*twin.before, len(twin.entries)])
    assert counter.entries_kept == max(twin.after, default=0)


@examples(80)
@given(
    runs(keys, longest=150),
    st.sampled_from(EPSILONS[1:]),
    st.sampled_from([1.2, 2, 5]),
    st.one_of(st.none(), st.integers(3, 12)),
)
def test_promises(stream, epsilon, factor, memory):
    support = min(1.0, round(epsilon * factor, 3))
    counter = LossyCounter(epsilon, memory)
    counter.add(np.array(stream, np.int64))
    true, tuples = Counter(stream), len(stream)
    for key, (count, error) in by_key(counter.all_entries()).items():
        assert count <= true[key] <= count + error
    least = as_typed(support) * tuples
    if memory is None:
        assert counter.missed <= as_typed(epsilon) * tuples
        assert counter.epsilon == epsilon
    elif 0 < least <= counter.missed:
        with pytest.raises(InputError, match="give more memory"):
            counter.frequent(support)
        return
    found = by_key(counter.frequent(support))
    assert {key for key, count in true.items() if count >= least} <= set(found)
    slack = max(as_typed(epsilon) * tuples, Fraction(counter.missed))
    assert all(true[key] >= least - slack for key in found)
    twin = Lossy(width_of(epsilon), memory)
    for key in stream:
        twin.add(key)
    expected = twin.frequent(as_typed(support), as_typed(epsilon))
    assert {key: tuple(pair) for key, pair in found.items()} == expected


def test_a_count_exactly_at_the_support_is_found():
    """In binary floating point 0.07 * 100 and 0.29 * 100 are not 7 and 29."""
    for tenths in range(2, 100):
        stream = np.repeat(np.arange(2), [tenths, 100 - tenths])
        counter = LossyCounter(0.01)
        counter.add(stream)
        assert 0 in counter.frequent(tenths / 100).codes


@pytest.mark.compiled
@pytest.mark.parametrize(
    "stream",
    [
        ZipfStream(60_000, keys=5000, exponent=1.0, seed=1),
        LocalityStream(60_000, keys=50_000, exponent=0.6, repeat=0.7, seed=2),
        ZipfStream(60_000, keys=10**9, exponent=0.0, seed=3),
    ],
)
def test_long_streams(stream):
    codes = stream.table()["key"].to_numpy()
    true = dict(zip(*np.unique(codes, return_counts=True), strict=True))
    for epsilon in (0.02, 0.002, 0.0002):
        counter, pieces = LossyCounter(epsilon), LossyCounter(epsilon)
        counter.add(codes)
        for piece in np.array_split(codes, 7):
            pieces.add(piece)
        assert by_key(pieces.all_entries()) == by_key(counter.all_entries())
        support = 3 * epsilon
        wanted = {key for key, count in true.items() if count >= support * len(codes)}
        found = by_key(counter.frequent(support))
        assert wanted <= set(found)
        assert all(true[key] >= (support - epsilon) * len(codes) - 1e-6 for key in found)
        # The proof of the general bound, with the sum it approximates by a logarithm.
        buckets = len(codes) // width_of(epsilon)
        harmonic = sum(1 / i for i in range(1, buckets + 1))
        assert counter.entries_peak <= width_of(epsilon) * harmonic + 1


@pytest.mark.parametrize("memory", [1, 50, 1500])
def test_never_more_entries_than_memory(memory):
    codes = ZipfStream(50_000, keys=20_000, exponent=0.8).table()["key"].to_numpy()
    counter = LossyCounter(1e-6, memory)
    for piece in np.array_split(codes, 50):
        counter.add(piece)
        assert counter.entries <= counter.entries_peak <= memory
    assert counter.missed <= len(codes) / memory
    assert counter.epsilon == counter.missed / len(codes)


def test_nothing_counted():
    counter = LossyCounter(0.1)
    counter.add(np.empty(0, np.int64))
    assert (counter.tuples, counter.entries_peak, counter.epsilon) == (0, 0, 0.1)
    assert counter.frequent(0.5).codes.tolist() == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0,), "epsilon must be a number from 1e-12 to 1, not 0"),
        ((1.5,), "epsilon"),
        (("0.1",), "epsilon"),
        ((0.1, 0), "memory must be a whole number from 1"),
        ((0.1, 2.5), "memory"),
    ],
)
def test_bad_parameters(arguments, says):
    with pytest.raises(InputError, match=says):
        LossyCounter(*arguments)


def test_bad_requests():
    counter = LossyCounter(0.1)
    with pytest.raises(InputError, match=r"support 0\.1 is not more than epsilon, 0\.1"):
        counter.frequent(0.1)
    with pytest.raises(InputError, match="support must be a number from 0 to 1, not 2"):
        counter.frequent(2)
    for codes in (np.zeros(3), np.zeros((2, 2), np.int64), ["a"]):
        with pytest.raises(InputError, match="one-dimensional array of int64"):
            counter.add(codes)
