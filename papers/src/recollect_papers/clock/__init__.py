"""The CLOCK Data-Aware Eviction Approach."""

from recollect_papers.clock import figure_2, figure_3, figure_4, figure_5
from recollect_papers.experiment import Paper

CLOCK = Paper(
    "clock",
    "Gao, Scharrenbach, Bernstein: The CLOCK Data-Aware Eviction Approach (ESWC 2014)",
    tuple(figure.EXPERIMENT for figure in (figure_2, figure_3, figure_4, figure_5)),
)
