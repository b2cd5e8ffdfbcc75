"""What the papers define or prove, as functions that no policy of the library needs.

From "On Joining and Caching Stochastic Streams" (Xie, Yang, Chen, SIGMOD 2005): the curve of
expected cumulative benefit of a tuple, when one curve dominates another, HEEB's scores from those a
step before, splines in place of a surface, the future as a forecast, caching as joining, the
setting of steps, and FLOWEXPECT; HEEB's scores by their definition, and the hits of LFD. From
"GreedyDual-Join": k_opt of each key. From "Characterizing and Exploiting Reference Locality": what
is proved of the memory of Lossy Counting, the fit to values, and how often a key is to be expected.
"""

from recollect_papers.theory.benefit import caching_benefit, joining_benefit
from recollect_papers.theory.bicubic import Bicubic
from recollect_papers.theory.bounds import (
    general_bound,
    independent_bound,
    popularity_bound,
    zipf_bound,
)
from recollect_papers.theory.dominance import dominated_subset, dominates, strongly_dominates
from recollect_papers.theory.flow_expect import FlowExpect
from recollect_papers.theory.heeb_scores import caching_scores, joining_scores
from recollect_papers.theory.incremental import (
    earlier_caching_score,
    earlier_joining_score,
    joining_score_from_neighbour,
    next_caching_score,
    next_joining_score,
)
from recollect_papers.theory.known import Known
from recollect_papers.theory.kopt import k_opt
from recollect_papers.theory.lfd import lfd_hits
from recollect_papers.theory.locality_fit import LagProducts, fit_values, locality_model
from recollect_papers.theory.occurrences import expected_occurrences, probabilities
from recollect_papers.theory.reduction import Reduced, reduce_to_join
from recollect_papers.theory.steps import best_steps, run_steps, run_steps_together

__all__ = [
    "Bicubic",
    "FlowExpect",
    "Known",
    "LagProducts",
    "Reduced",
    "best_steps",
    "caching_benefit",
    "caching_scores",
    "dominated_subset",
    "dominates",
    "earlier_caching_score",
    "earlier_joining_score",
    "expected_occurrences",
    "fit_values",
    "general_bound",
    "independent_bound",
    "joining_benefit",
    "joining_score_from_neighbour",
    "joining_scores",
    "k_opt",
    "lfd_hits",
    "locality_model",
    "next_caching_score",
    "next_joining_score",
    "popularity_bound",
    "probabilities",
    "reduce_to_join",
    "run_steps",
    "run_steps_together",
    "strongly_dominates",
    "zipf_bound",
]
