"""Laws of independent whole numbers: the noise of a trend, the steps of a walk.

They are small enough to be written down number by number. A generator draws from the very table
that it shows, so a forecast built on the table is exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.streams.checks import frozen, require_real, require_whole, whole_numbers

Draw: TypeAlias = Callable[[int], NDArray[np.int64]]

MOST_BOUND = 10**6
"""Keeps a table of probabilities below 16 MB."""
MOST_DEVIATION = 10**5
REACH = 9
"""Standard deviations after which a normal law is cut: 2e-19 of it lies beyond."""
WIDEST = 2**16
"""Numbers that came and are farther apart are no noise around a centre."""


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
        weights, most = frozen(self.weights), 2 * MOST_BOUND + 1
        if weights.ndim != 1 or not 1 <= len(weights) <= most:
            raise InputError(f"a law has from 1 to {most} weights, not shape {weights.shape}")
        if not np.all(weights >= 0) or not np.isclose(weights.sum(), 1, rtol=0, atol=1e-9):
            raise InputError(
                f"the weights of a law are at least 0 and add up to 1, not {weights.sum()}"
            )
        object.__setattr__(self, "low", int(self.low))
        object.__setattr__(self, "weights", weights)

    @classmethod
    def uniform(cls, low: int, high: int) -> Self:
        """Give all numbers from ``low`` to ``high`` the same probability."""
        require_whole("high", high, least=low)
        return cls(low, np.full(high - low + 1, 1 / (high - low + 1)))

    @classmethod
    def normal(cls, deviation: float, bound: int | None = None, mean: float = 0.0) -> Self:
        """Take probabilities in proportion to a normal density, from ``-bound`` to ``bound``.

        Unlike a rounded normal variable the law has the mean and the deviation asked for, as long
        as the deviation is not much below 1. Without a bound it is cut where nothing is left of it.

        >>> DiscreteLaw.normal(1, bound=2).weights.round(3)
        array([0.054, 0.244, 0.403, 0.244, 0.054])
        """
        require_deviation(deviation)
        require_real("mean", mean, least=-(2.0**52), most=2.0**52)
        if bound is None:
            values = np.arange(floor(mean - REACH * deviation), ceil(mean + REACH * deviation) + 1)
        else:
            require_bound(bound)
            values = np.arange(-bound, bound + 1)
        density = np.exp(-(((values - mean) / deviation) ** 2) / 2)
        if not density.any():
            raise InputError(f"a normal law around {mean} has nothing within the bound {bound}")
        return cls(int(values[0]), density / density.sum())

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
    def values(self) -> NDArray[np.int64]:
        """The numbers, in the order of their probabilities."""
        return self.low + np.arange(len(self.weights))

    @property
    def mean(self) -> float:
        """The expected number."""
        return float(self.weights @ self.values)

    def at(self, numbers: ArrayLike) -> NDArray[np.float64]:
        """Tell the probabilities of some numbers, in an array of the same shape."""
        places = np.asarray(numbers, np.int64) - self.low
        inside = (places >= 0) & (places < len(self.weights))
        return np.where(inside, self.weights[np.where(inside, places, 0)], 0.0)

    def sampler(self, random: np.random.Generator) -> Draw:
        """Return a function that draws the next so many numbers, from one random number each.

        >>> DiscreteLaw(-1, [0.5, 0.0, 0.5]).sampler(np.random.default_rng(1))(6)
        array([ 1,  1, -1,  1, -1, -1])
        """
        # The last number takes what rounding leaves of the sum.
        steps = np.cumsum(self.weights)[:-1]
        return lambda count: self.low + np.searchsorted(steps, random.random(count), "right")

    def draw(self, random: np.random.Generator, n: int) -> NDArray[np.int64]:
        """Draw ``n`` independent numbers."""
        return self.sampler(random)(n)


def require_deviation(deviation: float) -> None:
    """Raise unless a table of a normal law with this deviation can be made."""
    require_real("deviation", deviation, least=0.01, most=MOST_DEVIATION)


def require_bound(bound: int) -> None:
    """Raise unless a table with this bound can be made."""
    require_whole("bound", bound, least=0, most=MOST_BOUND)
