"""Many streams and many joins that share one budget: multi-way joins, facts that hold for a time.

:class:`Workload` declares them, :func:`run` runs them.
"""

from recollect.workload.declaration import JoinOn, Stream, Workload
from recollect.workload.runs import Comparison, Prepared, Run, run

__all__ = ["Comparison", "JoinOn", "Prepared", "Run", "Stream", "Workload", "run"]
