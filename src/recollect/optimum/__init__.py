"""The best that could have been: OPT for joins, LFD for caches, by knowing the whole input."""

from recollect.optimum.flow import Optimum, most_results
from recollect.optimum.lfd import lfd_hits
from recollect.optimum.opt import BestRun, best_runs, require_optimum

__all__ = [
    "BestRun",
    "Optimum",
    "best_runs",
    "lfd_hits",
    "most_results",
    "require_optimum",
]
