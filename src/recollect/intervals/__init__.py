"""Temporal aggregation: COUNT, SUM, AVG, MIN and MAX of tuples that live for an interval of time.

:func:`aggregate` sweeps over the start and end times of a relation and gives the intervals on which
the aggregates stay the same. A relation that does not fit into memory, or changes, lives in an
:class:`IntervalFile`: a multilevel grid file read through a buffer pool that knows what comes next.
"""

from recollect.intervals.aggregate import AggregateStats, Aggregation, aggregate
from recollect.intervals.interval_file import IntervalFile

__all__ = ["AggregateStats", "Aggregation", "IntervalFile", "aggregate"]
