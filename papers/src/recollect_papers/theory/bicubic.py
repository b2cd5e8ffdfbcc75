"""A surface of scores remembered by a few of its points, with cubic splines between them.

The paper keeps 25 points of the surface of an AR(1) process. :meth:`Bicubic.loss` says what that
costs.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 8.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.forecast.base import Probabilities
from recollect.forecast.precomputed import Surface
from recollect.streams.checks import require_whole, whole_numbers


class Loss(NamedTuple):
    """How far an approximation is off, in shares of the highest score."""

    mean: float
    largest: float


@dataclass(frozen=True, eq=False)
class Bicubic:
    """A bicubic approximation of a surface.

    Attributes
    ----------
    places
        The values, of both axes, at which scores are remembered.
    scores
        The scores there, by last value (lines) and value (columns).

    Examples
    --------
    >>> from recollect.forecast import Ar1
    >>> from recollect.forecast.precomputed import markov_surface
    >>> surface = markov_surface(Ar1(factor=0.7, shift=0, deviation=6).chain, alpha=20)
    >>> rough, fine = Bicubic.of(surface), Bicubic.of(surface, points=40)
    >>> rough.scores.size, fine.loss(surface).largest < rough.loss(surface).largest
    (25, True)
    """

    places: NDArray[np.float64]
    scores: NDArray[np.float64]

    @classmethod
    def of(
        cls, surface: Surface, points: int = 5, low: int | None = None, high: int | None = None
    ) -> Self:
        """Remember ``points`` × ``points`` of a surface, equally spaced from ``low`` to ``high``.

        These are the ends of the surface if left out.
        """
        states = surface.states
        require_whole("points", points, least=4, most=len(states))
        low, high = states[0] if low is None else low, states[-1] if high is None else high
        if not states[0] <= low < high <= states[-1]:
            raise InputError(
                f"points from {low} to {high} do not lie on a surface from {states[0]} to"
                f" {states[-1]}"
            )
        nearest = np.searchsorted(states, np.linspace(low, high, points).round())
        return cls(states[nearest].astype(np.float64), surface.scores[np.ix_(nearest, nearest)])

    def _spline(self) -> Any:
        from scipy.interpolate import RectBivariateSpline

        return RectBivariateSpline(self.places, self.places, self.scores, kx=3, ky=3)

    def at(self, values: ArrayLike, last: int) -> Probabilities:
        """Tell the approximate scores; beyond the points, those at the edge."""
        wanted = np.clip(whole_numbers(values), self.places[0], self.places[-1])
        here = np.clip(last, self.places[0], self.places[-1])
        return np.asarray(self._spline().ev(np.full(len(wanted), here), wanted))

    def surface(self, states: NDArray[np.int64]) -> Surface:
        """Fill a whole surface with the approximation."""
        clipped = np.clip(states, self.places[0], self.places[-1])
        return Surface(states, np.asarray(self._spline()(clipped, clipped)))

    def loss(self, surface: Surface) -> Loss:
        """Compare with the exact surface, between the outermost points."""
        inside = (surface.states >= self.places[0]) & (surface.states <= self.places[-1])
        exact = surface.scores[np.ix_(inside, inside)]
        error = np.abs(self.surface(surface.states[inside]).scores - exact) / exact.max()
        return Loss(float(error.mean()), float(error.max()))
