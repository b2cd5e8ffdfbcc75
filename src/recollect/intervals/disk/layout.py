"""What an index keeps of a tuple: its times and some further columns, all as 64-bit words.

Tuples are the columns of a matrix of int64: the first two rows are start and end, the others are
further columns, and some of these are dimensions of the index, so that predicates on them save page
reads. What a word stands for does not matter here, only that words sort like the values.

>>> layout = Layout((False, True))
>>> layout.width, layout.keys
(4, (0, 1, 3))
>>> low, high = layout.box({0: (None, 8)})
>>> int(high[0]), int(high[1]) == MOST
(8, True)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recollect.errors import InputError

START, END = 0, 1
LEAST, MOST = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)
"""The ends of the line; an interval that ends at ``MOST`` is open."""
MOST_COLUMNS = 100
MOST_INDEXED = 10

Range = tuple[int | None, int | None]
"""The least and the greatest value wanted, both included; None for no limit."""


@dataclass(frozen=True)
class Layout:
    """The rows of the matrix."""

    indexed: tuple[bool, ...] = ()
    """For each column besides start and end, whether it is a dimension of the index."""

    def __post_init__(self) -> None:
        """Check that several tuples fit on a page."""
        if len(self.indexed) > MOST_COLUMNS or sum(self.indexed) > MOST_INDEXED:
            raise InputError(
                f"{len(self.indexed)} columns, {sum(self.indexed)} of them indexed: an index takes"
                f" up to {MOST_COLUMNS} columns, {MOST_INDEXED} of them indexed"
            )

    @property
    def width(self) -> int:
        """Words per tuple."""
        return 2 + len(self.indexed)

    @cached_property
    def keys(self) -> tuple[int, ...]:
        """Which rows are dimensions of the index."""
        return (START, END, *(row for row, indexed in enumerate(self.indexed, 2) if indexed))

    def box(self, ranges: Mapping[int, Range]) -> tuple[np.ndarray, np.ndarray]:
        """Turn ranges by row into the corners of a box, one number per dimension."""
        wanted = [ranges.get(row, (None, None)) for row in self.keys]
        low = np.array([LEAST if least is None else least for least, _ in wanted])
        high = np.array([MOST if most is None else most for _, most in wanted])
        return low, high
