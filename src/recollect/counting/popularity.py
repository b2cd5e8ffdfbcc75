"""How popular keys are: as a few classes of keys, and apart from copies.

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, section 3.1, for the model of copies.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.locality.model import LocalityModel

Floats = NDArray[np.float64]
CLASSES_PER_E = 50
"""Keys of one class differ in popularity by no more than 2 %."""


def popularity_classes(popularity: ArrayLike) -> tuple[Floats, Floats]:
    """Put keys of nearly the same popularity together: their mean share, and how many they are.

    Parameters
    ----------
    popularity
        How often each key comes, as numbers or as shares; zeros do not count.

    Examples
    --------
    >>> shares, keys = popularity_classes([30, 10, 10, 0])
    >>> shares.tolist(), keys.tolist()
    ([0.2, 0.6], [2.0, 1.0])
    """
    often = np.asarray(popularity, np.float64)
    if often.ndim != 1 or not np.isfinite(often).all() or (often < 0).any() or not often.any():
        raise InputError(
            "popularity must be one number of at least 0 per key, and more than 0 for one of them"
        )
    often = often[often > 0]
    _, which, keys = np.unique(
        np.floor(np.log(often) * CLASSES_PER_E), return_inverse=True, return_counts=True
    )
    shares = np.bincount(which, often) / keys / often.sum()
    return shares, keys.astype(np.float64)


def fresh_draws(codes: NDArray[np.int64], model: LocalityModel) -> NDArray[np.float64]:
    """Return how many fresh draws of each key are expected in a piece of a stream.

    This is what the locality model calls P. Plain counts of a stream that repeats itself overstate
    the keys that happened to be copied often. Under the model a tuple is a fresh draw with a
    probability that follows from how popular its key is and from which of the last h tuples it may
    be a copy; these probabilities are added up by key, as in one step of expectation maximisation.

    Examples
    --------
    Keys 1 and 2 both came three times, but key 2 three times in a row.

    >>> codes = np.array([1, 2, 2, 2, 0, 0, 1, 0, 0, 1])
    >>> fresh_draws(codes, LocalityModel(np.array([0.5]), 0.5)).round(1).tolist()
    [2.6, 3.0, 1.5]
    """
    _, keys, counts = np.unique(codes, return_inverse=True, return_counts=True)
    drawn = max(model.b, 1 / max(len(codes), 1)) * counts[keys] / max(len(codes), 1)
    copied = np.zeros(len(codes))
    for lag, weight in enumerate(model.weights, start=1):
        copied[lag:] += weight * (codes[lag:] == codes[:-lag])
    return np.bincount(keys, drawn / (drawn + copied)).astype(np.float64)
