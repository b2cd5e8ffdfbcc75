"""Values drawn independently from one law that does not change: the world of PROB and LFU."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.forecast.base import Forecast, Now, Probabilities, Values, steps_ahead
from recollect.streams.checks import frozen, whole_numbers


@dataclass(frozen=True, eq=False)
class Stationary(Forecast, name="stationary"):
    """Independent draws from one popularity.

    Parameters
    ----------
    values
        The values that occur, ascending.
    popularity
        Their probabilities.

    Examples
    --------
    >>> law = Stationary.fit([7, 7, 3, 7])
    >>> law.probability(7, delta=5, now=Now.after([3]))
    0.75
    >>> law.sample(5, seed=1)
    array([7, 7, 3, 7, 7])

    References
    ----------
    Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 7.2.
    """

    values: NDArray[np.int64]
    popularity: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Check the parameters."""
        values = frozen(whole_numbers(self.values, least=1), np.int64)
        popularity = frozen(self.popularity)
        if np.any(values[1:] <= values[:-1]):
            raise InputError("the values of a stationary law must be ascending, each once")
        if popularity.shape != values.shape or not np.all(popularity >= 0):
            raise InputError("a stationary law needs a probability of at least 0 for each value")
        if not np.isclose(popularity.sum(), 1, rtol=0, atol=1e-9):
            raise InputError(f"the probabilities add up to {popularity.sum()}, not to 1")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "popularity", popularity)

    @classmethod
    def fit(cls, values: ArrayLike) -> Self:
        """Count how often each value came."""
        known, counts = np.unique(whole_numbers(values, least=1), return_counts=True)
        return cls(known, counts / counts.sum())

    def popularity_of(self, values: ArrayLike) -> Probabilities:
        """Tell the probabilities of some values."""
        wanted = whole_numbers(values)
        places = np.minimum(np.searchsorted(self.values, wanted), len(self.values) - 1)
        return np.where(self.values[places] == wanted, self.popularity[places], 0.0)

    def probabilities(self, values: ArrayLike, deltas: ArrayLike, now: Now) -> Probabilities:
        """See :class:`Forecast`."""
        always = np.ones(len(steps_ahead(deltas)))
        return np.outer(self.popularity_of(values), always)

    def sample(self, n: int, seed: int = 0) -> Values:
        """See :class:`Forecast`."""
        return np.random.default_rng(seed).choice(self.values, n, p=self.popularity)
