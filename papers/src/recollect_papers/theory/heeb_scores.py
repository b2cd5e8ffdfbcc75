"""HEEB's score by its definition: Σ over Δ of expected benefit at now + Δ times survival to then.

The faster ways in :mod:`~recollect.forecast.precomputed` must agree with it. A tuple whose benefit
curve dominates another's never scores less (Theorem 2).

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 5.3.
"""

import numpy as np
from numpy.typing import ArrayLike

from recollect.errors import InputError
from recollect.forecast.base import Forecast, Now, Probabilities
from recollect.forecast.survival import Survival
from recollect.streams.checks import require_whole, whole_numbers


def joining_scores(
    partner: Forecast,
    values: ArrayLike,
    now: Now,
    survival: Survival,
    horizon: int | None = None,
    lifetimes: ArrayLike | None = None,
) -> Probabilities:
    """Score buffered tuples of a join.

    Parameters
    ----------
    partner
        The law of the other stream.
    values
        The keys of the tuples.
    now
        What is known of the other stream.
    survival
        How likely a tuple is buffered still after Δ steps: ``fixed`` or ``exp``.
    horizon
        How far to look ahead; by default as far as survival does.
    lifetimes
        For windows: how many more steps each tuple can match.

    Examples
    --------
    >>> from recollect.forecast import DiscreteLaw, Trend
    >>> rising = Trend(1, 0, DiscreteLaw.uniform(-1, 1))
    >>> now = Now(time=10, recent=np.array([10]))
    >>> joining_scores(rising, [9, 10, 11, 12], now, Survival("fixed", 5)).round(2)
    array([0.  , 0.33, 0.67, 1.  ])
    """
    if not survival.for_joins:
        raise InputError(f"survival {survival.kind} is for caches only; take exp or fixed")
    deltas = _deltas(survival, horizon)
    benefits = partner.probabilities(values, deltas, now)
    return _weighed(benefits, survival, lifetimes)


def caching_scores(
    references: Forecast,
    values: ArrayLike,
    now: Now,
    survival: Survival,
    horizon: int | None = None,
    lifetimes: ArrayLike | None = None,
) -> Probabilities:
    """Score cached rows.

    Parameters
    ----------
    references
        The law of the stream of references.
    values, now, horizon, lifetimes
        As for :func:`joining_scores`.
    survival
        Of any kind.

    Examples
    --------
    >>> from recollect.forecast import Stationary
    >>> law = Stationary.fit([1, 2, 2, 2])
    >>> caching_scores(law, [1, 2], Now.after([1]), Survival("inf"), horizon=100).round(3)
    array([1., 1.])
    >>> caching_scores(law, [1, 2], Now.after([1]), Survival("inv"), horizon=100).round(3)
    array([0.462, 0.863])
    """
    deltas = _deltas(survival, horizon)
    benefits = references.first_probabilities(values, len(deltas), now)
    return _weighed(benefits, survival, lifetimes)


def _deltas(survival: Survival, horizon: int | None) -> np.ndarray:
    if horizon is None:
        horizon = survival.horizon
    require_whole("horizon", horizon, least=1)
    return np.arange(1, horizon + 1)


def _weighed(
    benefits: Probabilities, survival: Survival, lifetimes: ArrayLike | None
) -> Probabilities:
    deltas = np.arange(1, benefits.shape[1] + 1)
    if lifetimes is not None:
        benefits = np.where(deltas <= whole_numbers(lifetimes, "lifetimes")[:, None], benefits, 0.0)
    return benefits @ survival.at(deltas)
