"""How often each value came, exactly or in bounded memory."""

from recollect.counting.base import add, crowded, frequency
from recollect.counting.estimate import epsilon_for_memory, estimated_entries
from recollect.counting.exact import enlarge, new_exact_counts
from recollect.counting.lossy import LossyCounter
from recollect.counting.lossy_table import LossyTable, new_lossy_table
from recollect.counting.popularity import fresh_draws
from recollect.counting.sketch import new_sketch
from recollect.counting.values import ValueCounter
from recollect.counting.whole import Frequent, count

__all__ = [
    "Frequent",
    "LossyCounter",
    "LossyTable",
    "ValueCounter",
    "add",
    "count",
    "crowded",
    "enlarge",
    "epsilon_for_memory",
    "estimated_entries",
    "frequency",
    "fresh_draws",
    "new_exact_counts",
    "new_lossy_table",
    "new_sketch",
]
