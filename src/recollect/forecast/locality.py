"""Values that repeat recent ones: the locality model as a forecast."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from recollect.forecast.base import (
    Forecast,
    Now,
    Probabilities,
    Values,
    first_of_hazards,
    steps_ahead,
)
from recollect.forecast.stationary import Stationary
from recollect.locality.coincidences import Coincidences
from recollect.locality.model import LocalityModel, fit_locality
from recollect.streams.checks import whole_numbers


@dataclass(frozen=True, eq=False)
class Locality(Forecast, name="locality"):
    """A value is a copy of the one i steps before with probability a_i, else a fresh draw.

    Parameters
    ----------
    model
        The probabilities a_1, …, a_h and b of a fresh draw.
    popularity
        The law of fresh draws.

    Examples
    --------
    >>> law = Locality(LocalityModel(np.array([0.0, 0.6]), b=0.4), Stationary.fit([1, 2, 3, 4]))
    >>> law.probabilities([1, 2], [1, 2, 3], Now.after([1, 2])).round(3)
    array([[0.7 , 0.1 , 0.52],
           [0.1 , 0.7 , 0.16]])

    References
    ----------
    Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
    Applications, ICDE 2006, sections 3.1 and 4.1.
    """

    model: LocalityModel
    popularity: Stationary

    @classmethod
    def fit(cls, values: ArrayLike, h: int = 50) -> Self:
        """Fit the locality model; copies reach back at most ``h`` steps."""
        numbers = whole_numbers(values, least=2)
        pairs = Coincidences(min(h, len(numbers) - 1))
        pairs.add(numbers)
        counts = np.unique(numbers, return_counts=True)[1]
        return cls(fit_locality(pairs.counts, pairs.tuples, counts), Stationary.fit(numbers))

    def _copies(self, values: Values, horizon: int, now: Now) -> Probabilities:
        """Tell how likely each value comes at now + Δ as a copy of one that has been shown."""
        weights, h = self.model.weights, self.model.h
        recent = now.recent[-h:] if h else now.recent[:0]
        # shown[:, k]: whether each value was shown k steps ago.
        shown = np.zeros((len(values), h))
        shown[:, : len(recent)] = values[:, None] == recent[::-1]
        copies = np.zeros((len(values), horizon))
        for delta in range(1, min(h, horizon) + 1):
            copies[:, delta - 1] = shown[:, : h - delta + 1] @ weights[delta - 1 :]
        return copies

    def _fresh(self, values: Values, horizon: int, now: Now) -> Probabilities:
        """Tell how likely each value is drawn afresh, also for want of one to copy at the start."""
        reach = np.minimum(len(now.recent) + np.arange(horizon), self.model.h)
        beyond = np.append(np.cumsum(self.model.weights[::-1])[::-1], 0.0)[reach]
        return np.outer(self.popularity.popularity_of(values), self.model.b + beyond)

    def probabilities(self, values: ArrayLike, deltas: ArrayLike, now: Now) -> Probabilities:
        """See :class:`Forecast`."""
        wanted, ahead = whole_numbers(values), steps_ahead(deltas)
        weights, horizon = self.model.weights, max(ahead, default=0)
        by_delta = self._copies(wanted, horizon, now) + self._fresh(wanted, horizon, now)
        for delta in range(1, by_delta.shape[1]):
            reach = min(delta, len(weights))
            by_delta[:, delta] += by_delta[:, delta - reach : delta] @ weights[:reach][::-1]
        return by_delta[:, ahead - 1]

    def first_probabilities(self, values: ArrayLike, horizon: int, now: Now) -> Probabilities:
        """See :class:`Forecast`; until a value has come, only old tuples give copies of it."""
        wanted = whole_numbers(values)
        hazards = self._copies(wanted, horizon, now) + self._fresh(wanted, horizon, now)
        return first_of_hazards(hazards)

    def sample(self, n: int, seed: int = 0) -> Values:
        """See :class:`Forecast`; what would copy a value from before the start is drawn afresh."""
        random = np.random.default_rng(seed)
        lags = 1 + np.searchsorted(np.cumsum(self.model.weights), random.random(n), "right")
        path = random.choice(self.popularity.values, n, p=self.popularity.popularity)
        for step in np.flatnonzero((lags <= self.model.h) & (lags <= np.arange(n))):
            path[step] = path[step - lags[step]]
        return path
