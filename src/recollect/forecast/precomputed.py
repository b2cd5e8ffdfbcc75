"""HEEB's scores computed once for all times: curves and surfaces to look scores up in.

=================  ================================================================================
trend              a curve over the distance of a value from the line of the trend
random walk        a curve over the distance of a value from the last one (the paper's h1)
Markov chain       a matrix over the last value and the value, by one inversion
AR(1)              the same, of its chain (the paper's h2)
=================  ================================================================================

Let P be the transitions of a chain and γ = exp(-1/α). The sum over all Δ of γ^Δ P^Δ is N - I with
N = (I - γP)^-1: the scores for joins. Every visit begins with a first one, so dividing column v by
N[v, v] leaves the first visits only: the scores for caches. A walk is such a chain without ends,
which looks the same from everywhere, so that one line of N says all.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 6.1 (Corollary 5,
Theorem 3).
"""

from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.forecast.base import Now, Probabilities
from recollect.forecast.markov import Markov
from recollect.forecast.survival import NEGLIGIBLE, Survival, decay
from recollect.forecast.trend import Trend
from recollect.forecast.walk import Walk
from recollect.streams.checks import whole_numbers
from recollect.streams.noise import DiscreteLaw

FINE = 16
"""Places of a curve per whole distance, where the trend does not move in whole numbers."""
MOST_PLACES = 2**22


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores by the distance of a value from where its partner stream is.

    Attributes
    ----------
    low
        The place of the least distance.
    scores
        The scores at the places ``low``, ``low + 1``, …; beyond, they are negligible.
    per_unit
        How many places there are from one whole distance to the next.
    """

    low: int
    scores: NDArray[np.float64]
    per_unit: int = 1

    def at(self, distances: ArrayLike) -> Probabilities:
        """Look up the scores at the places nearest to some distances."""
        exact = np.asarray(distances, np.float64) * self.per_unit
        places = np.floor(exact + 0.5).astype(np.int64) - self.low
        inside = (places >= 0) & (places < len(self.scores))
        return np.where(inside, self.scores[np.where(inside, places, 0)], 0.0)


@dataclass(frozen=True, eq=False)
class Surface:
    """Scores by the last value of the partner stream (lines) and the value (columns).

    Attributes
    ----------
    states
        The values that lines and columns stand for.
    scores
        The scores.
    """

    states: NDArray[np.int64]
    scores: NDArray[np.float64]

    def at(self, values: ArrayLike, last: int) -> Probabilities:
        """Look scores up; values that never come score 0."""
        wanted = np.append(whole_numbers(values), last)
        places = np.minimum(np.searchsorted(self.states, wanted), len(self.states) - 1)
        known = self.states[places] == wanted
        if not known[-1]:
            raise InputError(f"the last value {last} is not among the states of this surface")
        return np.where(known, self.scores[places[-1], places], 0.0)[:-1]


def trend_curve(law: Trend, survival: Survival, caching: bool = False) -> Curve:
    """Score every distance of a value from the line of a trend, ``slope · time + intercept``.

    The distance also says where the line is between two whole numbers, since the value is one of
    them. So the curve is exact for a trend that moves in whole numbers or sixteenths; for others
    each distance is taken as the nearest sixteenth.

    Examples
    --------
    >>> from recollect.forecast import DiscreteLaw
    >>> curve = trend_curve(Trend(1, 7, DiscreteLaw.uniform(-2, 2)), Survival("exp", 5))
    >>> curve.at([-2, -1, 0, 1]).round(3)
    array([0.   , 0.164, 0.298, 0.408])
    """
    whole = law.slope == round(law.slope) and law.intercept == round(law.intercept)
    per_unit = 1 if whole else FINE
    reach = law.slope * survival.horizon
    low = floor((law.noise.low - 0.5 + min(0.0, reach)) * per_unit)
    high = ceil((law.noise.high + 0.5 + max(0.0, reach)) * per_unit)
    if high - low > MOST_PLACES:
        raise InputError(
            f"a trend of slope {law.slope} goes too far in {survival.horizon} steps for a curve;"
            " take a smaller alpha or coarser units"
        )
    distances = np.arange(low, high + 1) / per_unit
    deltas = np.arange(1, survival.horizon + 1)
    scores, not_yet = np.zeros(len(distances)), np.ones(len(distances))
    for delta, weight in zip(deltas, survival.at(deltas), strict=True):
        chance = law.noise.at(np.ceil(distances - law.slope * delta - 0.5))
        scores += weight * chance * not_yet
        if caching:
            not_yet *= 1 - chance
    return Curve(low, scores, per_unit)


def walk_curve(law: Walk, survival: Survival, caching: bool = False) -> Curve:
    """Score every distance from the last value of a random walk (the paper's h1).

    Examples
    --------
    >>> from recollect.forecast import DiscreteLaw
    >>> curve = walk_curve(Walk(DiscreteLaw.normal(1)), Survival("exp", 10))
    >>> bool(curve.at([0]) > curve.at([1]) > curve.at([2]))
    True
    """
    low, high = _reach(law.steps, survival.horizon)
    if caching and survival.kind != "exp":
        distances = np.arange(low, high + 1)
        first = law.first_probabilities(distances, survival.horizon, Now.after([0]))
        return Curve(low, first @ survival.at(np.arange(1, survival.horizon + 1)))
    # Sums of steps are products of transforms, so the sum over all Δ is a geometric series.
    places = 1 << (high - low).bit_length()
    steps = np.zeros(places)
    values = np.arange(law.steps.low, law.steps.high + 1)
    np.add.at(steps, values % places, law.steps.weights)
    ratio = np.fft.rfft(steps)
    if survival.kind == "exp":
        ratio = ratio * decay(survival.scale)
        series = ratio / (1 - ratio)
    else:
        endless = np.abs(1 - ratio) < NEGLIGIBLE
        series = ratio * (1 - ratio**survival.horizon) / np.where(endless, 1, 1 - ratio)
        series[endless] = survival.horizon
    scores = np.maximum(np.fft.irfft(series, places)[np.arange(low, high + 1) % places], 0.0)
    if caching:
        scores /= 1 + (scores[-low] if low <= 0 <= high else 0)
    counting = np.flatnonzero(scores > NEGLIGIBLE * scores.max())
    first, last = counting[0], counting[-1]
    return Curve(low + int(first), scores[first : last + 1])


def _reach(steps: DiscreteLaw, horizon: int) -> tuple[int, int]:
    """Between which distances a walk is almost certain to be after so many steps or fewer."""
    values = np.arange(steps.low, steps.high + 1)
    mean = steps.mean
    deviation = float(np.sqrt(steps.weights @ (values - mean) ** 2))
    # No further than all steps at their greatest, nor than eight deviations of their sum.
    low = max(steps.low * horizon, floor(min(0.0, mean * horizon) - 8 * deviation * horizon**0.5))
    high = min(steps.high * horizon, ceil(max(0.0, mean * horizon) + 8 * deviation * horizon**0.5))
    low, high = min(low, steps.low), max(high, steps.high)
    if high - low > MOST_PLACES:
        raise InputError(
            f"a walk whose steps deviate by {deviation:.3g} goes too far in {horizon} steps for a"
            " curve; take a smaller alpha or coarser units"
        )
    return low, high


def markov_surface(law: Markov, alpha: float, caching: bool = False) -> Surface:
    """Score every value from every state of a chain, exactly, by one matrix inversion.

    Examples
    --------
    >>> law = Markov(states=[3, 8], transitions=[[0.5, 0.5], [1, 0]])
    >>> markov_surface(law, alpha=10, caching=True).at([3, 8], last=8).round(3)
    array([0.905, 0.748])
    """
    identity = np.eye(len(law.states))
    visits = np.linalg.inv(identity - decay(alpha) * law.transitions)
    scores = visits - identity
    return Surface(law.states, scores / np.diag(visits) if caching else scores)
