"""Dominance: when it is certain which of two tuples is better kept, whatever comes.

A curve of expected cumulative benefit dominates another that is nowhere above it. Then some optimal
policy keeps the first tuple or forgets the second; if it is everywhere above, every optimal policy
does. Curves end at a horizon, and what is said of them holds up to there.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 5.2 (Theorem 1,
Corollary 2).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.streams.checks import require_whole


def dominates(one: ArrayLike, two: ArrayLike) -> bool:
    """Whether the first curve is nowhere below the second.

    >>> dominates([0.5, 0.5], [0.2, 0.5]), dominates([0.2, 0.5], [0.5, 0.5])
    (True, False)
    """
    return bool(np.all(np.asarray(one) >= np.asarray(two)))


def strongly_dominates(one: ArrayLike, two: ArrayLike) -> bool:
    """Whether the first curve is everywhere above the second.

    >>> strongly_dominates([0.5, 0.6], [0.2, 0.5]), strongly_dominates([0.5, 0.5], [0.2, 0.5])
    (True, False)
    """
    return bool(np.all(np.asarray(one) > np.asarray(two)))


def dominated_subset(curves: ArrayLike, most: int) -> NDArray[np.int64]:
    """Find the largest set of tuples that can be forgotten without doubt.

    Each tuple outside the set dominates each one inside.

    Parameters
    ----------
    curves
        A line per tuple.
    most
        How many tuples have to be forgotten; the set is not larger than that.

    Returns
    -------
    The numbers of the tuples, ascending; none if there is no such set.

    Examples
    --------
    Neither of the first two curves dominates the other; both dominate the third.

    >>> curves = [[0.5, 0.6], [0.1, 0.9], [0.1, 0.2]]
    >>> dominated_subset(curves, 1), dominated_subset(curves, 2)
    (array([2]), array([2]))
    """
    lines = np.asarray(curves, np.float64)
    if lines.ndim != 2:
        raise InputError(f"curves must be a line per tuple, not an array of shape {lines.shape}")
    require_whole("most", most, least=0, most=len(lines))
    # A curve that dominates another has the larger sum, so a dominated set, if there is one of some
    # size, is made of the smallest sums (up to equal curves, which are as good as each other).
    order = np.argsort(lines.sum(axis=1), kind="stable")
    inside = np.maximum.accumulate(lines[order], axis=0)
    outside = np.minimum.accumulate(lines[order][::-1], axis=0)[::-1]
    for size in range(most, 0, -1):
        if size == len(lines) or dominates(outside[size], inside[size - 1]):
            return np.sort(order[:size])
    return np.empty(0, np.int64)
