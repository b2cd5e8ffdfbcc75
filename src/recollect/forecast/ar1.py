"""Values that are drawn back to a mean: an autoregressive process of order 1, on whole numbers.

X(t) = factor · X(t-1) + shift + normal noise, rounded to a whole number. That makes it a Markov
chain, with the numbers within eight standard deviations of the mean as its states. Measurements
with decimals are counted in their unit: 23.4 °C as 234, and then shift and deviation too are in
tenths.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.forecast.base import Forecast, Now, Probabilities, Values, steps_ahead
from recollect.forecast.markov import MOST_STATES, Markov
from recollect.streams.checks import require_real, whole_numbers

REACH = 8
"""Standard deviations from the mean after which states are left out: 1e-15 of the law."""


@dataclass(frozen=True)
class Ar1(Forecast, name="ar1"):
    """An autoregressive process of order 1 with normal noise, on whole numbers.

    Parameters
    ----------
    factor
        How much of the last value remains; between -1 and 1, not 0.
    shift
        What is added at each step.
    deviation
        Standard deviation of the noise.

    Examples
    --------
    >>> law = Ar1(factor=0.72, shift=56, deviation=42)
    >>> law.mean
    200.0
    >>> law.probability(180, delta=1, now=Now.after([170])).__round__(5)
    0.00949
    >>> fitted = Ar1.fit(law.sample(20_000, seed=1))
    >>> round(fitted.factor, 2), round(fitted.deviation)
    (0.71, 42)

    References
    ----------
    Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, sections 6.1 and 8.
    """

    factor: float
    shift: float
    deviation: float

    def __post_init__(self) -> None:
        """Check the parameters."""
        require_real("factor", self.factor, least=-1, most=1)
        if abs(self.factor) in (0, 1):
            raise InputError(
                f"factor must be between -1 and 1 and not 0, not {self.factor}; with 1 it is a"
                " random walk, with 0 stationary"
            )
        require_real("shift", self.shift, least=-(2.0**52), most=2.0**52)
        require_real("deviation", self.deviation, least=1e-9)

    @classmethod
    def fit(cls, values: ArrayLike) -> Self:
        """Regress each value on the one before by least squares."""
        numbers = whole_numbers(values, least=3).astype(np.float64)
        before, after = numbers[:-1], numbers[1:]
        centred = before - before.mean()
        if not centred.any():
            raise InputError(f"all values are {numbers[0]:.0f}; there is nothing to fit")
        factor = float(centred @ after / (centred @ centred))
        shift = float(after.mean() - factor * before.mean())
        return cls(factor, shift, float(np.std(after - factor * before - shift)))

    @property
    def mean(self) -> float:
        """Where it is drawn to."""
        return round(self.shift / (1 - self.factor), 9)

    @cached_property
    def chain(self) -> Markov:
        """The same law as a Markov chain; what lies beyond an end is counted to that end."""
        # Rounding adds the variance of a uniform law on [-1/2, 1/2].
        spread = np.sqrt((self.deviation**2 + 1 / 12) / (1 - self.factor**2))
        low, high = np.floor(self.mean - REACH * spread), np.ceil(self.mean + REACH * spread)
        if high - low >= MOST_STATES:
            raise InputError(
                f"this process ranges from {low:.0f} to {high:.0f}, more than {MOST_STATES}"
                " values; count in coarser units"
            )
        states = np.arange(int(low), int(high) + 1)
        expected = self._expected(states)
        transitions = _rounded_to(states, expected[:, None], self.deviation)
        end = np.where(expected < self.mean, 0, -1)
        transitions[states - states[0], end] += np.maximum(0, 1 - transitions.sum(axis=1))
        return Markov(states, transitions / transitions.sum(axis=1, keepdims=True))

    def _expected(self, values: ArrayLike) -> Probabilities:
        return self.factor * np.asarray(values, np.float64) + self.shift

    def _nearest(self, now: Now) -> Now:
        """A last value off the chain is as good as that end of it."""
        states = self.chain.states
        return Now(now.time, np.clip([now.last], states[0], states[-1]))

    def probabilities(self, values: ArrayLike, deltas: ArrayLike, now: Now) -> Probabilities:
        """See :class:`Forecast`."""
        ahead = steps_ahead(deltas)
        if len(ahead) and np.all(ahead == 1):  # needs no chain
            next_ = _rounded_to(whole_numbers(values), self._expected(now.last), self.deviation)
            return np.repeat(next_[:, None], len(ahead), axis=1)
        return self.chain.probabilities(values, ahead, self._nearest(now))

    def first_probabilities(self, values: ArrayLike, horizon: int, now: Now) -> Probabilities:
        """See :class:`Forecast`."""
        return self.chain.first_probabilities(values, horizon, self._nearest(now))

    def sample(self, n: int, seed: int = 0) -> Values:
        """See :class:`Forecast`; begins at the mean."""
        noise = np.random.default_rng(seed).normal(0, self.deviation, n)
        path = np.empty(n, np.int64)
        last = self.mean
        for step in range(n):
            last = path[step] = np.floor(self.factor * last + self.shift + noise[step] + 0.5)
        return path


def _rounded_to(
    numbers: NDArray[np.int64], mean: float | NDArray[np.float64], deviation: float
) -> Probabilities:
    """Tell how likely a normal variable is rounded to each number."""
    from scipy.special import ndtr

    below = (numbers - 0.5 - mean) / deviation
    above = (numbers + 0.5 - mean) / deviation
    # Mirrored to the lower tail, where differences of the distribution function keep their digits.
    flip = below > 0
    return ndtr(np.where(flip, -below, above)) - ndtr(np.where(flip, -above, below))
