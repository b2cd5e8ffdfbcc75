"""Keys that wander: every tuple is a random step away from the one before."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recollect.streams.checks import require_real, require_whole
from recollect.streams.generator import Generator, Sampler
from recollect.streams.noise import DiscreteLaw, require_deviation


@dataclass(frozen=True)
class WalkStream(Generator):
    """A random walk with drift over the whole numbers: x_t = x_{t−1} + y_t.

    WALK of Xie, Yang and Chen, "On joining and caching stochastic streams", SIGMOD 2005, is a
    pair of such streams without drift.

    Parameters
    ----------
    tuples
        Length of the stream; one tuple per time unit, from time 0.
    drift, deviation
        Mean and standard deviation of a step, a normal law on the whole numbers.
    start
        Where the walk stands before its first tuple, which is one step away.
    seed
        Which of the many streams of this kind.

    Examples
    --------
    >>> WalkStream(tuples=8, seed=1).table()["key"].to_pylist()
    [0, 2, 1, 3, 3, 3, 4, 4]
    >>> WalkStream(tuples=8).step.weights.max().round(4)
    np.float64(0.3989)
    """

    tuples: int
    drift: float = 0.0
    deviation: float = 1.0
    start: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_real("drift", self.drift, least=-1e6, most=1e6)
        require_deviation(self.deviation)
        require_whole("start", self.start, least=-(2**40), most=2**40)

    @cached_property
    def step(self) -> DiscreteLaw:
        """The law of a step, drift included."""
        return DiscreteLaw.normal(self.deviation, mean=self.drift)

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        draw = self.step.sampler(random)
        position = self.start

        def sample(times: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            nonlocal position
            keys = position + np.cumsum(draw(len(times)))
            position = int(keys[-1])
            return times, keys

        return sample
