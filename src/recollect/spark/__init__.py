"""The same jobs on Spark, one file per job, and the pipeline that strings them together."""

from recollect.spark.session import require_spark, session

require_spark()  # before the first import of it fails with less to say

# ruff: noqa: E402
from recollect.spark.bounded_join import bounded_join
from recollect.spark.exact_join import exact_join
from recollect.spark.frequent import frequent
from recollect.spark.live import JsonLines, LiveNumbers, Prometheus
from recollect.spark.lookup_join import lookup_join
from recollect.spark.profile import profile
from recollect.spark.quality import Quality, quality
from recollect.spark.replay import register
from recollect.spark.sweep import sweep
from recollect.spark.temporal_aggregate import temporal_aggregate

__all__ = [
    "JsonLines",
    "LiveNumbers",
    "Prometheus",
    "Quality",
    "bounded_join",
    "exact_join",
    "frequent",
    "lookup_join",
    "profile",
    "quality",
    "register",
    "session",
    "sweep",
    "temporal_aggregate",
]
