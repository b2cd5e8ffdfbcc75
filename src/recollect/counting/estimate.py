"""How many entries Lossy Counting will have on a stream with reference locality, and vice versa.

Think of each key as a queue: its occurrences enter, and when a bucket ends one of them is served.
Its entry is there as long as the queue is not empty. Let S be the occurrences in the first B
buckets. If the order of the buckets makes no difference, Spitzer's identity says that the queue
grows in bucket B by E max(S - B, 0) / B in the mean. What comes either waits or is served, so the
key has an entry at the end of bucket B, before entries go, with a probability of exactly

    E min(S, B) / B.

This grows with B towards min(1, p/ε) for a key of share p. In the long run the mean number of
entries is therefore Σ min(1, p/ε), at most 1/ε, for any stationary stream: as many must be served
as come, however they are correlated.

Reference locality matters before that: occurrences of a key come in families (a fresh draw, its
copies, their copies), S varies more, and fewer keys have an entry. Under the locality model,
families come independently of each other, so S has a generalised Poisson distribution; its variance
follows from the weights.

The peak over all buckets is estimated as the mean and √(2 ln B) standard deviations of a sum of
independent entries.

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, section 4.2, for the model and the question (their answer counts the keys
expected in each bucket), and Algorithm 3 for the error that a memory allows; Spitzer: A
Combinatorial Lemma and its Application to Probability Theory, 1956; Consul, Jain: A Generalization
of the Poisson Distribution, 1973.
"""

from math import erfc, exp, lgamma, log, nextafter, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from recollect.compiled import cached, inlined
from recollect.counting.lossy import LEAST_EPSILON, width_of
from recollect.counting.popularity import popularity_classes
from recollect.locality.model import LocalityModel
from recollect.streams.checks import require_real, require_whole

ENDLESS = 10**6
"""For a stream without end: the buckets of which the luckiest is meant."""
MOST_DISPERSED = 1e4
LARGEST_WIDTH = round(1 / LEAST_EPSILON)


def estimated_entries(
    epsilon: float,
    popularity: ArrayLike,
    model: LocalityModel | None = None,
    tuples: int | None = None,
) -> float:
    """Estimate the most entries that Lossy Counting will have at the same time.

    Parameters
    ----------
    epsilon
        The error of the counts.
    popularity
        How often each key comes, as shares or as numbers. Of a stream that repeats itself, only
        fresh draws should be counted (:func:`~recollect.counting.fresh_draws`).
    model
        How the stream repeats itself; independent tuples if left out.
    tuples
        The length of the stream; endless if left out.

    Examples
    --------
    >>> from recollect.counting import LossyCounter
    >>> from recollect.streams import ZipfStream
    >>> keys = ZipfStream(200_000, keys=3000, exponent=1.3).table()["key"].to_numpy()
    >>> counter = LossyCounter(epsilon=0.001)
    >>> counter.add(keys)
    >>> counter.entries_peak, round(estimated_entries(0.001, np.bincount(keys), tuples=200_000))
    (272, 279)
    """
    require_real("epsilon", epsilon, least=LEAST_EPSILON, most=1)
    return Estimate(popularity, model, tuples).entries(width_of(epsilon))


class Estimate:
    """The estimate for a stream, as a function of the tuples in a bucket.

    Takes the last three parameters of :func:`estimated_entries`.
    """

    def __init__(
        self, popularity: ArrayLike, model: LocalityModel | None, tuples: int | None
    ) -> None:
        if tuples is not None:
            require_whole("tuples", tuples, least=1)
        self.shares, self.keys = popularity_classes(popularity)
        self.dispersed = dispersion(model)
        self.tuples = tuples

    def entries(self, width: int) -> float:
        """Estimate the most entries for buckets of so many tuples."""
        if self.tuples is None:
            present = np.minimum(1.0, self.shares * width)
            buckets = ENDLESS
        else:
            width = min(width, self.tuples)
            buckets = self.tuples // width
            present = np.empty(len(self.shares))
            _presence(present, self.shares * width * buckets, float(buckets), self.dispersed)
        spread = sqrt(2 * log(buckets) * ((present * (1 - present)) @ self.keys))
        return float(min(present @ self.keys + spread, self.keys.sum()))


def dispersion(model: LocalityModel | None) -> float:
    """How many times more the occurrences of a rare key vary than those of independent tuples.

    >>> dispersion(None), dispersion(LocalityModel(np.array([0.5]), 0.5))
    (1.0, 3.0)
    """
    if model is None or not model.weights.any():
        return 1.0
    b = max(model.b, 1 / MOST_DISPERSED)
    copies = float(model.weights @ (1 - model.weights))
    return min(copies / b**2 + 1 / b, MOST_DISPERSED)


@cached
def _presence(present, means, buckets, dispersed):
    for i in range(len(means)):
        present[i] = _mean_up_to(buckets, means[i], dispersed) / buckets


@inlined
def _mean_up_to(most, mean, dispersed):
    """E min(S, most) for a generalised Poisson S."""
    deviation = sqrt(mean * dispersed)
    if most > mean + 12 * deviation + 40 * dispersed:
        return mean
    if most < mean - 12 * deviation:
        return most
    if mean > 1e4:
        return mean - deviation * _normal_excess((most - mean) / deviation)
    repeat = 1 - 1 / sqrt(dispersed)
    families = mean * (1 - repeat)
    missing = 0.0
    for k in range(int(most)):
        rate = families + repeat * k
        missing += (most - k) * exp(log(families) + (k - 1) * log(rate) - rate - lgamma(k + 1.0))
    return most - missing


@inlined
def _normal_excess(level):
    """E max(Z - level, 0) for a standard normal Z."""
    return exp(-level * level / 2) / sqrt(2 * pi) - level * erfc(level / sqrt(2.0)) / 2


def epsilon_for_memory(
    memory: int,
    popularity: ArrayLike,
    model: LocalityModel | None = None,
    tuples: int | None = None,
) -> float:
    """Choose the smallest error of Lossy Counting for which so many entries should suffice.

    An error matters only through the number of tuples in a bucket, so that is what is sought: the
    largest for which the estimated number of entries stays within the memory, by bisection. (The
    paper's Algorithm 3 moves the upper end of its interval in both cases and never finds its way
    back from a step that was too large.)

    Parameters
    ----------
    memory
        The most entries there may be.
    popularity, model, tuples
        As for :func:`~recollect.counting.estimated_entries`.

    Examples
    --------
    Without knowing more than that tuples are independent, one would have to take 7/1000.

    >>> import numpy as np
    >>> from recollect.streams import ZipfStream
    >>> keys = ZipfStream(200_000, keys=10_000, exponent=1.1).table()["key"].to_numpy()
    >>> round(epsilon_for_memory(1000, np.bincount(keys)), 5)
    0.00042
    """
    require_whole("memory", memory, least=1)
    estimate = Estimate(popularity, model, tuples)
    fits, too_wide = 1, (LARGEST_WIDTH if tuples is None else tuples) + 1
    while too_wide - fits > 1:
        width = (fits + too_wide) // 2
        if estimate.entries(width) <= memory:
            fits = width
        else:
            too_wide = width
    epsilon = 1 / fits
    return epsilon if width_of(epsilon) == fits else nextafter(epsilon, 1.0)
