"""The popularity of many keys as that of a few classes of keys."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError

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
