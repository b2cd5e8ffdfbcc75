"""Zipfian popularity over the long run, heavy-tailed gaps in the short: keys come in flurries."""

from dataclasses import dataclass
from math import expm1, log

import numpy as np
from numpy.typing import NDArray

from recollect.streams.checks import require_real, require_whole
from recollect.streams.generator import Generator, Sampler
from recollect.streams.zipf import require_zipf
from recollect_papers.streams.turns import take_turns

MOST_KEYS = 10**7
"""The next arrival of every key is held in memory."""


@dataclass(frozen=True)
class ParetoStream(Generator):
    """Each key comes after Pareto-distributed gaps whose mean fits its Zipfian popularity.

    The generator of the GreedyDual-Join paper (§5.1.1), after the temporal locality of GISMO: the
    share of the r-th most popular key is in proportion to r^-exponent, and most gaps between its
    arrivals are much shorter than their mean. The paper does not give the parameters of the gaps.
    Here the Pareto law is bounded, or else a heavy tail would keep popular keys away from streams
    of any length, and stationary: one tuple per time unit on average, from the start on.

    Parameters
    ----------
    tuples
        Length of the stream.
    keys
        Number of different keys, at most 10^7; key 0 is the most popular.
    exponent
        Skew of the popularity.
    shape
        Within its bounds, P(gap > x) falls like x^-shape.
    longest
        The longest gap of a key, as a multiple of its shortest. By default half of the gaps are
        shorter than 0.43 times their mean; with independent tuples it would be 0.69.
    seed
        Which of the many streams of this kind.

    Examples
    --------
    >>> stream = ParetoStream(tuples=8, seed=1)
    >>> stream.table().to_pydict()
    {'time': [3, 5, 7, 11, 11, 12, 12, 13], 'key': [9, 94, 2, 11, 16, 54, 7, 0]}
    """

    tuples: int
    keys: int = 100
    exponent: float = 0.75
    shape: float = 1.0
    longest: float = 100.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_whole("keys", self.keys, least=1, most=MOST_KEYS)
        require_zipf(self.keys, self.exponent)
        require_real("shape", self.shape, least=0, most=100)
        require_real("longest", self.longest, least=1.01, most=1e6)

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        popularity = np.arange(1, self.keys + 1, dtype=float) ** -self.exponent
        shortest = popularity.sum() / popularity / bounded_mean(self.shape, self.longest)
        # The gap that time 0 falls into is likely to be a long one: in proportion to its length,
        # which takes 1 off the shape. Time 0 is anywhere within it.
        chance, place = random.random((2, self.keys))
        first = place * bounded_pareto(chance, self.shape - 1, self.longest)
        turns = take_turns(first * shortest, shortest)

        def sample(times: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            gaps = bounded_pareto(random.random(len(times)), self.shape, self.longest)
            keys, clock = turns(gaps)
            return np.floor(clock).astype(np.int64), keys

        return sample


def bounded_pareto(
    chance: NDArray[np.float64], shape: float, longest: float
) -> NDArray[np.float64]:
    """Return numbers from 1 to ``longest`` whose density falls like x^-(shape + 1).

    Parameters
    ----------
    chance
        Numbers from 0 to 1: how much of the law lies below.
    shape
        Any number; 0 makes the logarithm uniform.
    longest
        The upper end.

    Examples
    --------
    >>> bounded_pareto(np.array([0.0, 0.5, 1.0]), 1.0, 3.0)
    array([1. , 1.5, 3. ])
    """
    if shape == 0:
        return longest**chance
    return (1 - chance * (1 - longest**-shape)) ** (-1 / shape)


def bounded_mean(shape: float, longest: float) -> float:
    """Return the mean of the law of :func:`bounded_pareto`.

    Examples
    --------
    >>> round(bounded_mean(1.0, 100.0), 4), round(bounded_mean(2.0, 1e6), 4)
    (4.6517, 2.0)
    """
    # The integral of x^-shape over that of x^-(shape + 1).
    return _integral(shape - 1, longest) / _integral(shape, longest)


def _integral(shape: float, longest: float) -> float:
    """Integral of x^-(shape + 1) from 1 to ``longest``."""
    return log(longest) if shape == 0 else -expm1(-shape * log(longest)) / shape
