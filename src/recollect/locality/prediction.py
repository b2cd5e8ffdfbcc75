"""What comes next under the locality model: how often a key is to be expected.

The paper writes the next tuples as M^T times the last ones, with M the characteristic matrix of
the model, and adds up columns of M^T: the column of lag k says how many of the next T tuples will
descend, by copies of copies, from the tuple k places back, and the last column how many from fresh
draws. The power is never computed here. A tuple that descends from one at lag k is a copy of it at
some lag j, or descends from such a copy; so all sums follow from one sequence, the expected number
of descendants of a single tuple, in O(hT).

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, sections 3.2 and 4.1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.compiled import cached
from recollect.locality.model import LocalityModel
from recollect.streams.checks import require_whole

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prediction:
    """Expected numbers of occurrences among the next ``horizon`` tuples."""

    horizon: int
    by_lag: Floats
    """How many of them descend from the tuple 1, 2, … h places back: the column sums of M^T."""
    fresh: float
    """How many descend from independent draws yet to come: the sum of its last column."""


def predict(model: LocalityModel, horizon: int) -> Prediction:
    """Sum up the columns of M^T for so many tuples ahead.

    Examples
    --------
    A tuple is a copy of the one before it, or with the same probability of no other:

    >>> next_two = predict(LocalityModel(np.array([0.5, 0.0]), b=0.5), horizon=2)
    >>> next_two.by_lag.tolist(), next_two.fresh
    ([0.75, 0.0], 1.25)
    """
    grown = descendants(model, horizon)
    # The copy at lag j of the tuple at lag k comes j - k places after the next tuple, and then has
    # that many places less for descendants of its own.
    reach = min(model.h, horizon)
    ahead = np.zeros(model.h)
    ahead[:reach] = grown[horizon : horizon - reach : -1]
    totals = np.correlate(model.weights, ahead, "full")[model.h - 1 :]
    return Prediction(horizon, totals, model.b * float(grown.sum()))


def descendants(model: LocalityModel, horizon: int) -> Floats:
    """How many of the first 0, 1, … ``horizon`` tuples descend from the first of them.

    The first counts as its own descendant.

    Examples
    --------
    >>> descendants(LocalityModel(np.array([0.5]), b=0.5), horizon=3).tolist()
    [0.0, 1.0, 1.5, 1.75]
    """
    require_whole("horizon", horizon, least=0)
    share = np.zeros(horizon + 1)
    _fill(model.weights, share)
    return np.cumsum(share)


@cached
def _fill(weights: Floats, share: Floats) -> None:
    """Set each share but the one at 0: how likely this tuple descends from the first."""
    if len(share) > 1:
        share[1] = 1.0
    for place in range(2, len(share)):
        for lag in range(1, min(len(weights), place - 1) + 1):
            share[place] += weights[lag - 1] * share[place - lag]
