"""Many streams and many joins that share one budget: multi-way joins, facts that hold for a time.

:class:`Workload` declares them, :func:`run` runs and measures them, :class:`WorkloadJoin` joins
streams that are fed in batch by batch. The engine is that of :mod:`recollect.join`.
"""

from recollect.workload.declaration import JoinOn, Stream, Workload
from recollect.workload.online import WorkloadJoin
from recollect.workload.runs import Prepared, Run, WorkloadComparison, run

__all__ = [
    "JoinOn",
    "Prepared",
    "Run",
    "Stream",
    "Workload",
    "WorkloadComparison",
    "WorkloadJoin",
    "run",
]
