"""Probabilities of neighbouring whole numbers: the noise of a trend, the steps of a walk."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.forecast.base import Probabilities, Values, frozen, whole_numbers
from recollect.streams.checks import require_real, require_whole
from recollect.streams.noise import Noise, discrete_normal, require_bound, require_deviation

WIDEST = 2**16
"""More numbers than that are no noise around a centre."""


@dataclass(frozen=True, eq=False)
class DiscreteLaw:
    """A law on the whole numbers from ``low`` on.

    Parameters
    ----------
    low
        The least number.
    weights
        The probabilities of ``low``, ``low + 1``, …; they add up to 1.

    Examples
    --------
    >>> die = DiscreteLaw.uniform(1, 6)
    >>> die.at([0, 1, 6, 7]).round(3)
    array([0.   , 0.167, 0.167, 0.   ])
    >>> die.mean
    3.5
    """

    low: int
    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Check the probabilities."""
        require_whole("low", self.low, least=-(2**62), most=2**62)
        weights = frozen(self.weights)
        if weights.ndim != 1 or not 1 <= len(weights) <= WIDEST:
            raise InputError(f"a law has from 1 to {WIDEST} weights, not shape {weights.shape}")
        if not np.all(weights >= 0) or not np.isclose(weights.sum(), 1, rtol=0, atol=1e-9):
            raise InputError(
                f"the weights of a law are at least 0 and add up to 1, not {weights.sum()}"
            )
        object.__setattr__(self, "low", int(self.low))
        object.__setattr__(self, "weights", weights)

    @classmethod
    def of(cls, noise: Noise) -> Self:
        """Take over the law that a generator draws from."""
        return cls(noise.least, noise.probabilities)

    @classmethod
    def uniform(cls, low: int, high: int) -> Self:
        """Give all numbers from ``low`` to ``high`` the same probability."""
        require_whole("high", high, least=low)
        return cls(low, np.full(high - low + 1, 1 / (high - low + 1)))

    @classmethod
    def normal(cls, deviation: float, bound: int | None = None, mean: float = 0.0) -> Self:
        """Take probabilities in proportion to a normal density, from ``-bound`` to ``bound``.

        >>> DiscreteLaw.normal(1, bound=2).weights.round(3)
        array([0.054, 0.244, 0.403, 0.244, 0.054])
        """
        require_deviation(deviation)
        require_real("mean", mean, least=-(2.0**52), most=2.0**52)
        if bound is not None:
            require_bound(bound)
        with np.errstate(invalid="ignore"):
            law = discrete_normal(mean, deviation, bound)
        if not np.all(np.isfinite(law.probabilities)):
            raise InputError(f"a normal law around {mean} has nothing within the bound {bound}")
        return cls.of(law)

    @classmethod
    def empirical(cls, values: ArrayLike) -> Self:
        """Take the relative frequencies of some numbers.

        >>> DiscreteLaw.empirical([3, 5, 5, 5])
        DiscreteLaw(low=3, weights=array([0.25, 0.  , 0.75]))
        """
        numbers = whole_numbers(values, least=1)
        low, high = int(numbers.min()), int(numbers.max())
        if high - low >= WIDEST:
            raise InputError(
                f"numbers from {low} to {high} are too far apart for noise around a centre"
                f" (more than {WIDEST}); take a law that treats values as names, or coarser units"
            )
        return cls(low, np.bincount(numbers - low) / len(numbers))

    @property
    def high(self) -> int:
        """The greatest number."""
        return self.low + len(self.weights) - 1

    @property
    def mean(self) -> float:
        """The expected number."""
        return float(self.weights @ np.arange(self.low, self.high + 1))

    def at(self, numbers: ArrayLike) -> Probabilities:
        """Tell the probabilities of some numbers, in an array of the same shape."""
        places = np.asarray(numbers, np.int64) - self.low
        inside = (places >= 0) & (places < len(self.weights))
        return np.where(inside, self.weights[np.where(inside, places, 0)], 0.0)

    def draw(self, random: np.random.Generator, n: int) -> Values:
        """Draw ``n`` independent numbers."""
        return Noise(self.low, self.weights).sampler(random)(n)
