"""Values that depend on the one before, in any way: a finite Markov chain."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.forecast.base import Forecast, Now, Probabilities, Values, steps_ahead
from recollect.streams.checks import frozen, whole_numbers

MOST_STATES = 4096
"""A matrix of that many lines takes 128 MiB."""


@dataclass(frozen=True, eq=False)
class Markov(Forecast, name="markov"):
    """A finite Markov chain.

    Parameters
    ----------
    states
        The values that occur, ascending.
    transitions
        The probabilities to go from one state (line) to another (column).

    Examples
    --------
    >>> law = Markov(states=[3, 8], transitions=[[0.5, 0.5], [1, 0]])
    >>> law.probabilities([3, 8], [1, 2], Now.after([8]))
    array([[1. , 0.5],
           [0. , 0.5]])
    >>> Markov.fit([3, 8, 3, 3, 8, 3]).transitions.round(2)
    array([[0.33, 0.67],
           [1.  , 0.  ]])
    """

    states: NDArray[np.int64]
    transitions: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Check the parameters."""
        states = frozen(whole_numbers(self.states, "states", least=1), np.int64)
        transitions = frozen(self.transitions)
        if np.any(states[1:] <= states[:-1]):
            raise InputError("the states of a chain must be ascending, each once")
        if transitions.shape != (len(states), len(states)):
            raise InputError(
                f"{len(states)} states need a square of transitions, not {transitions.shape}"
            )
        if not np.all(transitions >= 0) or not np.allclose(transitions.sum(axis=1), 1, atol=1e-9):
            raise InputError("the transitions from each state must be at least 0 and add up to 1")
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "transitions", transitions)

    @classmethod
    def fit(cls, values: ArrayLike) -> Self:
        """Count which value followed which.

        What follows a value that came only at the end is unknown; it is taken from all values.
        """
        numbers = whole_numbers(values, least=2)
        states, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
        if len(states) > MOST_STATES:
            raise InputError(
                f"{len(states)} different values are too many for a Markov chain"
                f" (at most {MOST_STATES}); group them"
            )
        moves = np.zeros((len(states), len(states)))
        np.add.at(moves, (places[:-1], places[1:]), 1)
        moves[moves.sum(axis=1) == 0] = counts
        return cls(states, moves / moves.sum(axis=1, keepdims=True))

    def places_of(self, values: ArrayLike) -> tuple[Values, NDArray[np.bool_]]:
        """Find some values among the states: where, and whether they are there at all."""
        wanted = whole_numbers(values)
        places = np.minimum(np.searchsorted(self.states, wanted), len(self.states) - 1)
        return places, self.states[places] == wanted

    def _place(self, value: int) -> int:
        (place,), (known,) = self.places_of([value])
        if not known:
            raise InputError(
                f"the last value {value} is not a state of this chain, which has"
                f" {len(self.states)} from {self.states[0]} to {self.states[-1]}"
            )
        return int(place)

    def probabilities(self, values: ArrayLike, deltas: ArrayLike, now: Now) -> Probabilities:
        """See :class:`Forecast`."""
        places, known = self.places_of(values)
        ahead = steps_ahead(deltas)
        here = self.transitions[self._place(now.last)]
        by_delta = np.empty((len(places), max(ahead, default=0)))
        for column in by_delta.T:
            column[:] = here[places] * known
            here = here @ self.transitions
        return by_delta[:, ahead - 1]

    def first_probabilities(self, values: ArrayLike, horizon: int, now: Now) -> Probabilities:
        """See :class:`Forecast`; each value is watched by a chain of its own, which ends there."""
        places, known = self.places_of(values)
        rows = np.arange(len(places))
        first = np.zeros((len(places), horizon))
        here = np.tile(self.transitions[self._place(now.last)], (len(places), 1))
        for column in first.T:
            column[:] = here[rows, places] * known
            here[rows, places] *= ~known
            here = here @ self.transitions
        return first

    def sample(self, n: int, seed: int = 0) -> Values:
        """See :class:`Forecast`; begins in any state."""
        random = np.random.default_rng(seed)
        reach = np.cumsum(self.transitions, axis=1)
        place = int(random.integers(len(self.states)))
        path = np.empty(n, np.int64)
        for step, chance in enumerate(random.random(n)):
            path[step] = place
            place = min(int(np.searchsorted(reach[place], chance, "right")), len(reach) - 1)
        return self.states[path]
