"""The contract of a forecast: what a stream will show at a later step, given what it has shown.

A forecast is a frozen dataclass, the parameters of a law, that can be fitted to data
(:meth:`Forecast.fit`), tells P(value at now + Δ | history) for many values and Δ at once
(:meth:`Forecast.probabilities`) and can be sampled (:meth:`Forecast.sample`). Values are whole
numbers; a step is one tuple of the stream.

>>> from recollect.forecast import Stationary
>>> coin = Stationary.fit([0, 1, 1, 1])
>>> coin.probabilities([0, 1], [1, 2, 3], Now.after([1]))
array([[0.25, 0.25, 0.25],
       [0.75, 0.75, 0.75]])

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 3.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from difflib import get_close_matches
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.streams.checks import whole_numbers

Values = NDArray[np.int64]
Probabilities = NDArray[np.float64]

registry: dict[str, type["Forecast"]] = {}
"""The laws by name."""


def steps_ahead(deltas: ArrayLike) -> Values:
    """Make an array of Δ, which are at least 1."""
    array = whole_numbers(deltas, "deltas")
    if len(array) and array.min() < 1:
        raise InputError(f"a forecast looks at least 1 step ahead, not {array.min()}")
    return array


@dataclass(frozen=True, eq=False)
class Now:
    """What is known of a stream at this moment.

    Parameters
    ----------
    time
        The step of its last tuple; a stream begins at step 0.
    recent
        Its values so far, or as many of the last as the law looks back on, oldest first.

    Examples
    --------
    >>> now = Now.after([4, 7, 5])
    >>> now.time, now.last
    (2, 5)
    """

    time: int
    recent: Values

    @classmethod
    def after(cls, values: ArrayLike) -> Self:
        """Stand behind the last of these values, the first of which came at step 0."""
        recent = whole_numbers(values, "history")
        return cls(len(recent) - 1, recent)

    @property
    def last(self) -> int:
        """The value shown last."""
        if len(self.recent) == 0:
            raise InputError("this forecast starts from the last value, but there is none yet")
        return int(self.recent[-1])


class Forecast(ABC):
    """Base of all laws; a subclass is a frozen dataclass of parameters.

    ``class Mine(Forecast, name="mine")`` makes it known under a name.
    """

    name: ClassVar[str] = ""

    def __init_subclass__(cls, name: str = "") -> None:
        """Enter a law that has a name into the registry."""
        cls.name = name
        if name:
            registry[name] = cls

    @classmethod
    @abstractmethod
    def fit(cls, values: ArrayLike) -> Self:
        """Estimate the parameters from values in order of arrival, the first at step 0."""

    @abstractmethod
    def probabilities(self, values: ArrayLike, deltas: ArrayLike, now: Now) -> Probabilities:
        """Tell P(value at now + Δ | history): a line per value, a column per Δ."""

    @abstractmethod
    def sample(self, n: int, seed: int = 0) -> Values:
        """Draw the first ``n`` values of a stream with this law."""

    def probability(self, value: int, delta: int, now: Now) -> float:
        """Tell P(value at now + Δ | history) for one value and Δ."""
        return float(self.probabilities([value], [delta], now)[0, 0])

    def first_probabilities(self, values: ArrayLike, horizon: int, now: Now) -> Probabilities:
        """Tell how likely each value shows first at now + Δ, for Δ = 1, …, ``horizon``.

        Here for laws whose later values do not depend on each other; the others have their own.
        """
        return first_of_hazards(self.probabilities(values, np.arange(1, horizon + 1), now))


def first_of_hazards(hazards: Probabilities) -> Probabilities:
    """Tell when something happens first, given how likely it happens next if it has not yet.

    >>> first_of_hazards(np.array([[0.5, 0.5, 0.5]]))
    array([[0.5  , 0.25 , 0.125]])
    """
    not_yet = np.cumprod(1 - hazards, axis=1)
    first = hazards.copy()
    first[:, 1:] *= not_yet[:, :-1]
    return first


def forecast_names() -> list[str]:
    """List the names of all laws."""
    return sorted(registry)


def forecast_class(name: str) -> type[Forecast]:
    """Find a law by its name.

    >>> forecast_class("trend").__name__
    'Trend'
    >>> forecast_class("trent")
    Traceback (most recent call last):
    recollect.errors.InputError: unknown forecast 'trent': did you mean trend?
    """
    if name in registry:
        return registry[name]
    close = get_close_matches(name, forecast_names(), 1)
    hint = f"did you mean {close[0]}?" if close else "known are " + ", ".join(forecast_names())
    raise InputError(f"unknown forecast {name!r}: {hint}")
