"""Counts in bounded memory: a count-min sketch with conservative update.

Every key is counted in one cell of each of four rows; its frequency is the least of the four. A
count is never too low, and too high only by keys that share all four cells. Conservative update
(raise only the cells that are at the minimum) keeps it closer.

>>> from recollect.counting import add, frequency
>>> sketch = new_sketch(1024)
>>> for key in (7, 7, 9):
...     add(sketch, 0, key)
>>> int(frequency(sketch, 0, 7)), int(frequency(sketch, 0, 8))
(2, 0)

References
----------
Cormode, Muthukrishnan: An Improved Data Stream Summary: The Count-Min Sketch, 2005; Estan,
Varghese: New Directions in Traffic Measurement and Accounting, 2002 (conservative update).
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined, mix

STREAMS = 2
DEPTH = 4
ODD = 0x5851F42D4C957F2D


@inlined
def _cell(key, row, width):
    return mix(int(key) + (row + 1) * ODD) & (width - 1)


class Sketch(NamedTuple):
    """The cells: ``cells[stream, row, column]``."""

    cells: np.ndarray

    def add(self, stream, key):
        """Count one tuple."""
        width = self.cells.shape[2]
        least = self.cells[stream, 0, _cell(key, 0, width)]
        for row in range(1, DEPTH):
            least = min(least, self.cells[stream, row, _cell(key, row, width)])
        for row in range(DEPTH):
            column = _cell(key, row, width)
            if self.cells[stream, row, column] == least:
                self.cells[stream, row, column] = least + 1

    def frequency(self, stream, key):
        """An upper bound of how often the key came in that stream."""
        width = self.cells.shape[2]
        least = self.cells[stream, 0, _cell(key, 0, width)]
        for row in range(1, DEPTH):
            least = min(least, self.cells[stream, row, _cell(key, row, width)])
        return least


def new_sketch(entries: int, streams: int = STREAMS) -> Sketch:
    """An empty sketch with at most so many cells per stream."""
    width = 1
    while 2 * width * DEPTH <= entries:
        width *= 2
    return Sketch(np.zeros((streams, DEPTH, width), np.int64))
