"""Distributions of distances, however long, in a fixed number of counters.

Distances below 2,048 are counted one by one. Longer ones share a counter with their neighbours:
each power of two is divided into 1,024 bins, so no distance is off by more than 0.1 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.compiled import inlined

STEPS = 1024
"""Bins per power of two."""
EXACT_BELOW = 2 * STEPS
LONGEST = 2**40 - 1
BINS = STEPS * (LONGEST.bit_length() - STEPS.bit_length() + 2)
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)


@inlined
def bin_of(distance):  # type: ignore[no-untyped-def]
    """The number of the bin of a distance, for kernels."""
    shift = 0
    while distance >> shift >= EXACT_BELOW:
        shift += 1
    return shift * STEPS + (distance >> shift)


def bins_of(distances: ArrayLike) -> NDArray[np.int64]:
    """The numbers of the bins of many distances.

    >>> bins_of([1, 2047, 2048, 2049, 4096]).tolist()
    [1, 2047, 2048, 2048, 3072]
    """
    whole = np.asarray(distances, np.int64)
    # A float of 64 bits knows the length of such whole numbers exactly.
    shift = np.maximum(np.frexp(whole.astype(np.float64))[1] - STEPS.bit_length(), 0)
    return shift * STEPS + (whole >> shift)


def longest_in(bins: NDArray[np.int64]) -> NDArray[np.int64]:
    """The longest distance of each of some bins.

    >>> longest_in(bins_of([1, 2047, 2048, 4096])).tolist()
    [1, 2047, 2049, 4099]
    """
    shift = np.maximum(bins // STEPS - 1, 0)
    return ((bins - shift * STEPS + 1) << shift) - 1


def new_counts() -> NDArray[np.int64]:
    """A counter for each bin."""
    return np.zeros(BINS, np.int64)


@dataclass(frozen=True, eq=False)
class Distances:
    """How far apart the appearances of equal keys are.

    Examples
    --------
    >>> found = Distances.of([1, 1, 3, 5000], firsts=2)
    >>> found.repeats, found.within(3), found.quantile(0.5), found.quantile(0.99)
    (4, 3, 1, 5003)
    """

    counts: NDArray[np.int64]
    """By bin: how many tuples have a predecessor with the same key at such a distance."""
    firsts: int
    """How many tuples have no such predecessor."""

    @classmethod
    def of(
        cls, distances: ArrayLike, firsts: int, times: Sequence[int] | None = None
    ) -> "Distances":
        """Count distances, each once or so many times."""
        counts = new_counts()
        np.add.at(counts, bins_of(distances), 1 if times is None else np.asarray(times, np.int64))
        return cls(counts, firsts)

    @property
    def repeats(self) -> int:
        """How many tuples have a predecessor."""
        return int(self.counts.sum())

    def within(self, distance: int) -> int:
        """How many tuples have a predecessor at most so far away."""
        return int(self.counts[: int(bins_of(min(distance, LONGEST))) + 1].sum())

    def quantile(self, share: float) -> int | None:
        """The distance that such a share of the repeats does not exceed; None without repeats."""
        if not self.repeats:
            return None
        wanted = max(1, int(np.ceil(share * self.repeats)))
        place = np.searchsorted(np.cumsum(self.counts), wanted)
        return int(longest_in(np.asarray(place)))

    def quantiles(self) -> dict[str, int | None]:
        """The quantiles of :data:`QUANTILES`, by their names."""
        return {str(share): self.quantile(share) for share in QUANTILES}

    def curve(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Distances that occur, and how many tuples have a predecessor at most so far away."""
        bins = np.flatnonzero(self.counts)
        return longest_in(bins), np.cumsum(self.counts[bins])

    def __eq__(self, other: object) -> bool:
        """Whether all counts are the same."""
        if not isinstance(other, Distances):
            return NotImplemented
        return self.firsts == other.firsts and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]
