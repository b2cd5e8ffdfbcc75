"""What the papers define or prove, as functions that no policy of the library needs.

From "On Joining and Caching Stochastic Streams" (Xie, Yang, Chen, SIGMOD 2005): the curve of
expected cumulative benefit of a tuple, when one curve dominates another, HEEB's scores from those a
step before, splines in place of a surface, the future as a forecast, caching as joining, the
setting of steps, and FLOWEXPECT. HEEB's scores themselves are in :mod:`recollect.forecast`. From
"GreedyDual-Join": k_opt of each key.
"""

from recollect_papers.theory.benefit import caching_benefit, joining_benefit
from recollect_papers.theory.bicubic import Bicubic
from recollect_papers.theory.dominance import dominated_subset, dominates, strongly_dominates
from recollect_papers.theory.flow_expect import FlowExpect
from recollect_papers.theory.incremental import (
    earlier_caching_score,
    earlier_joining_score,
    joining_score_from_neighbour,
    next_caching_score,
    next_joining_score,
)
from recollect_papers.theory.known import Known
from recollect_papers.theory.kopt import k_opt
from recollect_papers.theory.reduction import Reduced, reduce_to_join
from recollect_papers.theory.steps import best_steps, run_steps, run_steps_together

__all__ = [
    "Bicubic",
    "FlowExpect",
    "Known",
    "Reduced",
    "best_steps",
    "caching_benefit",
    "dominated_subset",
    "dominates",
    "earlier_caching_score",
    "earlier_joining_score",
    "joining_benefit",
    "joining_score_from_neighbour",
    "k_opt",
    "next_caching_score",
    "next_joining_score",
    "reduce_to_join",
    "run_steps",
    "run_steps_together",
    "strongly_dominates",
]
