"""Tuples that are valid for a while, crowded in one part of the time range: the relation DS2."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recollect.streams.checks import require_whole
from recollect.streams.generator import Generator, Sampler
from recollect.streams.noise import Draw
from recollect.streams.uniform_intervals import KEYS, SCHEMA, VALUES


@dataclass(frozen=True)
class NormalIntervals(Generator):
    """Intervals [start, end) whose start and length are normally distributed.

    DS2 of the temporal aggregation paper: the start has mean 1/4 and standard deviation 1/8 of
    the time range, the length 1/8 and 1/8. The paper does not say what becomes of a start or a
    length below 1, which is every fortieth and every sixth; here it is drawn again.

    Parameters
    ----------
    tuples
        Size of the relation, which is in no order.
    time_range
        The unit of means and deviations. The paper has 65,536 tuples per million.
    seed
        Which of the many relations of this kind.

    Examples
    --------
    >>> NormalIntervals(tuples=3, time_range=100, seed=1).table().to_pylist()[0]
    {'start': 17, 'end': 61, 'key': 511, 'value': 95047}
    """

    tuples: int
    time_range: int = 1_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_whole("time_range", self.time_range, least=8, most=2**50)

    @property
    def schema(self) -> pa.Schema:
        """Start and end, key and value."""
        return SCHEMA

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        for_starts, for_lengths = random.spawn(2)
        starts = _at_least_one(for_starts, self.time_range / 4, self.time_range / 8)
        lengths = _at_least_one(for_lengths, self.time_range / 8, self.time_range / 8)

        def sample(times: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
            start = starts(len(times))
            drawn = (random.random((len(times), 2)) * (KEYS, VALUES)).astype(np.int64)
            return start, start + lengths(len(times)), drawn[:, 0], 1 + drawn[:, 1]

        return sample


def _at_least_one(random: np.random.Generator, mean: float, deviation: float) -> Draw:
    """Return a function that draws the next so many rounded normal numbers of at least 1."""
    # What was drawn and not needed is kept: pieces of another size must give the same numbers.
    spare = np.empty(0, np.int64)

    def draw(count: int) -> NDArray[np.int64]:
        nonlocal spare
        while len(spare) < count:
            drawn = np.rint(random.normal(mean, deviation, max(1024, count))).astype(np.int64)
            spare = np.concatenate([spare, drawn[drawn >= 1]])
        wanted, spare = spare[:count], spare[count:]
        return wanted

    return draw
