"""Which law describes a stream best: the one that is least surprised by values it has not seen.

Each law is fitted to the first part of the stream and then predicts the rest, one step at a time.
It is judged by the mean logarithm of the probability that it gave to what came. One per cent of
each forecast is spread evenly over all values, so that a single impossible value does not rule a
law out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recollect.errors import InputError
from recollect.forecast.base import Forecast, Now, forecast_class, forecast_names
from recollect.streams.checks import require_real, whole_numbers

UNSURE = 0.01
"""The share of a forecast that is spread over all values."""
MOST_JUDGED = 5_000
"""How many of the values kept back are judged at the most, the last ones."""


@dataclass(frozen=True)
class Judged:
    """How well a law foretold the values kept back."""

    name: str
    log_likelihood: float
    """The mean per value, in nats; minus infinity if the law could not be fitted."""
    forecast: Forecast | None
    """The law, fitted to all values."""
    reason: str = ""
    """Why it could not be fitted."""


def judge(
    values: ArrayLike, laws: Sequence[str] | None = None, kept_back: float = 0.3
) -> list[Judged]:
    """Compare laws by their likelihood on values kept back, the best first.

    Parameters
    ----------
    values
        The stream so far.
    laws
        Names of laws; all laws if left out.
    kept_back
        The share of the values, from the end, that the laws are not fitted to.

    Examples
    --------
    >>> from recollect.forecast import DiscreteLaw, Walk
    >>> values = Walk(DiscreteLaw(-1, [0.4, 0, 0.6])).sample(2_000, seed=3)
    >>> judge(values)[0].name
    'walk'
    """
    numbers = whole_numbers(values, least=10)
    require_real("kept_back", kept_back, least=0.05, most=0.95)
    names = forecast_names() if laws is None else laws
    begin = min(max(3, round(len(numbers) * (1 - kept_back))), len(numbers) - 1)
    judged = [_judged(forecast_class(name), numbers, begin) for name in names]
    return sorted(judged, key=lambda one: -one.log_likelihood)


def choose(
    values: ArrayLike, laws: Sequence[str] | None = None, kept_back: float = 0.3
) -> Forecast:
    """Fit the law that predicts the values kept back best; see :func:`judge`."""
    best = judge(values, laws, kept_back)[0]
    if best.forecast is None:
        raise InputError(f"no law fits these values: {best.name}: {best.reason}")
    return best.forecast


def _judged(law: type[Forecast], values: np.ndarray, begin: int) -> Judged:
    try:
        likelihood = _log_likelihood(law.fit(values[:begin]), values, begin)
        return Judged(law.name, likelihood, law.fit(values))
    except InputError as error:
        return Judged(law.name, -np.inf, None, str(error))


def _log_likelihood(forecast: Forecast, values: np.ndarray, begin: int) -> float:
    judged = np.arange(max(begin, len(values) - MOST_JUDGED), len(values))
    given = np.array([_next_probability(forecast, values, int(step)) for step in judged])
    even = 1 / len(np.unique(values))
    return float(np.log((1 - UNSURE) * given + UNSURE * even).mean())


def _next_probability(forecast: Forecast, values: np.ndarray, step: int) -> float:
    try:
        return forecast.probability(int(values[step]), 1, Now(step - 1, values[:step]))
    except InputError:  # a last value that the law does not know: it has no forecast
        return 0.0
