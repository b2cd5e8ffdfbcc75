"""The profile of a stream: what kind of locality it has, measured in one pass.

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, sections 2, 3.1 and 4.3; GreedyDual-Join paper, section 2.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.hashing import code_of_columns, missing
from recollect.locality.coincidences import Coincidences
from recollect.locality.distances import Distances
from recollect.locality.entropy import conditional_entropy, entropy_iid
from recollect.locality.interarrival import InterArrival
from recollect.locality.model import LocalityModel, b_by_h, fit_locality
from recollect.locality.numbering import KeyNumbers
from recollect.locality.permutation import permutation
from recollect.locality.popularity import Popularity
from recollect.locality.stack_distance import StackDistance
from recollect.locality.time_order import TimeOrder
from recollect.streams import open_source

BATCH_ROWS = 65_536
Progress = Callable[[str, int], None]
Numbers = NDArray[np.int32]


def quiet(stage: str, tuples: int) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class Fitted:
    """The locality model of a stream."""

    model: LocalityModel
    b_by_h: dict[int, float]
    """How much is left to popularity by models that look back less far, and by this one."""
    entropy: float
    """The mean entropy of the model's forecasts, in bits per tuple."""


@dataclass(frozen=True)
class Order:
    """What was measured of the tuples in one order: as they came, or shuffled.

    None stands for what was not measured.
    """

    interarrival: Distances
    stack: Distances | None
    fitted: Fitted | None


@dataclass(frozen=True)
class Profile:
    """What :func:`profile` measured."""

    popularity: Popularity
    stream: Order
    """The tuples as they came."""
    permuted: Order
    """The same tuples, shuffled: what popularity alone would do."""
    entropy_iid: float
    """The entropy of a stream of independent tuples of this popularity, in bits per tuple."""
    h: int
    """How many tuples the locality model looks back."""
    null_keys: int
    """Tuples without a key, which were left out."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON knows it; without what was not measured."""
        zipf = self.popularity.zipf
        values: dict[str, Any] = {
            "tuples": self.popularity.tuples,
            "distinct": self.popularity.distinct,
            "null_keys": self.null_keys,
            "zipf_slope": zipf and zipf.slope,
            "zipf_slope_error": zipf and zipf.error,
            "entropy_iid": self.entropy_iid,
            "h": self.h,
        }
        for suffix, order in (("", self.stream), ("_permuted", self.permuted)):
            values["iad_quantiles" + suffix] = order.interarrival.quantiles()
            if order.stack is not None:
                values["stack_quantiles" + suffix] = order.stack.quantiles()
            if order.fitted is not None:
                values["b" + suffix] = float(order.fitted.model.b)
                values["weights" + suffix] = [float(a) for a in order.fitted.model.weights]
                values["entropy" + suffix] = order.fitted.entropy
        return values


