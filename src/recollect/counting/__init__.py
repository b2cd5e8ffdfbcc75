"""How often each value came, exactly or in bounded memory."""

from recollect.counting.base import add, crowded, frequency
from recollect.counting.exact import ExactCounts, enlarge, new_exact_counts
from recollect.counting.sketch import Sketch, new_sketch

__all__ = [
    "ExactCounts",
    "Sketch",
    "add",
    "crowded",
    "enlarge",
    "frequency",
    "new_exact_counts",
    "new_sketch",
]
