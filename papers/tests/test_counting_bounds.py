"""The bounds by hand, by plain sums and against what Lossy Counting really needs."""

from math import comb, log

import numpy as np
import pytest

from recollect.counting import LossyCounter
from recollect.errors import InputError
from recollect.streams import ZipfStream
from recollect_papers.theory import (
    general_bound,
    independent_bound,
    popularity_bound,
    zipf_bound,
)


@pytest.mark.parametrize(("z", "entries"), [(1.1, 3869), (1.3, 2409), (1.5, 2089)])
def test_table_1_of_the_paper(z, entries):
    assert zipf_bound(0.001, z) == pytest.approx(entries, rel=0.001)
    assert independent_bound(0.001) == pytest.approx(7000)


def test_general_bound():
    assert general_bound(0.01, 100_000) == pytest.approx(100 * log(1000))
    assert general_bound(0.01, 50) == pytest.approx(100)


def equation_5(p, width, buckets):
    """For one key: summed as it stands, and cut at 1."""
    total = 0.0
    for i in range(2, buckets + 1):
        n = width * (i - 1)
        total += p * width * sum(
            comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(i - 1, n + 1)
        )  # fmt: skip
    return min(total, 1.0)


@pytest.mark.parametrize("buckets", [0, 1, 2, 5, 12])
def test_equation_5(buckets):
    popularity = np.array([0.5, 0.2, 0.1, 0.08, 0.05, 0.03, 0.02, 0.01, 0.007, 0.003])
    expected = sum(equation_5(p, 20, buckets) for p in popularity)
    assert popularity_bound(0.05, popularity, 20 * buckets + 5) == pytest.approx(expected)


def test_one_key_only():
    assert popularity_bound(0.1, [7], 1000) == pytest.approx(1)


@pytest.mark.parametrize("z", [1.1, 1.5])
def test_bounds_hold(z):
    """Expected numbers, so compared with the mean over the second half of a long stream."""
    codes = ZipfStream(200_000, keys=3000, exponent=z, seed=1).table()["key"].to_numpy()
    counter, entries = LossyCounter(0.001), []
    for bucket in np.split(codes, 200):
        for part in (bucket[:-1], bucket[-1:]):  # its last tuple ends a bucket
            counter.add(part)
            entries.append(counter.entries)
    ranks = np.arange(1, 3001.0) ** -z
    before, after = np.mean(np.reshape(entries, (-1, 2))[100:], axis=0)
    bound = popularity_bound(0.001, ranks, len(codes))
    assert after < bound < 2 * after
    assert before < zipf_bound(0.001, z) < independent_bound(0.001)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: zipf_bound(0.001, 1), "z must be more than 1"),
        (lambda: zipf_bound(0.001, 2.5), "z must be a number from 1 to 2, not 2.5"),
        (lambda: zipf_bound(0, 1.5), "epsilon must be a number from 1e-12 to 1, not 0"),
        (lambda: independent_bound(-1), "epsilon"),
        (lambda: general_bound(0.1, 0), "tuples must be a whole number of at least 1, not 0"),
        (lambda: popularity_bound(0.1, [], 10), "popularity must be"),
        (lambda: popularity_bound(0.1, [1, -1], 10), "popularity must be"),
        (lambda: popularity_bound(0.1, [[1]], 10), "popularity must be"),
    ],
)
def test_bad_parameters(call, says):
    with pytest.raises(InputError, match=says):
        call()
