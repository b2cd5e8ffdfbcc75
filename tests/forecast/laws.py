"""One small example of each law, beside its naive twin."""

from typing import NamedTuple

import numpy as np

from recollect.forecast import Ar1, DiscreteLaw, Forecast, Locality, Markov, Stationary, Trend, Walk
from recollect.locality.model import LocalityModel
from tests.naive import forecast as naive


class Example(NamedTuple):
    """A law, the twin, values it may have shown, and values to ask about."""

    law: Forecast
    twin: naive.Next
    history: list[int]
    values: list[int]


NOISE = {-1: 0.2, 0: 0.5, 2: 0.3}
NOISE_LAW = DiscreteLaw(-1, np.array([0.2, 0.5, 0.0, 0.3]))
CHAIN = {2: {2: 0.1, 5: 0.9}, 5: {2: 0.3, 9: 0.7}, 9: {9: 1.0}}
POPULAR = {1: 0.5, 2: 0.25, 7: 0.25}

LOCAL = Locality(LocalityModel(np.array([0.1, 0.0, 0.5]), 0.4), Stationary.fit([1, 1, 2, 7]))
LOCAL_TWIN = naive.locality([0.1, 0.0, 0.5], 0.4, POPULAR)

EXAMPLES = {
    "stationary": Example(
        Stationary([1, 2, 7], [0.5, 0.25, 0.25]), naive.stationary(POPULAR), [2], [1, 2, 3, 7, 9]
    ),
    "trend": Example(
        Trend(1, 3, NOISE_LAW), naive.trend(1, 3, NOISE), [3, 4, 4], [4, 5, 6, 7, 8, 9, 12]
    ),
    "slow trend": Example(
        Trend(-0.3, 0.5, NOISE_LAW), naive.trend(-0.3, 0.5, NOISE), [1, 0], [-2, -1, 0, 1, 2]
    ),
    "walk": Example(Walk(NOISE_LAW), naive.walk(NOISE), [0, 5], [3, 4, 5, 6, 7, 8, 20]),
    "markov": Example(
        Markov([2, 5, 9], [[0.1, 0.9, 0], [0.3, 0, 0.7], [0, 0, 1]]),
        naive.markov(CHAIN), [9, 5], [2, 5, 7, 9],
    ),
    "ar1": Example(Ar1(0.6, 2, 0.8), naive.ar1(0.6, 2, 0.8), [7], [3, 4, 5, 6, 7]),
    "locality": Example(LOCAL, LOCAL_TWIN, [7, 1, 2, 2], [1, 2, 7, 8]),
    "locality at the start": Example(LOCAL, LOCAL_TWIN, [7], [1, 2, 7, 8]),
}  # fmt: skip
