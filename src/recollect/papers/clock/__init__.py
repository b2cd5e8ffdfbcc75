"""The CLOCK Data-Aware Eviction Approach."""

from recollect.papers.experiment import Paper

CLOCK = Paper(
    "clock",
    "Gao, Scharrenbach, Bernstein: The CLOCK Data-Aware Eviction Approach (ESWC 2014)",
    (),
)
