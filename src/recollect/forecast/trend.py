"""Values that rise or fall along a line, with independent noise: clocks, counters, serial numbers.

The centre at step t is ``slope · t + intercept``, rounded to a whole number (halves upwards).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from recollect.forecast.base import Forecast, Now, Probabilities, Values, steps_ahead
from recollect.streams.checks import require_real, whole_numbers
from recollect.streams.noise import DiscreteLaw


@dataclass(frozen=True, eq=False)
class Trend(Forecast, name="trend"):
    """A linear trend with independent, identically distributed noise.

    Parameters
    ----------
    slope, intercept
        The line.
    noise
        The law of the differences from it.

    Examples
    --------
    >>> law = Trend(slope=2, intercept=0, noise=DiscreteLaw.uniform(-1, 1))
    >>> law.probabilities([11, 14], [1, 2], Now(time=4, recent=np.array([8]))).round(3)
    array([[0.333, 0.333],
           [0.   , 0.   ]])
    >>> Trend.fit(law.sample(1_000)).slope
    1.999...

    References
    ----------
    Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, sections 6.1, 7.3, 7.4.
    """

    slope: float
    intercept: float
    noise: DiscreteLaw

    def __post_init__(self) -> None:
        """Check the parameters."""
        require_real("slope", self.slope, least=-(2.0**31), most=2.0**31)
        require_real("intercept", self.intercept, least=-(2.0**52), most=2.0**52)

    @classmethod
    def fit(cls, values: ArrayLike) -> Self:
        """Lay the line by least squares; the noise is what remains."""
        numbers = whole_numbers(values, least=2)
        steps = np.arange(len(numbers), dtype=np.float64)
        centred = steps - steps.mean()
        slope = float(centred @ numbers / (centred @ centred))
        line = cls(slope, float(numbers.mean() - slope * steps.mean()), DiscreteLaw.uniform(0, 0))
        return cls(slope, line.intercept, DiscreteLaw.empirical(numbers - line.centre(steps)))

    def centre(self, steps: ArrayLike) -> Values:
        """Tell where the trend is at some steps."""
        line = self.slope * np.asarray(steps, np.float64) + self.intercept
        return np.floor(line + 0.5).astype(np.int64)

    def probabilities(self, values: ArrayLike, deltas: ArrayLike, now: Now) -> Probabilities:
        """See :class:`Forecast`."""
        centres = self.centre(now.time + steps_ahead(deltas))
        return self.noise.at(whole_numbers(values)[:, None] - centres)

    def sample(self, n: int, seed: int = 0) -> Values:
        """See :class:`Forecast`."""
        return self.centre(np.arange(n)) + self.noise.draw(np.random.default_rng(seed), n)
