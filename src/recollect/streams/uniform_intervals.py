"""Tuples that are valid for a while, spread evenly over time: the relation DS1."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recollect.streams.checks import require_real, require_whole
from recollect.streams.generator import Generator, Sampler

KEYS, VALUES = 1_000, 100_000
SCHEMA = pa.schema([(name, pa.int64()) for name in ("start", "end", "key", "value")])
"""What a tuple of a temporal relation has: [start, end), whose it is, and how much."""


@dataclass(frozen=True)
class UniformIntervals(Generator):
    """Intervals [start, end) that start anywhere and last up to a given share of the time range.

    DS1 of the temporal aggregation paper: the start is a whole number from 1 to ``time_range``,
    the end one from ``start + 1`` to ``start + span · time_range``. Like the paper's name and
    salary, ``key`` (0 to 999) and ``value`` (1 to 100,000) have nothing to do with the interval.

    Parameters
    ----------
    tuples
        Size of the relation, which is in no order.
    time_range
        The last start possible. The paper has 65,536 tuples per million.
    span
        The longest interval, as a share of ``time_range``.
    seed
        Which of the many relations of this kind.

    Examples
    --------
    >>> UniformIntervals(tuples=3, time_range=100, seed=1).table().to_pylist()[0]
    {'start': 52, 'end': 81, 'key': 144, 'value': 94865}
    """

    tuples: int
    time_range: int = 1_000_000
    span: float = 0.3
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_whole("time_range", self.time_range, least=1, most=2**50)
        require_real("span", self.span, least=0, most=1)

    @property
    def schema(self) -> pa.Schema:
        """Start and end, key and value."""
        return SCHEMA

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        longest = max(1, int(self.span * self.time_range))

        def sample(times: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
            sizes = (self.time_range, longest, KEYS, VALUES)
            drawn = (random.random((len(times), 4)) * sizes).astype(np.int64)
            start = 1 + drawn[:, 0]
            return start, start + 1 + drawn[:, 1], drawn[:, 2], 1 + drawn[:, 3]

        return sample
