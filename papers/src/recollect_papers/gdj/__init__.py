"""GreedyDual-Join: Locality-Aware Buffer Management for Approximate Join Processing."""

from recollect_papers.experiment import Paper
from recollect_papers.gdj import (
    figure_2,
    figure_3_credit,
    figure_3_methods,
    figure_4,
    figure_5,
    figure_6,
    figure_7_attributes,
    figure_7_streams,
    figure_8,
    figure_9,
    figure_10,
)

GDJ = Paper(
    "gdj",
    "Li, Chang, Kollios, Bestavros: GreedyDual-Join",
    (
        figure_2.EXPERIMENT,
        figure_3_methods.EXPERIMENT,
        figure_3_credit.EXPERIMENT,
        figure_4.EXPERIMENT,
        figure_5.WINDOWS,
        figure_5.DOMAIN,
        figure_6.EXPERIMENT,
        figure_7_streams.EXPERIMENT,
        figure_7_attributes.EXPERIMENT,
        figure_8.EXPERIMENT,
        figure_9.EXPERIMENT,
        figure_10.EXPERIMENT,
    ),
)
