"""The locality model of a stream that is at hand as a whole, by either fit.

The paper's fit is least squares on the values themselves: x_n, as a number, is predicted by
a_1 * x_{n-1} + … + a_h * x_{n-h} + b * Y, with Y the mean of all values. Nothing keeps the shares
positive or their sum at one, and numbering the keys in another way gives other shares. The fit of
:mod:`recollect.locality.model` depends on no numbering.

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, section 3.1, equation 2.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.locality.coincidences import Coincidences
from recollect.locality.model import LocalityModel, fit_locality
from recollect.streams.checks import require_whole

Floats = NDArray[np.float64]


class LagProducts:
    """Sums, in one pass, the products of each value with those up to ``h`` places before it.

    These are the coefficients of the paper's h + 1 equations: O(h^2) numbers.

    Parameters
    ----------
    h
        The largest lag.
    """

    def __init__(self, h: int) -> None:
        require_whole("h", h, least=1)
        self.h = h
        self.tuples = 0
        self.total = 0.0
        """The sum of all values."""
        self.products: Floats = np.zeros((h + 2, h + 2))
        """Of 1, x_{n-h}, … x_{n-1} and x_n, less :attr:`origin`, summed over n > h."""
        self.origin = 0.0
        """The first value; differences from it lose fewer digits."""
        self._recent: Floats = np.empty(0)

    def add(self, values: ArrayLike) -> None:
        """Take the next values of the stream."""
        fresh = np.asarray(values, np.float64)
        if fresh.ndim != 1 or not np.isfinite(fresh).all():
            raise InputError("values must be a one-dimensional array of finite numbers")
        if self.tuples == 0 and len(fresh):
            self.origin = float(fresh[0])
        self.tuples += len(fresh)
        self.total += float(fresh.sum())
        known = np.concatenate([self._recent, fresh - self.origin])
        if len(known) > self.h:
            lines = sliding_window_view(known, self.h + 1)
            lines = np.hstack([np.ones((len(lines), 1)), lines])
            self.products += lines.T @ lines
        self._recent = known[-self.h :].copy()


def fit_values(sums: LagProducts) -> LocalityModel:
    """Solve the paper's equations.

    Parameters
    ----------
    sums
        What came of the stream; its mean must not be 0, since b is a share of it.

    Examples
    --------
    >>> from recollect.streams import LocalityStream
    >>> stream = LocalityStream(tuples=50_000, keys=500, weights=[0.1, 0.0, 0.4], seed=1)
    >>> sums = LagProducts(h=4)
    >>> sums.add(stream.table()["key"].to_numpy() + 1)
    >>> model = fit_values(sums)
    >>> [abs(round(float(weight), 1)) for weight in model.weights], round(model.b, 1)
    ([0.1, 0.0, 0.4, 0.0], 0.5)
    """
    if sums.tuples <= sums.h:
        raise InputError(
            f"{sums.tuples} tuples are too few to fit h={sums.h} lags; give a smaller h"
        )
    mean = sums.total / sums.tuples
    if mean == 0:
        raise InputError("the mean of the values is 0; number them from 1, as the paper does")
    rest, *backwards = np.linalg.lstsq(sums.products[:-1, :-1], sums.products[:-1, -1])[0]
    weights = np.array(backwards[::-1])
    b = (rest + sums.origin * (1 - weights.sum())) / mean
    return LocalityModel(weights, float(b))


def locality_model(keys: ArrayLike, h: int = 50, encoding: str = "indicator") -> LocalityModel:
    """Fit the locality model to the keys of a stream.

    Parameters
    ----------
    keys
        The keys in order, as whole numbers.
    h
        How far back copies may reach.
    encoding
        ``indicator``: the fit that does not depend on how keys are numbered; ``value``: the
        paper's fit, to the keys as numbers.

    Examples
    --------
    >>> from recollect.streams import LocalityStream
    >>> stream = LocalityStream(tuples=50_000, keys=500, repeat=0.6, depth=5)
    >>> round(locality_model(stream.table()["key"].to_numpy(), h=10).b, 2)
    0.4
    """
    if encoding == "indicator":
        pairs = Coincidences(h)
        pairs.add(np.asarray(keys))
        _, popularity = np.unique(keys, return_counts=True)
        return fit_locality(pairs.counts, pairs.tuples, popularity)
    if encoding == "value":
        sums = LagProducts(h)
        sums.add(keys)
        return fit_values(sums)
    raise InputError(f"encoding={encoding!r} is neither 'indicator' nor 'value'")
