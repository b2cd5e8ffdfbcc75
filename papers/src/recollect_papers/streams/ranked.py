"""The same stream with its keys renamed, so that other keys are the popular ones."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from recollect.compiled import mix
from recollect.errors import InputError
from recollect.streams.generator import Generator, Sampler

RANKINGS = ("direct", "inverse", "random")
ROUNDS = 6


@dataclass(frozen=True)
class RankedStream(Generator):
    """A stream whose popular keys are the same as, the opposite of, or unrelated to another's.

    Two streams with the same ranking are *directly correlated*: what is popular in one is popular
    in the other. With opposite rankings they are *inversely correlated*. These are the pairs DC
    and IC of GreedyDual-Join (§5.3.3).

    Parameters
    ----------
    stream
        A stream of keys from 0 to ``keys − 1``, the lower the more popular.
    ranking
        ``"direct"`` leaves the keys as they are, ``"inverse"`` turns their order round,
        ``"random"`` shuffles it. No table of the keys is made.
    seed
        Which shuffle.

    Examples
    --------
    >>> from recollect.streams import ZipfStream
    >>> stream = ZipfStream(tuples=6, keys=100, exponent=1.5, seed=1)
    >>> for ranking in RANKINGS:
    ...     print(RankedStream(stream, ranking).table()["key"].to_pylist())
    [1, 0, 12, 0, 3, 2]
    [98, 99, 87, 99, 96, 97]
    [85, 48, 44, 48, 7, 74]
    """

    stream: Generator
    ranking: str = "inverse"
    seed: int = 0
    tuples: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "tuples", self.stream.tuples)
        super().__post_init__()
        if self.ranking not in RANKINGS:
            raise InputError(
                f"ranking must be {', '.join(RANKINGS[:-1])} or {RANKINGS[-1]},"
                f" not {self.ranking!r}"
            )
        if "key" not in self.schema.names or not hasattr(self.stream, "keys"):
            raise InputError(
                f"{type(self.stream).__name__} has no popularity ranking; give a stream of keys"
                " such as ZipfStream, LocalityStream or ParetoStream"
            )

    @property
    def schema(self) -> pa.Schema:
        """The columns of the stream."""
        return self.stream.schema

    @property
    def keys(self) -> int:
        """The number of different keys."""
        return self.stream.keys  # type: ignore[attr-defined]

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        sample = self.stream.sampler(np.random.default_rng(self.stream.seed))
        place = self.schema.names.index("key")
        secrets = random.integers(2**63, size=ROUNDS)

        def renamed(times: NDArray[np.int64]) -> list[NDArray[Any]]:
            columns = list(sample(times))
            if self.ranking == "inverse":
                columns[place] = self.keys - 1 - columns[place]
            elif self.ranking == "random":
                columns[place] = shuffled(columns[place], self.keys, secrets)
            return columns

        return renamed


def shuffled(keys: NDArray[np.int64], size: int, secrets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Map the numbers from 0 to ``size − 1`` onto themselves in an irregular way.

    Parameters
    ----------
    keys
        The numbers to map.
    size
        How many numbers there are.
    secrets
        Which of the many maps.

    Examples
    --------
    >>> sorted(shuffled(np.arange(5), 5, np.arange(6)).tolist())
    [0, 1, 2, 3, 4]
    """
    mapped = np.empty_like(keys)
    half = max(1, (int(size - 1).bit_length() + 1) // 2)
    _shuffle(keys, size, half, secrets, mapped)
    return mapped


# A Feistel network permutes the numbers of 2 · half bits: each round adds a hash of one half to
# the other and swaps them, which can be undone. Walking on until the result is below the size
# makes it a permutation of those below the size; it takes less than four steps on average.


@njit(cache=True)
def _shuffle(
    keys: NDArray[np.int64],
    size: int,
    half: int,
    secrets: NDArray[np.int64],
    mapped: NDArray[np.int64],
) -> None:
    mask = (1 << half) - 1
    for i in range(keys.size):
        key = keys[i]
        while True:
            left, right = key >> half, key & mask
            for secret in secrets:
                left, right = right, left ^ (mix(right + secret) & mask)
            key = left << half | right
            if key < size:
                break
        mapped[i] = key
