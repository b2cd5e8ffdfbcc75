"""How good an approximate result is: recall, its part under stress, and how it is distributed.

A run is measured while it goes on, from how many results each arrival finds. What is kept has a
place for each period of the time and for each key with results.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from recollect.errors import InputError, WindowError
from recollect.join.kernel import Feed, Trace
from recollect.join.window import TIME, parse_window, resolve
from recollect.workload.shares import parse_share

PERIODS = 100
"""The time is cut into so many equal periods to see when there is stress."""
MANY = 2**20
"""So many keys are collected before equal ones are added up."""


@dataclass(frozen=True)
class Extent:
    """What is known of an input before it is joined."""

    arrivals: tuple[int, ...]
    """By stream: how many tuples it has."""
    first: int
    last: int
    """The earliest and the latest time."""
    unit: int | None
    """The nanoseconds of a unit of time; None if times are plain numbers."""
    joins: int

    @property
    def total(self) -> int:
        """How many tuples there are."""
        return sum(self.arrivals)

    def period(self, times: np.ndarray) -> np.ndarray:
        """The periods that times fall into."""
        span = float(self.last) - float(self.first) + 1
        return ((times - self.first) / span * PERIODS).astype(np.int64)


class WarmUp:
    """Which arrivals come after the warm-up.

    Parameters
    ----------
    text
        A share such as ``"1/3"`` or 0.25 is one of the arrivals; a whole number or a duration such
        as ``"10min"`` is time since the first.
    extent
        The input.
    """

    def __init__(self, text: Any, extent: Extent) -> None:
        self._begin: float | None = None
        """The first arrival that counts."""
        self._time = extent.first
        share = None if text is None else parse_share(text)
        if text is None:
            self._begin = 0.0
        elif share is not None:
            if not 0 <= share < 1:
                raise InputError(f"warm_up={text!r} leaves nothing; give a share below 1")
            self._begin = float(share * extent.total)
        else:
            try:
                window = parse_window(text)
            except WindowError:
                window = None
            if window is None or window.kind != TIME:
                raise InputError(
                    f"warm_up={text!r} is not understood; give a share such as 1/3, a number of"
                    " time units or a duration"
                )
            self._time += resolve(window, extent.unit)

    def counted(self, before: int, times: np.ndarray) -> np.ndarray:
        """Which of some arrivals count; so many came before."""
        if self._begin is None:
            return times >= self._time
        return np.arange(before, before + len(times)) >= self._begin


class Tally:
    """What a run has found so far.

    Parameters
    ----------
    extent
        The input.
    warm_up
        Results count only after it.
    """

    def __init__(self, extent: Extent, warm_up: WarmUp) -> None:
        self._extent = extent
        self._warm_up = warm_up
        self._seen = 0
        self.arrivals = np.zeros(PERIODS, np.int64)
        """By period: how many tuples came."""
        self.found = np.zeros((PERIODS, extent.joins), np.int64)
        """By period and join: how many results count."""
        self.held = np.zeros(PERIODS, np.int64)
        """By period: the most tuples held."""
        empty = np.zeros(0, np.int64)
        self._keys = [[(empty, empty)] for _ in range(extent.joins)]
        self._collected = [0] * extent.joins

    def add(self, feed: Feed, trace: Trace) -> None:
        """Enter what some arrivals have found."""
        times = feed.time[feed.order]
        period = self._extent.period(times)
        counted = self._warm_up.counted(self._seen, times)
        self._seen += len(times)
        self.arrivals += np.bincount(period, minlength=PERIODS)
        np.maximum.at(self.held, period, trace.held)
        np.add.at(self.found, period[counted], trace.found[counted])
        for join, kept in enumerate(self._keys):
            some = np.flatnonzero(counted & (trace.found[:, join] > 0))
            kept.append((feed.keys[feed.order[some], join], trace.found[some, join]))
            self._collected[join] += len(some)
            if self._collected[join] > MANY:
                kept[:] = [self.by_key(join)]
                self._collected[join] = 0

    def by_key(self, join: int) -> tuple[np.ndarray, np.ndarray]:
        """The codes of the keys with results in a join, and how many each has."""
        keys, counts = (np.concatenate(parts) for parts in zip(*self._keys[join], strict=True))
        distinct, places = np.unique(keys, return_inverse=True)
        totals = np.zeros(len(distinct), np.int64)
        np.add.at(totals, places, counts)
        return distinct, totals

    @property
    def results(self) -> np.ndarray:
        """By join: how many results count."""
        return self.found.sum(axis=0)

    @property
    def memory_need(self) -> list[int]:
        """By period: the most tuples held; where nothing arrives, as many as before."""
        empty = self.arrivals == 0
        before = np.maximum.accumulate(np.where(empty, 0, np.arange(PERIODS)))
        return self.held[before].tolist()

    def recall_of(self, exact: "Tally", stressed: bool = False) -> float:
        """Which share of the exact results was found, perhaps only where there is stress.

        There is stress in a period in which more tuples than the mean arrive.
        """
        when = exact.arrivals > exact.arrivals.mean() if stressed else slice(None)
        total = int(exact.found[when].sum())
        return int(self.found[when].sum()) / total if total else 1.0

    def distortion_from(self, exact: "Tally") -> tuple[float | None, float | None]:
        """Compare the shares of the keys with the exact ones: squared errors, and KL divergence."""
        found, true = [], []
        for join in range(self._extent.joins):
            keys, counts = exact.by_key(join)
            mine, its = self.by_key(join)
            there = np.zeros(len(keys), np.int64)
            there[np.searchsorted(keys, mine)] = its
            found.append(there)
            true.append(counts)
        return distortion(np.concatenate(found), np.concatenate(true))


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
