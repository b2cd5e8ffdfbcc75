"""Characterizing and Exploiting Reference Locality in Data Stream Applications."""

from recollect_papers.experiment import Paper
from recollect_papers.locality import (
    figure_1,
    figure_2,
    figure_3,
    figure_4,
    figure_5,
    table_1,
    table_2,
)

LOCALITY = Paper(
    "locality",
    "Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream"
    " Applications",
    (
        *figure_1.EXPERIMENTS,
        figure_2.EXPERIMENT,
        table_1.EXPERIMENT,
        *figure_3.EXPERIMENTS,
        *figure_4.EXPERIMENTS,
        *figure_5.EXPERIMENTS,
        table_2.EXPERIMENT,
    ),
)
