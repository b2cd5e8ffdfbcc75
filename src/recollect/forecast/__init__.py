"""What a stream will do next: laws that answer P(value at now + Δ), and what follows from them.

One law per file (:mod:`~recollect.forecast.base` is the contract), a chooser between them, and
HEEB's scores, computed once for all times.
"""

from recollect.forecast.ar1 import Ar1
from recollect.forecast.base import Forecast, Now, forecast_class, forecast_names
from recollect.forecast.chooser import Judged, choose, judge
from recollect.forecast.locality import Locality
from recollect.forecast.markov import Markov
from recollect.forecast.stationary import Stationary
from recollect.forecast.survival import Survival
from recollect.forecast.trend import Trend
from recollect.forecast.walk import Walk
from recollect.streams.noise import DiscreteLaw

__all__ = [
    "Ar1",
    "DiscreteLaw",
    "Forecast",
    "Judged",
    "Locality",
    "Markov",
    "Now",
    "Stationary",
    "Survival",
    "Trend",
    "Walk",
    "choose",
    "forecast_class",
    "forecast_names",
    "judge",
]
