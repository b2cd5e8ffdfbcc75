"""Runs of the paper's configurations: what both streams show at each step, and by which laws."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.forecast import Trend, Walk
from recollect.streams import TrendStream, WalkStream
from recollect_papers import catalogue


@dataclass(frozen=True, eq=False)
class Runs:
    """Some runs of a configuration.

    Parameters
    ----------
    values
        By run, stream and step.
    laws
        Of R and of S.
    """

    values: NDArray[np.int64]
    laws: tuple[Trend, Trend] | tuple[Walk, Walk]

    @cached_property
    def positions(self) -> NDArray[np.float64]:
        """Where R and S are: on the line of their trend, or at their last value; as ``values``."""
        steps = np.arange(self.values.shape[-1])
        lines = [
            law.slope * steps + law.intercept if isinstance(law, Trend) else self.values[:, side]
            for side, law in enumerate(self.laws)
        ]
        return np.stack([np.broadcast_to(line, self.values[:, 0].shape) for line in lines], axis=1)


def runs_of(configuration: str, steps: int, seeds: Sequence[int]) -> Runs:
    """Generate runs of a workload of the catalogue.

    >>> tower = runs_of("tower", steps=100, seeds=[0, 1, 2])
    >>> tower.values.shape, tower.laws[0].intercept
    ((3, 2, 100), -1.0)
    """
    pairs = [
        tuple(catalogue.load(configuration, tuples=steps, seed=seed).streams.values())
        for seed in seeds
    ]
    values = [[stream.table()["key"].to_numpy() for stream in pair] for pair in pairs]
    left, right = (law_of(stream) for stream in pairs[0])
    return Runs(np.array(values, np.int64), (left, right))  # type: ignore[arg-type]


def law_of(stream: Any) -> Trend | Walk:
    """Tell the law that a generator follows."""
    if isinstance(stream, WalkStream):
        return Walk(stream.step)
    assert isinstance(stream, TrendStream)
    return Trend(stream.slope, -stream.slope * stream.lag, stream.noise)
