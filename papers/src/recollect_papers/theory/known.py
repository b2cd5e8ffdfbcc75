"""A stream whose every value is known beforehand: the world of the offline optimum."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.forecast.base import Forecast, Now, Probabilities, Values, steps_ahead
from recollect.streams.checks import frozen, whole_numbers


@dataclass(frozen=True, eq=False)
class Known(Forecast):
    """The values to come, with certainty.

    Parameters
    ----------
    values
        The whole stream, from step 0 on. After its end nothing comes.

    Examples
    --------
    >>> law = Known([5, 9, 5, 7])
    >>> law.probabilities([5, 7], [1, 2, 3], Now.after([5]))
    array([[0., 1., 0.],
           [0., 0., 1.]])

    References
    ----------
    Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 7.1.
    """

    values: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Keep a copy."""
        object.__setattr__(self, "values", frozen(whole_numbers(self.values), np.int64))

    @classmethod
    def fit(cls, values: ArrayLike) -> Self:
        """Take the values as they are."""
        return cls(whole_numbers(values))

    def probabilities(self, values: ArrayLike, deltas: ArrayLike, now: Now) -> Probabilities:
        """See :class:`Forecast`."""
        steps = now.time + steps_ahead(deltas)
        coming = (steps >= 0) & (steps < len(self.values))
        shown = np.zeros(len(steps), np.int64)
        shown[coming] = self.values[steps[coming]]
        return ((whole_numbers(values)[:, None] == shown) & coming).astype(np.float64)

    def sample(self, n: int, seed: int = 0) -> Values:
        """See :class:`Forecast`; there is only one sample."""
        if n > len(self.values):
            raise InputError(f"only {len(self.values)} values are known, not {n}")
        return self.values[:n].copy()
