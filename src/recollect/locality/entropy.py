"""Entropy: how much is unknown about the next tuple, in bits.

With popularity alone, it is that of one draw. With the locality model, it is the mean, over all
tuples, of the entropy of the model's forecast given the tuples before:

    P(x_n = c | x_{n-1}, … x_{n-h}) = b P(c) + sum of a_j over the lags j with x_{n-j} = c.

Only the keys of the last h tuples differ from b P(c), so the entropy of a forecast is that of all
keys without them, known in advance, and a correction for at most h keys: O(h) per tuple, however
many keys there are. A lag that reaches before the start of the stream counts as a draw.

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, section 4.3.
"""

from math import log2

import numpy as np
from numpy.typing import NDArray

from recollect.compiled import cached, inlined
from recollect.locality.model import LocalityModel


def entropy_iid(counts: NDArray[np.int64]) -> float:
    """The entropy of one draw from the keys of a stream, in bits.

    Examples
    --------
    >>> entropy_iid(np.array([4, 2, 2]))
    1.5
    """
    shares = counts / counts.sum()
    return float(-(shares @ np.log2(shares))) + 0.0


@inlined
def _bits(probability):  # type: ignore[no-untyped-def]
    return probability * log2(probability) if probability > 0.0 else 0.0


@cached
def _sum_over(  # type: ignore[no-untyped-def]
    numbers, start, shares, draws, lags, weights, b, of_one_draw, copies, recent
):
    total = 0.0
    for n in range(start, len(numbers)):
        drawn = b
        found = 0
        for i in range(len(lags)):
            if lags[i] > n:
                drawn += weights[i]
                continue
            key = numbers[n - lags[i]]
            if copies[key] == 0.0:
                recent[found] = key
                found += 1
            copies[key] += weights[i]
        total += drawn * of_one_draw - _bits(drawn)
        for i in range(found):
            key = recent[i]
            alone = drawn * shares[key]
            # Only at the start of the stream is there more to draw than b.
            total += draws[key] if drawn == b else _bits(alone)
            total -= _bits(alone + copies[key])
            copies[key] = 0.0
    return total


def conditional_entropy(
    numbers: NDArray[np.int32],
    shares: NDArray[np.float64],
    model: LocalityModel,
    of_one_draw: float,
    start: int = 0,
) -> float:
    """The sum, over tuples, of the entropy of the forecast of each, in bits.

    Parameters
    ----------
    numbers
        The keys of the tuples, as numbers.
    shares
        By number: the popularity of the key.
    model
        The locality model.
    of_one_draw
        The entropy of one draw from all keys, also those that are not among the tuples.
    start
        The first tuple to be forecast; those before only are its past.

    Examples
    --------
    Two keys that alternate leave nothing open once the first has come:

    >>> numbers, shares = np.array([0, 1, 0, 1, 0, 1], np.int32), np.array([0.5, 0.5])
    >>> model = LocalityModel(weights=np.array([0.0, 1.0]), b=0.0)
    >>> conditional_entropy(numbers, shares, model, of_one_draw=1.0)
    2.0
    """
    lags = np.flatnonzero(model.weights) + 1
    weights = np.ascontiguousarray(model.weights[lags - 1], np.float64)
    b = float(model.b)
    draws = b * shares * np.log2(b * shares) if b else np.zeros(len(shares))
    copies, recent = np.zeros(len(shares)), np.empty(len(lags), np.int64)
    return float(
        _sum_over(numbers, start, shares, draws, lags, weights, b, of_one_draw, copies, recent)
    )
