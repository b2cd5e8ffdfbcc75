"""The locality model: a tuple is a copy of a recent one, or an independent draw.

x_n = x_{n-i} with probability a_i for i = 1..h, and with probability b = 1 - a_1 - … - a_h a draw
from the long-term popularity P. So b says how much of a stream's locality is due to popularity
alone; the rest is short-term correlation.

The fit predicts the indicator of each key, [x_n = c], from the indicators of the last h tuples and
P(c), by least squares over all n and c, with no a_i and b below 0 and all of them summing to 1.
Summed over c, products of indicators are coincidences at a lag; so the counts of those are all that
is needed, and how keys are numbered makes no difference.

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, section 3.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.locality.mixture import least_mixture
from recollect.streams.checks import require_whole

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LocalityModel:
    """The parameters of the locality model, apart from the popularity."""

    weights: Floats
    """a_1, a_2, … a_h: the probabilities of a copy at each lag."""
    b: float
    """The probability of an independent draw."""

    @property
    def h(self) -> int:
        """How far back copies reach."""
        return len(self.weights)


def fit_locality(
    counts_by_lag: ArrayLike, tuples: int, popularity_counts: ArrayLike
) -> LocalityModel:
    """Fit the model to the coincidences and the popularity of a stream.

    Parameters
    ----------
    counts_by_lag
        How many tuples equal the one 1, 2, … h places before
        (:class:`~recollect.locality.coincidences.Coincidences`).
    tuples
        The length of the stream.
    popularity_counts
        How often each key came, in any order.

    Examples
    --------
    >>> from recollect.locality.coincidences import Coincidences
    >>> from recollect.streams import LocalityStream
    >>> stream = LocalityStream(tuples=50_000, keys=500, weights=[0.1, 0.0, 0.4], seed=1)
    >>> keys = stream.table()["key"].to_numpy()
    >>> pairs = Coincidences(h=4)
    >>> pairs.add(keys)
    >>> model = fit_locality(pairs.counts, pairs.tuples, np.bincount(keys))
    >>> [round(float(weight), 2) for weight in model.weights], round(model.b, 2)
    ([0.1, 0.0, 0.4, 0.0], 0.5)
    """
    popularity = np.asarray(popularity_counts, np.float64)
    if popularity.sum() != tuples:
        raise InputError(
            f"the popularity counts sum to {popularity.sum():.0f}, but the stream has {tuples}"
            " tuples; both must come from the same stream"
        )
    chance = float(popularity @ popularity) / max(tuples, 1) ** 2
    return fit_from_chance(counts_by_lag, tuples, chance)


def fit_from_chance(counts_by_lag: ArrayLike, tuples: int, chance: float) -> LocalityModel:
    """Fit the model, given how likely two independent draws are equal: the sum of all P(c)^2.

    Examples
    --------
    >>> round(fit_from_chance([250, 500], tuples=1000, chance=0.25).b, 2)
    0.67
    """
    counts = np.asarray(counts_by_lag, np.float64)
    require_whole("h", len(counts), least=1)
    require_whole("tuples", tuples, least=1)
    # How much likelier than by chance two tuples at each distance are equal. Pairs that are missing
    # because the stream ends are taken for independent, so that short streams do not mislead.
    pairs = np.maximum(tuples - np.arange(1, len(counts) + 1), 0)
    covariance = np.concatenate([[1 - chance], (counts - chance * pairs) / tuples])
    lags = np.arange(len(covariance))
    products = covariance[np.abs(lags[:, None] - lags)]
    # What is left of x_n when predicted by P alone (the first line), or by x_{n-1}, … x_{n-h}.
    errors = np.diag(np.where(lags > 0, -1.0, 0.0))
    errors[:, 0] = 1
    b, *weights = least_mixture(errors @ products @ errors.T)
    return LocalityModel(np.array(weights), float(b))


def b_by_h(
    counts_by_lag: ArrayLike, tuples: int, popularity_counts: ArrayLike, depths: Sequence[int]
) -> Floats:
    """How b falls as the model looks further back.

    Examples
    --------
    >>> b_by_h([0, 750, 0, 500], 1000, [500, 500], depths=[1, 2, 4]).round(2).tolist()
    [1.0, 0.5, 0.5]
    """
    counts = np.asarray(counts_by_lag)
    for depth in depths:
        require_whole("depth", depth, least=1, most=len(counts))
    fits = [fit_locality(counts[:depth], tuples, popularity_counts) for depth in depths]
    return np.array([fit.b for fit in fits])
