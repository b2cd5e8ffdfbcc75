"""Popularity: how often each key comes, and whether that follows a power law.

References
----------
Zipf: Human Behavior and the Principle of Least Effort, 1949; reference-locality paper, section 2;
GreedyDual-Join paper, section 2.1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

ENOUGH = 30
"""Ranks with fewer tuples say more about chance than about popularity."""
PER_DECADE = 10


@dataclass(frozen=True)
class ZipfFit:
    """The law ``share(rank) = scale / rank ** slope``."""

    slope: float
    error: float | None
    """The standard error of the slope; None if two points leave nothing to judge it by."""
    scale: float
    last_rank: int
    """Ranks up to here took part."""


@dataclass(frozen=True, eq=False)
class Popularity:
    """How often each key came.

    Examples
    --------
    >>> popularity = Popularity.of([2, 7, 1])
    >>> popularity.counts.tolist(), popularity.tuples, popularity.distinct
    ([7, 2, 1], 10, 3)
    """

    counts: NDArray[np.int64]
    """One per key, the most popular first; :meth:`of` makes it so."""

    @classmethod
    def of(cls, counts: ArrayLike) -> "Popularity":
        """Rank counts that are in any order."""
        return cls(np.sort(np.asarray(counts, np.int64))[::-1])

    @property
    def tuples(self) -> int:
        """The length of the stream."""
        return int(self.counts.sum())

    @property
    def distinct(self) -> int:
        """How many different keys came."""
        return len(self.counts)

    @cached_property
    def zipf(self) -> ZipfFit | None:
        """The power law that fits best; None for less than two keys."""
        return fit_zipf(self.counts)


def fit_zipf(counts: NDArray[np.int64]) -> ZipfFit | None:
    """Fit a power law to counts by rank, the most popular key first.

    Ranks are put into bins that are equally wide on a logarithmic axis, ten per factor of ten, so
    that the many rare keys do not outvote the popular ones. A line is fitted by least squares to
    the logarithms of the mean rank (the geometric one) and the mean count of each bin; the standard
    error comes from what the line leaves over. Ranks with less than 30 tuples are left out: there
    the order of the keys is due to chance. Should less than two ranks have as many, all take part.

    Examples
    --------
    >>> exact = (1e6 / np.arange(1, 1001) ** 0.8).astype(np.int64)
    >>> fit = fit_zipf(exact)
    >>> round(fit.slope, 3), fit.error < 0.01
    (0.8, True)
    """
    tuples = counts.sum()
    shown = counts[counts >= ENOUGH]
    if len(shown) < 2:
        shown = counts
    if len(shown) < 2:
        return None
    ranks = np.arange(1, len(shown) + 1)
    bins = np.floor(PER_DECADE * np.log10(ranks)).astype(np.int64)
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    sizes = np.diff(starts, append=len(shown))
    x = np.add.reduceat(np.log(ranks), starts) / sizes
    y = np.log(np.add.reduceat(shown, starts) / sizes / tuples)
    spread = x - x.mean()
    gradient = float(spread @ y / (spread @ spread))
    level = float(y.mean() - gradient * x.mean())
    error = None
    if len(x) > 2:
        left = y - level - gradient * x
        error = float(np.sqrt(left @ left / (len(x) - 2) / (spread @ spread)))
    return ZipfFit(-gradient, error, float(np.exp(level)), len(shown))
