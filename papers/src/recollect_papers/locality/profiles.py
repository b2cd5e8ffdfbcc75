"""What figures 1 and 2 and table 2 have in common: each stream is profiled once.

A row says of one stream and seed what was measured (``what``): a share by rank, a share by
distance, b by h, an entropy.
"""

from collections.abc import Iterator
from math import log
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recollect.locality import KeyNumbers, Popularity, Profile, permutation, profile
from recollect_papers.experiment import Point, Rows, Scale
from recollect_papers.locality.arrivals import (
    PERMUTED,
    STREAM,
    arrivals,
    generated_points,
    real_points,
)
from recollect_papers.theory import locality_model

H = 100
"""How many tuples the model looks back, at most."""
NEAR = 50
"""Distances up to here are short: what the paper finds to be enough for h."""
PER_DECADE = 20
DEPTHS = (1, 2, 5, 10, 20, 50, 100)
HEAD = 100_000
"""So many tuples are enough for the fit to numbers, whose time grows with h^2."""
AS_THEY_COME = "fit to numbers, as keys come"
AT_RANDOM = "fit to numbers, at random"
NUMBERS_PERMUTED = "fit to numbers, permuted"
REAL = ("trades", "retail", "oltp", "orm", "weather")

Keys = NDArray[np.int64]
Lines = Iterator[dict[str, Any]]


def points(scale: Scale) -> list[Point]:
    """Return the generated stream under a few seeds, and each real one."""
    generated = generated_points(scale, seeds=10 if scale.full else 3, tuples=None)
    return generated + real_points(scale, REAL, tuples=None)


def measure(stream: str, tuples: int | None, seed: int, data: str | None) -> Rows:
    """Profile a stream, and fit the model in the paper's way too."""
    keys = arrivals(stream, tuples, seed, data)
    found = profile(pa.table({"key": keys}), "key", h=H, seed=seed)
    lines = [*_popularity(found.popularity), *_of_orders(found), *_fits(keys[:HEAD], seed)]
    return [{"stream": stream, "seed": seed, **line} for line in lines]


def _popularity(popularity: Popularity) -> Lines:
    shares = popularity.counts / popularity.tuples
    for rank in _grid(popularity.distinct):
        yield {"what": "share", "rank": rank, "share": float(shares[rank - 1])}
    if popularity.zipf is not None:
        yield {"what": "slope", "slope": popularity.zipf.slope, "error": popularity.zipf.error}


def _of_orders(found: Profile) -> Lines:
    for name, order in ((STREAM, found.stream), (PERMUTED, found.permuted)):
        distances, fitted = order.interarrival, order.fitted
        assert fitted is not None
        for distance in _grid(found.popularity.tuples):
            share = distances.within(distance) / max(distances.repeats, 1)
            yield {"what": "distance", "order": name, "distance": distance, "share": share}
        near = distances.within(NEAR) / found.popularity.tuples
        yield {"what": "near", "order": name, "share": near}
        for h, b in fitted.b_by_h.items():
            yield {"what": "b", "fit": name, "h": h, "b": b}
        # In natural units, as in the paper: log 500 = 6.21, and its table says 6.19.
        yield {"what": "entropy", "order": name, "entropy": fitted.entropy * log(2)}


def _fits(keys: Keys, seed: int) -> Lines:
    """Fit the model to the keys as numbers from 1 on: the paper's least squares."""
    numbers = KeyNumbers().add(keys).astype(np.int64)
    shuffled = permutation(int(numbers.max()) + 1, seed)
    orders = {
        AS_THEY_COME: numbers,
        AT_RANDOM: shuffled[numbers],
        NUMBERS_PERMUTED: numbers[permutation(len(numbers), seed)],
    }
    for name, order in orders.items():
        for h in DEPTHS:
            b = locality_model(order + 1, h, encoding="value").b
            yield {"what": "b", "fit": name, "h": h, "b": b}


def _grid(last: int) -> list[int]:
    """Return whole numbers up to the last, evenly spread over a logarithmic axis.

    >>> _grid(12)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    """
    exponents = np.arange(PER_DECADE * np.log10(max(last, 1)) + 1e-9)
    return np.unique(np.round(10 ** (exponents / PER_DECADE)).astype(np.int64)).tolist()


def selected(rows: Rows, what: str) -> Rows:
    """Return the rows about one thing.

    >>> selected([{"what": "b", "b": 0.3}, {"what": "near"}], "b")
    [{'what': 'b', 'b': 0.3}]
    """
    return [row for row in rows if row["what"] == what]
