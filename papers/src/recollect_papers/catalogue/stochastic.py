"""Xie, Yang, Chen: On Joining and Caching Stochastic Streams, SIGMOD 2005."""

from dataclasses import replace
from math import inf

import numpy as np
import pyarrow as pa

from recollect.streams.trend import TrendStream
from recollect.streams.walk import WalkStream
from recollect_papers.catalogue.workload import Folder, Recipes, Workload, seeds
from recollect_papers.data_folder import DataFile
from recollect_papers.streams.autoregressive import AutoregressiveStream

STOCHASTIC = Recipes("stochastic")
CACHE, RUNS = 10, 50
CACHING = {"caches": (10, 300), "coefficient": 0.72, "constant": 5.59, "deviation": 4.22}
"""The sizes of the cache, from and to, and the model that the paper fitted to REAL (°C)."""
MELBOURNE = DataFile(
    "melbourne_temp",
    ("day_no", "max_c"),
    "the daily temperatures of Melbourne, 1981 to 1990, in FinYang/tsdl (GPL-3)",
)


def trends(
    tuples: int,
    seed: int,
    deviations: tuple[float, float],
    bounds: tuple[int, int] = (10, 15),
    lag: int = 1,
) -> Workload:
    """Two streams that follow the same trend, R behind S, each with its own noise.

    The window is the time after which the noise of the other stream cannot reach a tuple any
    more, so it costs no results.
    """
    left, right = seeds(seed, 2)
    reach = sum(bounds)
    return Workload(
        {
            "R": TrendStream(tuples, lag=lag, deviation=deviations[0], bound=bounds[0], seed=left),
            "S": TrendStream(tuples, deviation=deviations[1], bound=bounds[1], seed=right),
        },
        {"on": "key", "time": "time", "window": (reach - lag, reach + lag)},
        {"cache": CACHE, "warm_up": 4 * CACHE, "runs": RUNS},
    )


@STOCHASTIC.generated("tower", "§8", tuples=5_000)
def tower(tuples: int, seed: int) -> Workload:
    """TOWER: two linear trends with narrow normal noise."""
    return trends(tuples, seed, (1.0, 2.0))


@STOCHASTIC.generated("roof", "§8", tuples=5_000)
def roof(tuples: int, seed: int) -> Workload:
    """ROOF: two linear trends with wide normal noise."""
    return trends(tuples, seed, (3.3, 5.0))


@STOCHASTIC.generated("floor", "§8", tuples=5_000)
def floor(tuples: int, seed: int) -> Workload:
    """FLOOR: two linear trends with uniform noise."""
    return trends(tuples, seed, (inf, inf))


@STOCHASTIC.generated("walk", "§8", tuples=5_000)
def walk(tuples: int, seed: int) -> Workload:
    """WALK: two random walks without drift, which often lose sight of each other."""
    left, right = seeds(seed, 2)
    return Workload(
        {"R": WalkStream(tuples, seed=left), "S": WalkStream(tuples, seed=right)},
        {"on": "key", "time": "time", "window": "unlimited"},
        {"cache": CACHE, "warm_up": 4 * CACHE, "runs": RUNS},
    )


def allocation(tuples: int, seed: int, lag: int = 0, wider: int = 1) -> Workload:
    """TOWER with two streams alike, but for the lag of R or the deviation of S."""
    made = trends(tuples, seed, (1.0, 1.0 * wider), bounds=(10, 10), lag=lag)
    return replace(made, facts={**made.facts, "chosen": ("deviation", "bound")})


@STOCHASTIC.generated("tower-even", "§8, figure 16", tuples=5_000)
def tower_even(tuples: int, seed: int) -> Workload:
    """TOWER with two streams of the same law: which of them deserves the memory?"""
    return allocation(tuples, seed)


@STOCHASTIC.generated("tower-lag-2", "§8, figure 16", tuples=5_000)
def tower_lag_2(tuples: int, seed: int) -> Workload:
    """TOWER with two streams alike, R two time units behind S."""
    return allocation(tuples, seed, lag=2)


@STOCHASTIC.generated("tower-lag-4", "§8, figure 16", tuples=5_000)
def tower_lag_4(tuples: int, seed: int) -> Workload:
    """TOWER with two streams alike, R four time units behind S."""
    return allocation(tuples, seed, lag=4)


@STOCHASTIC.generated("tower-wide-2", "§8, figure 16", tuples=5_000)
def tower_wide_2(tuples: int, seed: int) -> Workload:
    """TOWER with two streams alike, but S with twice the deviation."""
    return allocation(tuples, seed, wider=2)


@STOCHASTIC.generated("tower-wide-4", "§8, figure 16", tuples=5_000)
def tower_wide_4(tuples: int, seed: int) -> Workload:
    """TOWER with two streams alike, but S with four times the deviation."""
    return allocation(tuples, seed, wider=4)


@STOCHASTIC.generated("ar1", "§8, REAL", tuples=3_650)
def ar1(tuples: int, seed: int) -> Workload:
    """The model of REAL: an AR(1) stream that looks up 0.1-degree ranges through a cache."""
    [only] = seeds(seed, 1)
    return Workload({"R": AutoregressiveStream(tuples, seed=only)}, {"on": "key"}, CACHING)


@STOCHASTIC.real("real", "§8, REAL")
def real(data: Folder) -> Workload:
    """REAL: ten years of daily temperatures in Melbourne look up 0.1-degree ranges."""
    table = MELBOURNE.read(data)
    tenths = np.rint(10 * table["max_c"].to_numpy()).astype(np.int64)
    return Workload(
        {"R": pa.table({"time": table["day_no"], "key": tenths})}, {"on": "key"}, CACHING
    )
