"""Laws of independent whole numbers, small enough to be written down value by value.

A generator draws from the very table that it shows, so a forecast built on the table is exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.streams.checks import require_real, require_whole

Draw: TypeAlias = Callable[[int], NDArray[np.int64]]

MOST_BOUND = 10**6
"""Keeps a table of probabilities below 16 MB."""
MOST_DEVIATION = 10**5
REACH = 9
"""Standard deviations after which a normal law is cut: 2e-19 of it lies beyond."""


@dataclass(frozen=True, eq=False)
class Noise:
    """A law on neighbouring whole numbers: ``least + i`` has the probability number ``i``.

    Parameters
    ----------
    least
        The smallest value.
    probabilities
        One per value, from the smallest on; they sum to 1.

    Examples
    --------
    >>> coin = Noise(-1, np.array([0.5, 0.0, 0.5]))
    >>> coin.values
    array([-1,  0,  1])
    >>> coin.sampler(np.random.default_rng(1))(6)
    array([ 1,  1, -1,  1, -1, -1])
    """

    least: int
    probabilities: NDArray[np.float64]

    @property
    def values(self) -> NDArray[np.int64]:
        """The values, in the order of their probabilities."""
        return self.least + np.arange(len(self.probabilities))

    def sampler(self, random: np.random.Generator) -> Draw:
        """Return a function that draws the next so many values, from one number each."""
        # The last value takes what rounding leaves of the sum.
        steps = np.cumsum(self.probabilities)[:-1]
        return lambda count: self.least + np.searchsorted(steps, random.random(count), "right")


def uniform(bound: int) -> Noise:
    """Return the law that gives every whole number from ``-bound`` to ``bound`` the same chance.

    Parameters
    ----------
    bound
        The largest value.

    Examples
    --------
    >>> uniform(1).probabilities * 3
    array([1., 1., 1.])
    """
    return Noise(-bound, np.full(2 * bound + 1, 1 / (2 * bound + 1)))


def discrete_normal(mean: float, deviation: float, bound: int | None = None) -> Noise:
    """Return the law whose probabilities are in proportion to a normal density.

    Unlike a rounded normal variable it has the mean and the deviation asked for, as long as the
    deviation is not much below 1.

    Parameters
    ----------
    mean, deviation
        Of the density.
    bound
        The law is confined to the whole numbers from ``-bound`` to ``bound``; if left out, it is
        cut where nothing is left of it.

    Examples
    --------
    >>> discrete_normal(0, 1, bound=2).probabilities.round(4)
    array([0.0545, 0.2442, 0.4026, 0.2442, 0.0545])
    >>> law = discrete_normal(0.3, 1)
    >>> float((law.values * law.probabilities).sum().round(6))
    0.3
    """
    if bound is None:
        values = np.arange(floor(mean - REACH * deviation), ceil(mean + REACH * deviation) + 1)
    else:
        values = np.arange(-bound, bound + 1)
    density = np.exp(-(((values - mean) / deviation) ** 2) / 2)
    return Noise(int(values[0]), density / density.sum())


def require_deviation(deviation: float) -> None:
    """Raise unless a table of a normal law with this deviation can be made."""
    require_real("deviation", deviation, least=0.01, most=MOST_DEVIATION)


def require_bound(bound: int) -> None:
    """Raise unless a table with this bound can be made."""
    require_whole("bound", bound, least=0, most=MOST_BOUND)
