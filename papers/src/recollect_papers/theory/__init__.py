"""What "On Joining and Caching Stochastic Streams" proves, as functions: no policy needs them.

The curve of expected cumulative benefit of a tuple, when one curve dominates another, HEEB's scores
from those a step before, splines in place of a surface, the future as a forecast, and caching as
joining. HEEB's scores themselves are in :mod:`recollect.forecast`.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, SIGMOD 2005.
"""

from recollect_papers.theory.benefit import caching_benefit, joining_benefit
from recollect_papers.theory.bicubic import Bicubic
from recollect_papers.theory.dominance import dominated_subset, dominates, strongly_dominates
from recollect_papers.theory.incremental import (
    earlier_caching_score,
    earlier_joining_score,
    joining_score_from_neighbour,
    next_caching_score,
    next_joining_score,
)
from recollect_papers.theory.known import Known
from recollect_papers.theory.reduction import Reduced, reduce_to_join

__all__ = [
    "Bicubic",
    "Known",
    "Reduced",
    "caching_benefit",
    "dominated_subset",
    "dominates",
    "earlier_caching_score",
    "earlier_joining_score",
    "joining_benefit",
    "joining_score_from_neighbour",
    "next_caching_score",
    "next_joining_score",
    "reduce_to_join",
    "strongly_dominates",
]
