"""What an index keeps of a tuple: its times and some further columns, all as 64-bit words.

Tuples are columns of a matrix of int64: the first two rows are start and end, the rest are the
columns in the order they were given. What a word stands for is not the index's business, only that
words sort like the values (see :mod:`recollect.intervals.words`).

>>> layout = Layout((Column("fare"), Column("origin", indexed=True)))
>>> layout.names, layout.keys
(('start', 'end', 'fare', 'origin'), (0, 1, 3))
>>> rows = layout.rows({"start": [1], "end": [4], "fare": [250], "origin": [7]})
>>> rows.T.tolist()
[[1, 4, 250, 7]]
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recollect.errors import FilterError, InputError

START, END = 0, 1
LEAST, MOST = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)
"""The ends of the line; an interval that ends at ``MOST`` is open."""
MOST_COLUMNS = 100
MOST_KEYS = 12

Range = tuple[int | None, int | None]
"""The least and the greatest value wanted, both included; None for no limit."""


@dataclass(frozen=True)
class Column:
    """A column besides start and end."""

    name: str
    indexed: bool = False
    """Whether it is a dimension of the index, so that predicates on it save page reads."""


@dataclass(frozen=True)
class Layout:
    """The columns of an index."""

    columns: tuple[Column, ...] = ()

    def __post_init__(self) -> None:
        """Check that the columns can be told apart and that several tuples fit on a page."""
        repeated = [name for name in self.names if self.names.count(name) > 1]
        if repeated:
            raise InputError(f"column {repeated[0]!r} is there twice; start and end are always")
        if len(self.columns) > MOST_COLUMNS or len(self.keys) > MOST_KEYS:
            raise InputError(
                f"{len(self.columns)} columns, {len(self.keys) - 2} of them indexed: an index takes"
                f" up to {MOST_COLUMNS} columns, {MOST_KEYS - 2} of them indexed"
            )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return ("start", "end", *(column.name for column in self.columns))

    @cached_property
    def keys(self) -> tuple[int, ...]:
        """Which rows of the matrix are dimensions of the index."""
        indexed = (row for row, column in enumerate(self.columns, 2) if column.indexed)
        return (START, END, *indexed)

    @property
    def width(self) -> int:
        """Words per tuple."""
        return len(self.names)

    def rows(self, arrays: Mapping[str, Any]) -> np.ndarray:
        """Put arrays of all columns into one matrix."""
        if set(arrays) != set(self.names):
            raise InputError(f"columns {sorted(arrays)} given, {sorted(self.names)} needed")
        columns = [np.asarray(arrays[name]) for name in self.names]
        for name, column in zip(self.names, columns, strict=True):
            if column.ndim != 1 or (column.size and column.dtype.kind not in "iu"):
                raise InputError(f"column {name!r} is not a list of whole numbers: {column.dtype}")
            if len(column) != len(columns[START]):
                raise InputError(
                    f"column {name!r} has {len(column)} values, 'start' has {len(columns[START])}"
                )
        rows = np.empty((self.width, len(columns[START])), np.int64)
        for row, column in zip(rows, columns, strict=True):
            row[:] = column
        backward = np.flatnonzero(rows[START] >= rows[END])
        if backward.size:
            start, end = rows[:2, backward[0]].tolist()
            raise InputError(
                f"tuple {backward[0]} starts at {start} and ends at {end}; it must end later"
            )
        return rows

    def arrays(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Take a matrix apart into arrays by name."""
        return dict(zip(self.names, rows, strict=True))

    def box(self, ranges: Mapping[str, Range]) -> tuple[np.ndarray, np.ndarray]:
        """Turn ranges by name into the corners of a box, one number per dimension.

        >>> low, high = Layout().box({"start": (None, 8)})
        >>> int(high[0]), int(high[1]) == MOST
        (8, True)
        """
        names = [self.names[row] for row in self.keys]
        low, high = np.full(len(names), LEAST), np.full(len(names), MOST)
        for name, (least, most) in ranges.items():
            if name not in names:
                raise FilterError(f"{name!r} is not indexed; indexed are {', '.join(names)}")
            place = names.index(name)
            low[place] = LEAST if least is None else least
            high[place] = MOST if most is None else most
        return low, high
