"""The streams of the pictures: small ones to look into memory, larger ones to count results."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recollect.forecast import DiscreteLaw, Trend
from recollect.streams import TrendStream, ZipfStream

Whole = NDArray[np.int64]

SHOWN = 240
"""Of a small stream the last so many arrivals are drawn; the others are there to learn from."""
AWHILE, RARE = 3, 1_000
"""The first key that comes for a while, and the first that comes rarely; those below come often."""
FASHION = 40
"""For how many arrivals a key comes that comes for a while."""


TRENDS = Trend(0.25, 9, DiscreteLaw.normal(1, 3)), Trend(0.25, 10, DiscreteLaw.normal(2, 5))
"""What the left and the right stream of moving keys follow; a step is a tuple of each."""


def kinds_of_keys(arrivals: int = 1_200, seed: int = 5) -> Whole:
    """Keys that always come often, keys that come for a while, and keys that come once or twice."""
    draws = np.random.default_rng(seed)
    now = np.arange(arrivals)
    fashion = AWHILE + (now + draws.integers(0, FASHION, arrivals)) // FASHION
    rare = RARE + draws.integers(0, 20, arrivals) + now // 8
    kind = draws.choice(3, arrivals, p=[0.3, 0.4, 0.3])
    return np.choose(kind, [draws.integers(0, AWHILE, arrivals), fashion, rare])


def moving_keys(arrivals: int = 1_200, seed: int = 1) -> Whole:
    """Two trends, the left stream a little behind the right."""
    keys = np.empty(arrivals, np.int64)
    for side, law in enumerate(TRENDS):
        keys[side::2] = law.sample(arrivals // 2, seed=seed + side)
    return keys


def references(arrivals: int = 1_200, seed: int = 5) -> Whole:
    """The first kind of keys as references, and now and then a scan: rows wanted once."""
    keys = kinds_of_keys(arrivals, seed)
    for begin in range(70, arrivals, 120):
        keys[begin : begin + 12] = keys.max() + 1 + np.arange(12)
    return keys


def lasting(seed: int) -> ZipfStream:
    """Popularity that lasts."""
    return ZipfStream(10_000, keys=1_000, exponent=0.8, seed=seed)


def passing(seed: int) -> pa.Table:
    """Popularity that passes: each key gives way to a new one after 400 time units."""
    places = lasting(seed).table()["key"].to_numpy()
    time = np.arange(len(places))
    begins = np.random.default_rng(0).integers(0, 400, 1_000)
    return pa.table({"time": time, "key": places + 1_000 * ((time + begins[places]) // 400)})


def moving(seed: int) -> TrendStream:
    """Keys that grow with time, with much noise: ROOF of the stochastic paper, times ten."""
    deviation, bound = [(50.0, 150), (33.0, 100)][seed % 2]
    return TrendStream(10_000, deviation=deviation, bound=bound, seed=seed)


def scanned(seed: int) -> pa.Table:
    """Popularity that lasts, but every 500 references 200 rows are wanted that never are again."""
    keys = lasting(seed).table()["key"].to_numpy().copy()
    time = np.arange(len(keys))
    scan = time % 500 < 200
    keys[scan] = 1_000 + time[scan]
    return pa.table({"time": time, "key": keys})
