"""The best that could have been: OPT for joins, LFD for caches, by knowing the whole input."""

from recollect.optimum.flow import Optimum, most_results
from recollect.optimum.flow_expect import FlowExpect
from recollect.optimum.lfd import lfd_hits
from recollect.optimum.opt import BestRun, best_runs, require_optimum
from recollect.optimum.steps import best_steps, run_steps, run_steps_together

__all__ = [
    "BestRun",
    "FlowExpect",
    "Optimum",
    "best_runs",
    "best_steps",
    "lfd_hits",
    "most_results",
    "require_optimum",
    "run_steps",
    "run_steps_together",
]
