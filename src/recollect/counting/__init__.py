"""How often each value came, exactly or in bounded memory."""

from recollect.counting.base import add, frequency
from recollect.counting.exact import ExactCounts, new_exact_counts, reserve
from recollect.counting.sketch import Sketch, new_sketch

__all__ = [
    "ExactCounts",
    "Sketch",
    "add",
    "frequency",
    "new_exact_counts",
    "new_sketch",
    "reserve",
]
