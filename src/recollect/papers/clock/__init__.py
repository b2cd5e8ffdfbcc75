"""The CLOCK Data-Aware Eviction Approach."""

from recollect.papers.clock import figure_2, figure_3, figure_4, figure_5
from recollect.papers.experiment import Paper

CLOCK = Paper(
    "clock",
    "Gao, Scharrenbach, Bernstein: The CLOCK Data-Aware Eviction Approach (ESWC 2014)",
    tuple(figure.EXPERIMENT for figure in (figure_2, figure_3, figure_4, figure_5)),
)
