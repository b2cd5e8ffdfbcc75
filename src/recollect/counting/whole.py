"""The frequent values of a whole input, in one pass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from math import ceil
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.counting.estimate import epsilon_for_memory, estimated_entries
from recollect.counting.lossy import LEAST_EPSILON, as_typed, width_of
from recollect.counting.popularity import fresh_draws
from recollect.counting.values import ValueCounter
from recollect.errors import InputError
from recollect.hashing import code_of, missing
from recollect.locality.coincidences import Coincidences
from recollect.locality.model import LocalityModel, fit_locality
from recollect.streams import Source, open_source
from recollect.streams.checks import require_real, require_whole
from recollect.streams.python_values import python_values

HEAD = 262_144
"""How many tuples are looked at before counting begins."""
DEPTH = 50
"""How far back copies are looked for in them."""
BATCH_ROWS = 65_536


@dataclass(frozen=True)
class Frequent:
    """What :func:`count` found."""

    table: pa.Table
    """``value``, ``count`` and ``max_error``, the most frequent first: a value came at least
    ``count`` times, and at most ``max_error`` times more."""
    tuples: int
    """How many tuples had a value; the support is a share of these."""
    null_keys: int
    """How many had none."""
    epsilon: float
    """By which share of all tuples a count may be low."""
    entries_peak: int
    """How many values had a counter at the same time, at most."""
    entries_estimated: float
    """How many were expected, from the popularity and the locality of the head of the stream."""

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain Python values."""
        rows = zip(*(python_values(column) for column in self.table.columns), strict=True)
        return {
            "tuples": self.tuples,
            "null_keys": self.null_keys,
            "epsilon": self.epsilon,
            "entries_peak": self.entries_peak,
            "entries_estimated": round(self.entries_estimated),
            "frequent": [list(row) for row in rows],
        }


def count(
    data: Any,
    key: str,
    support: float,
    epsilon: float | None = None,
    memory: int | None = None,
    progress: Callable[[str, int], None] = lambda stage, tuples: None,
) -> Frequent:
    """Find all values that make up a share of a stream, in bounded memory (Lossy Counting).

    No value that came ``support * tuples`` times is left out; none that came less than
    ``(support - epsilon) * tuples`` times is in the answer; counts are low by at most
    ``epsilon * tuples``.

    Parameters
    ----------
    data
        Whatever :func:`recollect.streams.open_source` reads; it is read once.
    key
        The column, of any type. NULL and NaN are not counted.
    support
        The share of all tuples that makes a value frequent.
    epsilon
        The error of the counts, less than the support.
    memory
        Instead of epsilon: the most values that may have a counter at the same time. The error is
        then chosen from what the head of the stream is like. If later tuples need more counters,
        the error grows, and is given back; the number of counters never does.
    progress
        Told what is being done and how many tuples have been read since the last call.

    Examples
    --------
    >>> from recollect.streams import ZipfStream
    >>> found = count(ZipfStream(100_000, exponent=1.2), key="key", support=0.05, epsilon=0.005)
    >>> found.table["value"].to_pylist(), found.entries_peak
    ([0, 1, 2], 130)
    """
    require_real("support", support, least=LEAST_EPSILON, most=1)
    if memory is not None:
        require_whole("memory", memory, least=1)
    if (epsilon is None) == (memory is None):
        raise InputError(
            f"epsilon={epsilon}, memory={memory}: give one of both, the error that counts may have"
            " or the number of counters"
        )
    source = open_source(data)
    arrays = _arrays(source, key, progress)
    head: list[pa.Array] = []
    rows = 0
    for array in arrays:
        head.append(array)
        rows += len(array)
        if rows >= HEAD:
            break
    stream = _Head.of(head, complete=rows < HEAD)
    if memory is not None:
        epsilon = stream.epsilon_for(memory, support)
    assert epsilon is not None
    kind = source.schema.field(key).type
    values = ValueCounter(kind, epsilon, memory)
    values.counter.frequent(support)  # complains before the work, not after it
    for array in chain(head, arrays):
        values.add(array)
    found, counter = values.frequent(support), values.counter
    expected = stream.entries(epsilon, counter.tuples)
    return Frequent(
        table=pa.table(
            {
                "value": found.values,
                "count": found.entries.counts,
                "max_error": found.entries.errors,
            }
        ),
        tuples=counter.tuples,
        null_keys=values.nulls,
        epsilon=counter.epsilon,
        entries_peak=counter.entries_peak,
        entries_estimated=expected if memory is None else min(expected, memory),
    )


def _arrays(source: Source, key: str, progress: Callable[[str, int], None]) -> Iterator[pa.Array]:
    for batch in source.batches([key], batch_rows=BATCH_ROWS):
        progress("counting", batch.num_rows)
        yield batch.column(0)


@dataclass(frozen=True)
class _Head:
    """What the head of a stream says about it."""

    popularity: np.ndarray
    """How often each value was drawn, copies apart, in any order."""
    model: LocalityModel | None
    tuples: int | None
    """The length of the stream, if this is all of it."""

    @classmethod
    def of(cls, arrays: list[pa.Array], complete: bool) -> "_Head":
        parts = [np.empty(0, np.int64)]
        for array in arrays:
            mask = missing([array])
            parts.append(code_of(array) if mask is None else code_of(array)[~mask])
        codes = np.concatenate(parts)
        if len(codes) == 0:
            return cls(np.empty(0), None, None)
        pairs = Coincidences(DEPTH)
        pairs.add(codes)
        counts = np.unique(codes, return_counts=True)[1]
        model = fit_locality(pairs.counts, len(codes), counts)
        return cls(fresh_draws(codes, model), model, len(codes) if complete else None)

    def epsilon_for(self, memory: int, support: float) -> float:
        """The smallest error that the memory allows."""
        if len(self.popularity) == 0:
            return support / 2  # nothing to count, so any will do
        if self.tuples is not None and len(self.popularity) <= memory:
            return min(support / 2, 1 / (self.tuples + 1))  # no bucket ends, nothing is missed
        epsilon = epsilon_for_memory(memory, self.popularity, self.model, self.tuples)
        if as_typed(epsilon) >= as_typed(support):
            needed = ceil(self.entries(support / 2, self.tuples))
            raise InputError(
                f"with {memory} entries, counts would be low by {epsilon:.3g} of all tuples, which"
                f" is not less than the support, {support}; give about {needed} entries"
            )
        return epsilon

    def entries(self, epsilon: float, tuples: int | None) -> float:
        """How many entries are to be expected in a stream of so many tuples."""
        keys = len(self.popularity)
        if keys == 0 or (self.tuples is not None and width_of(epsilon) >= self.tuples):
            return float(keys)  # they are all in one bucket
        return estimated_entries(epsilon, self.popularity, self.model, tuples)
