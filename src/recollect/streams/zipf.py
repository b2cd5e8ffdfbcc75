"""Independent tuples of Zipfian popularity: few keys come often, most hardly ever."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1, log, log1p
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.compiled import cached, inlined
from recollect.streams.checks import require_real, require_whole
from recollect.streams.generator import Generator, Sampler

KeySampler: TypeAlias = Callable[[int], NDArray[np.int64]]

MOST_KEYS = 2**40
"""Beyond this the rounding of 64-bit floats becomes visible between neighbouring keys."""


@dataclass(frozen=True)
class ZipfStream(Generator):
    """Independent keys, the r-th most popular with a probability in proportion to r^-exponent.

    Key ``k`` has rank ``k + 1`` under every seed, so two streams share their popular keys.
    Time needed per tuple and memory do not depend on the number of keys.

    Parameters
    ----------
    tuples
        Length of the stream; one tuple per time unit, from time 0.
    keys
        Number of different keys, at most 2^40.
    exponent
        Skew: 0 is uniform, 0.8 to 1.2 is common in real streams.
    seed
        Which of the many streams of this kind.

    Examples
    --------
    >>> stream = ZipfStream(tuples=8, keys=1000, exponent=1.0, seed=1)
    >>> stream.table()["key"].to_pylist()
    [21, 0, 338, 0, 95, 41, 1, 45]
    """

    tuples: int
    keys: int = 100_000
    exponent: float = 0.8
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_zipf(self.keys, self.exponent)

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        draw = zipf_sampler(random, self.keys, self.exponent)
        return lambda times: (times, draw(len(times)))


def require_zipf(keys: int, exponent: float) -> None:
    """Raise unless the parameters describe a Zipf distribution."""
    require_whole("keys", keys, least=1, most=MOST_KEYS)
    require_real("exponent", exponent, least=0)


def zipf_sampler(random: np.random.Generator, keys: int, exponent: float) -> KeySampler:
    """Return a function that draws the next so many Zipfian keys."""

    def draw(count: int) -> NDArray[np.int64]:
        drawn = np.empty(count, np.int64)
        _draw(random, int(keys), float(exponent), drawn)
        return drawn

    return draw


# Rejection-inversion: x is drawn by inverting the integral H of the density x^-s over a region
# that covers the histogram of the r^-s, rounded to a rank, and kept if it fell in the histogram.
# W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
# distributions", ACM TOMACS 6(3), 1996. No table of the keys, hardly any rejections.


@cached
def _draw(random: np.random.Generator, keys: int, s: float, drawn: NDArray[np.int64]) -> None:
    top = _integral(keys + 0.5, s)
    bottom = _integral(1.5, s) - 1.0
    surely_inside = 2.0 - _inverse(_integral(2.5, s) - exp(-s * log(2.0)), s)
    for i in range(drawn.size):
        while True:
            area = top + random.random() * (bottom - top)
            x = min(max(_inverse(area, s), 1.0), float(keys))
            rank = int(x + 0.5)
            height = exp(-s * log(float(rank)))
            if rank - x <= surely_inside or area >= _integral(rank + 0.5, s) - height:
                drawn[i] = rank - 1
                break


@inlined
def _integral(x: float, s: float) -> float:
    """Integral of t^-s from 1 to x, without cancellation around s = 1."""
    logarithm = log(x)
    power = (1.0 - s) * logarithm
    return logarithm if power == 0.0 else logarithm * expm1(power) / power


@inlined
def _inverse(area: float, s: float) -> float:
    """Return the x at which the integral reaches the given area."""
    power = max((1.0 - s) * area, -1.0)
    if power == -1.0:
        return np.inf
    return exp(area if power == 0.0 else area * log1p(power) / power)
