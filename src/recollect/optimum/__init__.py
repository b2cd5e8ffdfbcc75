"""The best that could have been of a join, OPT, by knowing the whole input."""

from recollect.optimum.flow import Optimum, most_results
from recollect.optimum.opt import BestRun, best_runs, require_optimum

__all__ = [
    "BestRun",
    "Optimum",
    "best_runs",
    "most_results",
    "require_optimum",
]