def profile(
    source: Any,
    key: str | Sequence[str],
    time: str | None = None,
    h: int = 50,
    seed: int = 0,
    progress: Progress = quiet,
) -> Profile:
    """Measure the locality of a stream, and of a permutation of it, in one pass over the data.

    The stream is measured as it comes. One number of 4 bytes per tuple is kept, because the
    permutation and the entropy need all tuples once more; shuffling takes another 20 bytes per
    tuple while it lasts. Tables by key take about 100 bytes per distinct key. So 10,000,000
    tuples with 1,000,000 distinct keys need about 400 MB.

    Keys of more than 64 bits (texts, several columns) are told apart by a 64-bit hash.

    Parameters
    ----------
    source
        Whatever :func:`recollect.streams.open_source` reads, with the tuples in order of arrival.
    key
        The key column, or several that are the key together. Tuples in which one is NULL or NaN are
        left out and counted.
    time
        A time column, to have it checked that the tuples are in its order.
    h
        How many tuples the locality model looks back, at most 1,000.
    seed
        Which permutation.
    progress
        Called with what is being done and by how many tuples it got on.

    Examples
    --------
    >>> from recollect.streams import LocalityStream
    >>> stream = LocalityStream(tuples=50_000, keys=1_000, repeat=0.6, depth=20, seed=1)
    >>> found = profile(stream, key="key", time="time", h=20)
    >>> round(found.stream.fitted.model.b, 1), round(found.permuted.fitted.model.b, 1)
    (0.4, 1.0)
    >>> found.stream.interarrival.quantile(0.5), found.permuted.interarrival.quantile(0.5)
    (12, 262)
    """
    measuring, keys = _Measuring(h), KeyNumbers()
    kept: list[Numbers] = []
    rows = 0
    for codes, size in key_codes(source, key, time):
        kept.append(keys.add(codes))
        measuring.add(kept[-1])
        rows += size
        progress("reading", size)
    numbers: Numbers = np.concatenate([np.empty(0, np.int32), *kept])
    del kept
    if not len(numbers):
        raise InputError(f"there is nothing to profile: none of {rows:,} tuples has a key")
    popularity = Popularity.of(keys.counts)
    one_draw = entropy_iid(popularity.counts)
    stream = measuring.finish(numbers, keys.counts, one_draw)

    shuffled, measuring = numbers[permutation(len(numbers), seed)], _Measuring(h)
    for start in range(0, len(numbers), BATCH_ROWS):
        part = shuffled[start : start + BATCH_ROWS]
        measuring.add(part)
        progress("shuffled", len(part))
    permuted = measuring.finish(shuffled, keys.counts, one_draw)
    return Profile(popularity, stream, permuted, one_draw, h, rows - len(numbers))


class _Measuring:
    """Measures the tuples in one order, batch by batch."""

    def __init__(self, h: int) -> None:
        self._interarrival = InterArrival()
        self._stack = StackDistance()
        self._coincidences = Coincidences(h)

    def add(self, numbers: Numbers) -> None:
        self._interarrival.add(numbers)
        self._stack.add(numbers)
        self._coincidences.add(numbers.astype(np.int64))

    def finish(self, numbers: Numbers, counts: NDArray[np.int64], one_draw: float) -> Order:
        """Fit the model, and go through all tuples once more for the entropy."""
        found, tuples = self._coincidences, len(numbers)
        model = fit_locality(found.counts, tuples, counts)
        entropy = conditional_entropy(numbers, counts / tuples, model, one_draw) / tuples
        return Order(
            self._interarrival.distances,
            self._stack.distances,
            Fitted(model, shorter_models(found.counts, tuples, counts), entropy),
        )


def shorter_models(
    coincidences: ArrayLike, tuples: int, counts: NDArray[np.int64]
) -> dict[int, float]:
    """The b of models that look back 1, 2, … tuples, up to the number of coincidence counts."""
    h = len(np.asarray(coincidences))
    reaches = np.unique(np.geomspace(1, h, 16).round().astype(np.int64)).tolist()
    found = b_by_h(coincidences, tuples, counts, reaches)
    return {reach: float(b) for reach, b in zip(reaches, found, strict=True)}


def key_codes(
    source: Any, key: str | Sequence[str], time: str | None = None
) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Read the keys of a stream as codes, batch by batch, without those that are missing.

    Yields
    ------
    tuple
        The codes of a batch, and how many rows it had.

    Examples
    --------
    >>> stream = pa.table({"key": [7, None, 8]})
    >>> [(codes.tolist(), rows) for codes, rows in key_codes(stream, "key")]
    [([7, 8], 3)]
    """
    data = open_source(source)
    names = [key] if isinstance(key, str) else list(key)
    if not names:
        raise InputError("a profile needs at least one key column")
    order = None if time is None else TimeOrder(data.name, time)
    columns = list(dict.fromkeys([*names, *([] if time is None else [time])]))
    for batch in data.batches(columns, BATCH_ROWS):
        if order is not None:
            order.check(batch.column(time))
        parts: list[pa.Array] = [batch.column(name) for name in names]
        codes, absent = code_of_columns(parts), missing(parts)
        yield codes if absent is None else codes[~absent], batch.num_rows
