"""Where streams of numbers are: on a line laid through their values, or at the last one.

Whichever predicts the next value better, judged by the mean square of its last errors.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 6.2.
"""

import numpy as np

from recollect.compiled import inlined
from recollect.policies.base import Array

MEMORY = 1 - 1 / 64
"""How much less a value counts than the next one in the line of a stream."""
FADING = 1 / 256
"""The weight of the last error in the mean error of a forecast."""

SEEN, LEVEL, SLOPE, LAST, LEVEL_ERROR, LAST_ERROR, POSITION = range(7)


def new_tracks(streams: int) -> Array:
    """Make tracks of streams that have not begun, which are taken to be at 0.

    A track is how many values were SEEN, LEVEL and SLOPE of the line, the LAST value, how far off
    on average these predict the next one, squared (LEVEL_ERROR, LAST_ERROR), and the POSITION.

    >>> (track,) = new_tracks(1)
    >>> for value in (10, 12, 14, 16):
    ...     follow(track, np.float64(value))
    >>> float(track[POSITION]), float(track[SLOPE])
    (16.0, 2.0)
    """
    return np.zeros((streams, 7))


@inlined
def follow(track, value):
    """Lay a line through the values so far, in which old ones count less and less.

    At first the weights of the last error are those of least squares over all values.
    """
    track[SEEN] += 1
    n = track[SEEN]
    fading = max(FADING, 1 / n)
    if n == 1:
        track[LEVEL] = track[LAST] = value
    error = value - (track[LEVEL] + track[SLOPE])
    track[LEVEL_ERROR] += fading * (error**2 - track[LEVEL_ERROR])
    track[LAST_ERROR] += fading * ((value - track[LAST]) ** 2 - track[LAST_ERROR])
    track[LEVEL] += track[SLOPE] + error * max(1 - MEMORY**2, 2 * (2 * n - 1) / (n * (n + 1)))
    track[SLOPE] += error * max((1 - MEMORY) ** 2, 6 / (n * (n + 1)))
    track[LAST] = value
    is_line = track[LEVEL_ERROR] < track[LAST_ERROR]
    track[POSITION] = track[LEVEL] if is_line else value
