"""Tuples with several join attributes, each of a skew of its own."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from recollect.errors import InputError
from recollect.streams.generator import Generator, Sampler
from recollect.streams.zipf import require_zipf, zipf_sampler


@dataclass(frozen=True)
class AttributesStream(Generator):
    """Independent Zipfian attributes ``key_1``, ``key_2``, …, for several joins of two streams.

    The streams with several attributes of GreedyDual-Join (§5.3.4).

    Parameters
    ----------
    tuples
        Length of the stream; one tuple per time unit, from time 0.
    keys
        Number of different values of each attribute.
    exponents
        The skew of each attribute; 0 is uniform.
    seed
        Which of the many streams of this kind.

    Examples
    --------
    >>> AttributesStream(tuples=4, keys=100, exponents=(0.0, 1.5), seed=1).table().to_pydict()
    {'time': [0, 1, 2, 3], 'key_1': [30, 82, 35, 67], 'key_2': [1, 0, 5, 6]}
    """

    tuples: int
    keys: int = 100
    exponents: Sequence[float] = (0.5, 1.0)
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if not isinstance(self.exponents, Sequence) or not self.exponents:
            raise InputError(
                f"exponents must be a list of one number per attribute, not {self.exponents!r}"
            )
        for exponent in self.exponents:
            require_zipf(self.keys, exponent)
        # A frozen copy: the caller's list may change later, the stream may not.
        object.__setattr__(self, "exponents", tuple(self.exponents))

    @property
    def schema(self) -> pa.Schema:
        """The time and the attributes."""
        names = ["time", *(f"key_{i + 1}" for i in range(len(self.exponents)))]
        return pa.schema([(name, pa.int64()) for name in names])

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        draws = [
            zipf_sampler(source, self.keys, exponent)
            for source, exponent in zip(
                random.spawn(len(self.exponents)), self.exponents, strict=True
            )
        ]
        return lambda times: (times, *(draw(len(times)) for draw in draws))
