"""How many entries Lossy Counting needs: what has been proved about it.

Bounds from the least to the most that is known of the stream: nothing, independent tuples,
independent tuples with Zipfian popularity, independent tuples with a given popularity. For streams
that repeat themselves see :mod:`recollect.counting.estimate`.

References
----------
Manku, Motwani: Approximate Frequency Counts over Data Streams, VLDB 2002; Li, Chang, Kollios,
Bestavros: Characterizing and Exploiting Reference Locality in Data Stream Applications, ICDE 2006,
section 4.2.
"""

from math import exp, lgamma, log, log1p

import numpy as np
from numpy.typing import ArrayLike

from recollect.compiled import cached, inlined
from recollect.counting.lossy import LEAST_EPSILON, width_of
from recollect.counting.popularity import popularity_classes
from recollect.errors import InputError
from recollect.streams.checks import require_real, require_whole


def general_bound(epsilon: float, tuples: int) -> float:
    """Entries for any stream: log(ε·N) / ε, up to the first bucket, which may hold 1/ε.

    >>> round(general_bound(0.001, tuples=1_000_000))
    6908
    """
    _require_epsilon(epsilon)
    require_whole("tuples", tuples, least=1)
    return max(log(epsilon * tuples), 1.0) / epsilon


def independent_bound(epsilon: float) -> float:
    """Expected entries for independent tuples of any popularity: 7/ε.

    >>> round(independent_bound(0.001))
    7000
    """
    _require_epsilon(epsilon)
    return 7 / epsilon


def zipf_bound(epsilon: float, z: float) -> float:
    """Expected entries for independent tuples, the r-th key in proportion to r^-z (Theorem 2).

    Parameters
    ----------
    epsilon
        The error of the counts.
    z
        The exponent, more than 1 and at most 2.

    Examples
    --------
    >>> [round(zipf_bound(0.001, z)) for z in (1.1, 1.3, 1.5)]
    [3870, 2409, 2089]
    """
    _require_epsilon(epsilon)
    require_real("z", z, least=1, most=2)
    if z == 1:
        raise InputError("z must be more than 1: Theorem 2 says nothing about flatter popularity")
    return 2 / epsilon + 4 / (2 ** (z - 1) * epsilon ** (2 - z))


def popularity_bound(epsilon: float, popularity: ArrayLike, tuples: int) -> float:
    """Expected entries after the end of a bucket, for independent tuples (equation 5).

    The equation sums, over the buckets in which a key may have got its entry, how often it came
    there times the probability that the entry has survived since. That counts a key that comes in
    many buckets many times over; as it has one entry, its part of the sum is cut at 1 here.

    Parameters
    ----------
    epsilon
        The error of the counts.
    popularity
        How likely each key is, or how often it came.
    tuples
        The length of the stream.

    Examples
    --------
    >>> from recollect.streams import ZipfStream
    >>> keys = ZipfStream(200_000, keys=3000, exponent=1.3).table()["key"].to_numpy()
    >>> round(popularity_bound(0.001, np.bincount(keys), tuples=200_000))
    166
    """
    _require_epsilon(epsilon)
    require_whole("tuples", tuples, least=1)
    shares, keys = popularity_classes(popularity)
    width = width_of(epsilon)
    sums = np.zeros(len(shares))
    _sum_of_survivals(shares, width, tuples // width, sums)
    return float(sums @ keys)


def _require_epsilon(epsilon: float) -> None:
    require_real("epsilon", epsilon, least=LEAST_EPSILON, most=1)


NEGLIGIBLE = 1e-12


@cached
def _sum_of_survivals(shares, width, buckets, sums):
    for i in range(len(shares)):
        for age in range(1, buckets):
            term = shares[i] * width * _at_least(age, age * width, shares[i])
            sums[i] += term
            if sums[i] >= 1 or term < NEGLIGIBLE:
                break
        sums[i] = min(sums[i], 1.0)


@inlined
def _at_least(least, trials, p):
    """The probability of so many successes or more."""
    if p >= 1.0:
        return 1.0
    ways = lgamma(trials + 1.0) - lgamma(least + 1.0) - lgamma(trials - least + 1.0)
    term = exp(ways + least * log(p) + (trials - least) * log1p(-p))
    total = 0.0
    for successes in range(least, trials + 1):
        total += term
        term *= (trials - successes) / (successes + 1.0) * p / (1.0 - p)
        if successes > trials * p and term < NEGLIGIBLE * total:
            break
    return total
