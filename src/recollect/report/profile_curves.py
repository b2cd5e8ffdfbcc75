"""What a profile says about memory: hits by the number of keys that are remembered."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from recollect.locality import Popularity, Profile

NOTABLE = 0.005
"""A smaller gain or loss, as a share of all tuples, is not worth a sentence."""
DEVIATIONS = 4
"""Nor is one of fewer standard deviations: hits of n tuples have one of √n/2 at most."""


@dataclass(frozen=True)
class Gain:
    """Where remembering recent keys beats remembering popular ones."""

    best: int
    """The number of keys with the largest gain."""
    recent: float
    popular: float
    """The hits there, as shares of all tuples: of the recent keys and of the popular ones."""
    begins: int | None
    """Up to so many keys there is none; None if there is no notable loss with fewer keys."""
    ends: int | None
    """From so many keys on there is none; None if there is some up to the last key."""


def popular_hits(popularity: Popularity, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many tuples find their key among the so many most popular ones, after its first time.

    >>> popular_hits(Popularity.of([5, 3, 1]), np.array([1, 2, 3])).tolist()
    [4, 6, 6]
    """
    return np.cumsum(popularity.counts - 1)[keys - 1]


def gain_of(profile: Profile) -> Gain | None:
    """Compare the two memories; None if recency gains nothing worth a sentence."""
    assert profile.stream.stack is not None
    keys, recent = profile.stream.stack.curve()
    # The last bin may reach beyond the last key.
    keys = np.minimum(keys, profile.popularity.distinct)
    if not len(keys):
        return None
    popular = popular_hits(profile.popularity, keys)
    gain = recent - popular
    best = int(np.argmax(gain))
    tuples = profile.popularity.tuples
    notable = max(NOTABLE * tuples, DEVIATIONS * sqrt(tuples) / 2)
    if gain[best] < notable:
        return None
    before, after = (np.flatnonzero(part <= 0) for part in (gain[:best], gain[best:]))
    loses = gain[: best + 1].min() <= -notable
    lost = int(keys[best + after[0]]) if len(after) else None
    return Gain(
        best=int(keys[best]),
        recent=float(recent[best] / tuples),
        popular=float(popular[best] / tuples),
        begins=int(keys[before[-1]]) if loses else None,
        # With room for all keys, nothing is forgotten.
        ends=None if lost == profile.popularity.distinct else lost,
    )
