"""The locality model of a stream that is at hand as a whole, by either fit."""

import numpy as np
from numpy.typing import ArrayLike

from recollect.errors import InputError
from recollect.locality.coincidences import Coincidences
from recollect.locality.model import LocalityModel, fit_locality
from recollect.locality.value_fit import LagProducts, fit_values


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
