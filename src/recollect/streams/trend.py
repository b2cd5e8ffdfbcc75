"""Keys that move on at a steady pace, with bounded noise around the trend.

Auction numbers, order numbers and time stamps behave like this: the future of a key is certain to
end, and where it lies in the noise says how much of it is left.
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray

from recollect.streams.checks import require_real, require_whole
from recollect.streams.generator import Generator, Sampler
from recollect.streams.noise import DiscreteLaw, require_bound, require_deviation


@dataclass(frozen=True)
class TrendStream(Generator):
    """A linear trend with independent bounded noise: x_t = floor(slope · (t − lag)) + y_t.

    TOWER, ROOF and FLOOR of Xie, Yang and Chen, "On joining and caching stochastic streams",
    SIGMOD 2005, are pairs of such streams.

    Parameters
    ----------
    tuples
        Length of the stream; one tuple per time unit, from time 0.
    slope
        How far the trend moves per time unit.
    lag
        By how many time units the stream is behind the trend.
    deviation
        Standard deviation of the noise, a normal law on the whole numbers within the bound; if
        infinite, they are all equally likely.
    bound
        The noise lies between ``-bound`` and ``bound``.
    seed
        Which of the many streams of this kind.

    Examples
    --------
    >>> stream = TrendStream(tuples=8, deviation=1, bound=10, seed=1)
    >>> stream.table()["key"].to_pylist()
    [0, 3, 1, 5, 4, 5, 7, 7]
    >>> stream.noise.weights[10].round(4)
    np.float64(0.3989)
    """

    tuples: int
    slope: float = 1.0
    lag: int = 0
    deviation: float = inf
    bound: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_real("slope", self.slope, least=-1e6, most=1e6)
        require_whole("lag", self.lag, least=-(2**40), most=2**40)
        if self.deviation != inf:
            require_deviation(self.deviation)
        require_bound(self.bound)

    @cached_property
    def noise(self) -> DiscreteLaw:
        """The law of the noise."""
        if self.deviation == inf:
            return DiscreteLaw.uniform(-self.bound, self.bound)
        return DiscreteLaw.normal(self.deviation, self.bound)

    def trend(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where the trend stands at the given times."""
        return np.floor(self.slope * (times - self.lag)).astype(np.int64)

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        draw = self.noise.sampler(random)
        return lambda times: (times, self.trend(times) + draw(len(times)))
