"""Values that wander: each is the one before plus an independent step."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from recollect.errors import InputError
from recollect.forecast.base import Forecast, Now, Probabilities, Values, steps_ahead
from recollect.streams.checks import require_whole, whole_numbers
from recollect.streams.noise import WIDEST, DiscreteLaw

NEGLIGIBLE = 1e-30
"""Tails with less than that are cut off, or a walk would seem to spread as fast as it can."""


@dataclass(frozen=True, eq=False)
class Walk(Forecast, name="walk"):
    """A random walk; its drift is the mean of its steps.

    Parameters
    ----------
    steps
        The law of a step.
    start
        Where a sample begins.

    Examples
    --------
    >>> law = Walk(DiscreteLaw(-1, [0.25, 0.5, 0.25]))
    >>> law.probabilities([10, 11], [1, 2], Now.after([8, 10]))
    array([[0.5  , 0.375],
           [0.25 , 0.25 ]])
    >>> Walk.fit(law.sample(20_000)).steps.weights.round(1)
    array([0.2, 0.5, 0.3])

    References
    ----------
    Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 7.5.
    """

    steps: DiscreteLaw
    start: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        require_whole("start", self.start, least=-(2**62), most=2**62)

    @classmethod
    def fit(cls, values: ArrayLike) -> Self:
        """Take the steps as they came."""
        numbers = whole_numbers(values, least=2)
        return cls(DiscreteLaw.empirical(np.diff(numbers)), int(numbers[0]))

    def spread(self) -> Iterator[DiscreteLaw]:
        """Yield the laws of the sum of 1, 2, … steps, without end."""
        sum_of_steps = self.steps
        while True:
            yield sum_of_steps
            sum_of_steps = _sum(sum_of_steps, self.steps)

    def probabilities(self, values: ArrayLike, deltas: ArrayLike, now: Now) -> Probabilities:
        """See :class:`Forecast`."""
        ahead = steps_ahead(deltas)
        moves = whole_numbers(values) - now.last
        by_delta = np.zeros((len(moves), max(ahead, default=0)))
        for column, law in zip(by_delta.T, self.spread(), strict=False):
            column[:] = law.at(moves)
        return by_delta[:, ahead - 1]

    def first_probabilities(self, values: ArrayLike, horizon: int, now: Now) -> Probabilities:
        """See :class:`Forecast`; here by renewal: later visits begin with a first one."""
        deltas = np.arange(1, horizon + 1)
        visits = self.probabilities(values, deltas, now)
        returns = self.probabilities([now.last], deltas, now)[0]
        first = visits
        for delta in range(1, horizon):
            again = first[:, :delta] @ returns[:delta][::-1]
            first[:, delta] = np.maximum(0.0, first[:, delta] - again)
        return first

    def sample(self, n: int, seed: int = 0) -> Values:
        """See :class:`Forecast`."""
        steps = self.steps.draw(np.random.default_rng(seed), n)
        steps[:1] = self.start
        return np.cumsum(steps)


def _sum(one: DiscreteLaw, two: DiscreteLaw) -> DiscreteLaw:
    """The law of the sum of two independent numbers."""
    weights = np.convolve(one.weights, two.weights)
    kept = np.flatnonzero(weights > NEGLIGIBLE)
    if kept[-1] - kept[0] >= WIDEST:
        raise InputError(
            f"a walk of such steps spreads over more than {WIDEST} values; count in coarser units,"
            " or look less far ahead"
        )
    return DiscreteLaw(one.low + two.low + int(kept[0]), weights[kept[0] : kept[-1] + 1])
