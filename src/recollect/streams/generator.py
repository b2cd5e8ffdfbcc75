"""What every generator shares: parameters in, endless batches out, no memory in between.

A new generator is a frozen dataclass with at least ``tuples`` and ``seed`` that says how to
draw the next tuples (:meth:`Generator.sampler`); batching, time stamps and replay are here.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recollect.streams.checks import require_whole

Sampler: TypeAlias = Callable[[NDArray[np.int64]], Sequence[NDArray[Any]]]


class Generator(ABC):
    """A stream made by rule and seed: the same parameters give the same tuples, always.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Squares(Generator):
    ...     tuples: int
    ...     seed: int = 0
    ...     def sampler(self, random):
    ...         return lambda times: (times, times**2)
    >>> Squares(4).table()["key"].to_pylist()
    [0, 1, 4, 9]
    """

    tuples: int
    seed: int

    def __post_init__(self) -> None:
        """Check the parameters; a subclass checks its own and calls this one."""
        require_whole("tuples", self.tuples, least=0)
        require_whole("seed", self.seed, least=0)

    @abstractmethod
    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples.

        The function is called with the times of the tuples wanted, in ascending order and
        without gaps, and returns the columns of :attr:`schema`. It may keep state from call to
        call. Cut into other pieces, the same times must give the same tuples: so draw from
        ``random`` tuple by tuple, or what is drawn per tuple in one array.

        Parameters
        ----------
        random
            The only source of randomness, already seeded.
        """

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns: ``time`` and ``key`` unless a subclass differs."""
        return pa.schema([("time", pa.int64()), ("key", pa.int64())])

    def batches(self, batch_rows: int = 65_536) -> Iterator[pa.RecordBatch]:
        """Yield the stream from its start; every call starts anew.

        Parameters
        ----------
        batch_rows
            Rows per batch (the last may have fewer). Does not change the tuples.
        """
        require_whole("batch_rows", batch_rows, least=1)
        return self._batches(batch_rows)

    def _batches(self, batch_rows: int) -> Iterator[pa.RecordBatch]:
        sample = self.sampler(np.random.default_rng(self.seed))
        for start in range(0, self.tuples, batch_rows):
            times = np.arange(start, min(start + batch_rows, self.tuples), dtype=np.int64)
            columns = [pa.array(column) for column in sample(times)]
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def table(self) -> pa.Table:
        """Return the whole stream as one table, held in memory."""
        return pa.Table.from_batches(self.batches(), schema=self.schema)
