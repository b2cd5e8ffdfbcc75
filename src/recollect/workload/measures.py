"""How good an approximate result is: recall, its part under stress, and how it is distributed.

All of it follows from how many results each arrival found.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recollect.workload.merged import Merged

PERIODS = 100
"""The time is cut into so many equal periods to see when there is stress."""


@dataclass(frozen=True)
class Measures:
    """Measures runs against the exact one.

    Parameters
    ----------
    merged
        The input.
    exact
        By arrival and join: how many results the exact join finds.
    counted
        By arrival: whether its results count, that is, come after the warm-up.
    """

    merged: Merged
    exact: np.ndarray
    counted: np.ndarray

    def results(self, found: np.ndarray) -> np.ndarray:
        """By join: how many results count."""
        return found[self.counted].sum(axis=0)

    def recall(self, found: np.ndarray, when: np.ndarray | None = None) -> float:
        """Which share of the exact results was found, perhaps of some arrivals only."""
        these = self.counted if when is None else self.counted & when
        exact = int(self.exact[these].sum())
        return int(found[these].sum()) / exact if exact else 1.0

    @cached_property
    def period(self) -> np.ndarray:
        """By arrival: the period it falls into."""
        time = self.merged.feed.time
        if len(time) == 0:
            return np.zeros(0, np.int64)
        span = float(time[-1]) - float(time[0]) + 1
        return ((time - time[0]) / span * PERIODS).astype(np.int64)

    @cached_property
    def stressed(self) -> np.ndarray:
        """By arrival: whether more tuples than the mean arrive in its period."""
        arrivals = np.bincount(self.period, minlength=PERIODS)
        return arrivals[self.period] > arrivals.mean()

    def memory_need(self, held: np.ndarray) -> list[int]:
        """By period: the most tuples held; where nothing arrives, as many as before."""
        need = np.zeros(PERIODS, np.int64)
        np.maximum.at(need, self.period, held)
        empty = np.bincount(self.period, minlength=PERIODS) == 0
        before = np.maximum.accumulate(np.where(empty, 0, np.arange(PERIODS)))
        return need[before].tolist()

    @cached_property
    def _keys(self) -> list[np.ndarray]:
        """By join: a number for the key of each arrival."""
        keys = self.merged.feed.keys
        return [np.unique(column, return_inverse=True)[1] for column in keys.T]

    def histogram(self, found: np.ndarray) -> np.ndarray:
        """How many results there are with each key of each join."""
        return np.concatenate(
            [
                np.bincount(keys[self.counted], weights=found[self.counted, join], minlength=size)
                for join, keys in enumerate(self._keys)
                for size in [int(keys.max(initial=-1)) + 1]
            ]
        )

    @cached_property
    def _exact_histogram(self) -> np.ndarray:
        return self.histogram(self.exact)

    def distortion(self, found: np.ndarray) -> tuple[float | None, float | None]:
        """Compare the shares of the keys with the exact ones: squared errors, and KL divergence."""
        return distortion(self.histogram(found), self._exact_histogram)


def distortion(found: np.ndarray, exact: np.ndarray) -> tuple[float | None, float | None]:
    """The sum of squared errors (SSE) and the KL divergence of two normalised histograms.

    Every key that was found is one of the exact ones, so the divergence of what was found from what
    is exact is finite. None if there are no results.

    >>> sse, kl = distortion(np.array([5.0, 5.0]), np.array([30.0, 10.0]))
    >>> sse, round(kl, 4)
    (0.125, 0.1438)
    """
    if found.sum() == 0 or exact.sum() == 0:
        return None, None
    share, true = found / found.sum(), exact / exact.sum()
    some = share > 0
    divergence = np.sum(share[some] * np.log(share[some] / true[some]))
    return float(np.sum((share - true) ** 2)), float(max(divergence, 0.0))
