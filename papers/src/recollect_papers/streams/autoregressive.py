"""Keys that remember the one before and are drawn back to their mean, as temperatures are."""

from dataclasses import dataclass
from math import ceil, erfc, floor, sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from recollect.streams.checks import require_real
from recollect.streams.generator import Generator, Sampler
from recollect.streams.noise import REACH, DiscreteLaw


@dataclass(frozen=True)
class AutoregressiveStream(Generator):
    """AR(1) on a grid: x_t = coefficient · x_{t−1} + constant + y_t, rounded to the unit.

    The key counts units. Each step starts from the rounded value, so the keys are a Markov chain
    whose transitions :meth:`following` gives exactly. The defaults are the model of the daily
    temperatures in Melbourne (°C) in Xie, Yang and Chen, "On joining and caching stochastic
    streams", SIGMOD 2005.

    Parameters
    ----------
    tuples
        Length of the stream; one tuple per time unit, from time 0.
    coefficient
        How much of a value is left in the next one, between −1 and 1.
    constant
        What is added at each step; the mean is ``constant / (1 − coefficient)``.
    deviation
        Standard deviation of the normal noise.
    unit
        Distance of neighbouring keys.
    seed
        Which of the many streams of this kind. The first tuple is drawn from the long-run law.

    Examples
    --------
    >>> stream = AutoregressiveStream(tuples=6, seed=1)
    >>> stream.table()["key"].to_pylist()
    [250, 250, 181, 224, 236, 203]
    >>> round(stream.mean, 2), round(stream.spread, 2)
    (19.96, 6.08)
    >>> law = stream.following(220)
    >>> round(law.mean, 4)
    214.3
    """

    tuples: int
    coefficient: float = 0.72
    constant: float = 5.59
    deviation: float = 4.22
    unit: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_real("coefficient", self.coefficient, least=-0.999_999, most=0.999_999)
        require_real("constant", self.constant, least=-1e9, most=1e9)
        require_real("deviation", self.deviation, least=1e-9, most=1e9)
        require_real("unit", self.unit, least=self.deviation / 1e5, most=self.deviation * 100)

    @property
    def mean(self) -> float:
        """The mean of the values in the long run."""
        return self.constant / (1 - self.coefficient)

    @property
    def spread(self) -> float:
        """The standard deviation of the values in the long run."""
        return self.deviation / sqrt(1 - self.coefficient**2)

    def following(self, key: int) -> DiscreteLaw:
        """Return the law of the key that comes after the given one."""
        mean = self.coefficient * key + self.constant / self.unit
        deviation = self.deviation / self.unit
        least, most = floor(mean - REACH * deviation), ceil(mean + REACH * deviation)
        edges = (np.arange(least, most + 2) - 0.5 - mean) / deviation
        below = np.array([erfc(-edge / sqrt(2)) / 2 for edge in edges])
        return DiscreteLaw(least, np.diff(below) / (below[-1] - below[0]))

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        noise = self.deviation / self.unit
        constant = self.constant / self.unit
        # One value before the first tuple, so that the first is as likely as any later one.
        latest = np.rint((self.mean + self.spread * random.standard_normal()) / self.unit)

        def sample(times: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            nonlocal latest
            values = constant + noise * random.standard_normal(len(times))
            latest = _remember(values, self.coefficient, latest)
            return times, values.astype(np.int64)

        return sample


@njit(cache=True)
def _remember(values: NDArray[np.float64], coefficient: float, latest: float) -> float:
    """Add to each value its share of the one before, round it, and return the last."""
    for i in range(values.size):
        latest = np.rint(values[i] + coefficient * latest)
        values[i] = latest
    return latest
