"""Transformation-based Temporal Aggregation Using Order-based Buffer Replacement."""

from recollect.papers.experiment import Paper

TEMPORAL = Paper(
    "temporal",
    "Woo, Lee, Lee, Lee, Whang: Transformation-based Temporal Aggregation Using Order-based Buffer"
    " Replacement Strategy",
    (),
)
