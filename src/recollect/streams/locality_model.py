"""Streams that repeat themselves: a tuple is a copy of a recent one, or drawn afresh.

The model of reference locality: x_n = x_{n-i} with probability a_i for i = 1..h, and with the
remaining probability an independent draw from the long-term popularity, here Zipfian.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.compiled import cached
from recollect.errors import InputError
from recollect.streams.checks import require_real, require_whole
from recollect.streams.generator import Generator, Sampler
from recollect.streams.zipf import require_zipf, zipf_sampler


@dataclass(frozen=True)
class LocalityStream(Generator):
    """Zipfian keys with reference locality over the last ``depth`` tuples.

    A tuple that would copy one from before the start of the stream is drawn afresh.

    Parameters
    ----------
    tuples
        Length of the stream; one tuple per time unit, from time 0.
    keys, exponent
        Popularity of the fresh keys, as in :class:`~recollect.streams.ZipfStream`.
    repeat
        Probability that a tuple is a copy, the same for each of the last ``depth`` tuples.
    depth
        How far back copies reach.
    weights
        The probabilities a_1, a_2, … one by one, instead of ``repeat`` and ``depth``.
    seed
        Which of the many streams of this kind.

    Examples
    --------
    >>> stream = LocalityStream(tuples=8, repeat=0.8, depth=2, seed=1)
    >>> stream.table()["key"].to_pylist()
    [627, 42091, 42091, 17804, 17804, 17804, 47690, 17804]
    >>> LocalityStream(tuples=8, weights=[0.0, 1.0], seed=1).table()["key"].to_pylist()
    [627, 42091, 627, 42091, 627, 42091, 627, 42091]
    """

    tuples: int
    keys: int = 100_000
    exponent: float = 0.8
    repeat: float = 0.5
    depth: int = 50
    weights: Sequence[float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_zipf(self.keys, self.exponent)
        require_real("repeat", self.repeat, least=0, most=1)
        require_whole("depth", self.depth, least=1)
        if self.weights is None:
            return
        weights = tuple(self.weights)
        for lag, weight in enumerate(weights, start=1):
            require_real(f"weight {lag}", weight, least=0, most=1)
        if not weights or sum(weights) > 1 + 1e-9:
            raise InputError(
                f"weights must be at least one number and sum to at most 1, not {self.weights!r}"
            )
        # A frozen copy: the caller's list may change later, the stream may not.
        object.__setattr__(self, "weights", weights)

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        weights = self.weights
        if weights is None:
            weights = (self.repeat / self.depth,) * self.depth
        depth = len(weights)
        reach = np.cumsum(weights)
        fresh = zipf_sampler(random.spawn(1)[0], self.keys, self.exponent)
        recent = np.empty(0, np.int64)

        def sample(times: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            nonlocal recent
            lags = 1 + np.searchsorted(reach, random.random(len(times)), side="right")
            keys = np.concatenate([recent, fresh(len(times))])
            _copy_back(keys, lags, depth)
            keys, recent = keys[len(recent) :], keys[-depth:].copy()
            return times, keys

        return sample


@cached
def _copy_back(keys: NDArray[np.int64], lags: NDArray[np.int64], depth: int) -> None:
    """Overwrite the last ``len(lags)`` keys by earlier ones, where the lag asks for a copy."""
    known = keys.size - lags.size
    for n in range(known, keys.size):
        lag = lags[n - known]
        if lag <= depth and lag <= n:
            keys[n] = keys[n - lag]
