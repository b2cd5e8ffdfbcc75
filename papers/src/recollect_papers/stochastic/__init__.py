"""On Joining and Caching Stochastic Streams."""

from recollect_papers.experiment import Paper
from recollect_papers.stochastic import (
    figure_6,
    figure_8,
    figure_9,
    figure_13,
    figure_15,
    figure_16,
)

STOCHASTIC = Paper(
    "stochastic",
    "Xie, Yang, Chen: On Joining and Caching Stochastic Streams (SIGMOD 2005)",
    (
        figure_6.EXPERIMENT,
        figure_8.EXPERIMENT,
        *figure_9.EXPERIMENTS,
        figure_13.EXPERIMENT,
        figure_15.EXPERIMENT,
        figure_16.EXPERIMENT,
    ),
)
