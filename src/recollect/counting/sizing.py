"""The smallest error of Lossy Counting that a given memory allows.

An error matters only through the number of tuples in a bucket, so that is what is sought: the
largest for which the estimated number of entries stays within the memory, by bisection. (The
paper's Algorithm 3 moves the upper end of its interval in both cases and never finds its way back
from a step that was too large.)

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, Algorithm 3.
"""

from math import nextafter

from numpy.typing import ArrayLike

from recollect.counting.estimate import Estimate
from recollect.counting.lossy import LEAST_EPSILON, width_of
from recollect.locality.model import LocalityModel
from recollect.streams.checks import require_whole

LARGEST_WIDTH = round(1 / LEAST_EPSILON)


def epsilon_for_memory(
    memory: int,
    popularity: ArrayLike,
    model: LocalityModel | None = None,
    tuples: int | None = None,
) -> float:
    """Choose the smallest error for which so many entries should suffice.

    Parameters
    ----------
    memory
        The most entries there may be.
    popularity, model, tuples
        As for :func:`~recollect.counting.estimated_entries`.

    Examples
    --------
    Without knowing more than that tuples are independent, one would have to take 7/1000.

    >>> import numpy as np
    >>> from recollect.streams import ZipfStream
    >>> keys = ZipfStream(200_000, keys=10_000, exponent=1.1).table()["key"].to_numpy()
    >>> round(epsilon_for_memory(1000, np.bincount(keys)), 5)
    0.00042
    """
    require_whole("memory", memory, least=1)
    estimate = Estimate(popularity, model, tuples)
    fits, too_wide = 1, (LARGEST_WIDTH if tuples is None else tuples) + 1
    while too_wide - fits > 1:
        width = (fits + too_wide) // 2
        if estimate.entries(width) <= memory:
            fits = width
        else:
            too_wide = width
    epsilon = 1 / fits
    return epsilon if width_of(epsilon) == fits else nextafter(epsilon, 1.0)
