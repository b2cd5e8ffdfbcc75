"""GreedyDual-Join: Locality-Aware Buffer Management for Approximate Join Processing."""

from recollect.papers.experiment import Paper

GDJ = Paper(
    "gdj",
    "Li, Chang, Kollios, Bestavros: GreedyDual-Join",
    (),
)
