"""Transformation-based Temporal Aggregation Using Order-based Buffer Replacement."""

from recollect_papers.experiment import Paper
from recollect_papers.temporal.buffer_size import FIGURE_10, FIGURE_11
from recollect_papers.temporal.other_relations import EXPERIMENT as OTHER_RELATIONS

TEMPORAL = Paper(
    "temporal",
    "Woo, Lee, Lee, Lee, Whang: Transformation-based Temporal Aggregation Using Order-based Buffer"
    " Replacement Strategy",
    (FIGURE_10, FIGURE_11, OTHER_RELATIONS),
)
