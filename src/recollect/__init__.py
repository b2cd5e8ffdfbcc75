"""recollect: stream joins inside a hard memory budget that forget by evidence.

>>> import recollect as rc
>>> from recollect.streams import LocalityStream
>>> left, right = LocalityStream(20_000, seed=1), LocalityStream(20_000, seed=2)
>>> answer = rc.join(left, right, on="key", time="time", window=1_000, budget="10%", exact=True)
>>> answer.stats.policy, answer.stats.peak_tuples <= answer.stats.budget_tuples
('clock', True)
"""

from recollect.counting import Frequent, count
from recollect.errors import RecollectError
from recollect.intervals import Aggregation, IntervalFile, aggregate
from recollect.join.online import Join
from recollect.join.whole import Answer, Comparison, compare, join
from recollect.locality import Profile, profile
from recollect.lookup.online import Lookup
from recollect.lookup.whole import Enriched, lookup
from recollect.policies import NEWCOMER, Policy, Room, policy_names
from recollect.workload import JoinOn, Stream, Workload

__all__ = [
    "NEWCOMER",
    "Aggregation",
    "Answer",
    "Comparison",
    "Enriched",
    "Frequent",
    "IntervalFile",
    "Join",
    "JoinOn",
    "Lookup",
    "Policy",
    "Profile",
    "RecollectError",
    "Room",
    "Stream",
    "Workload",
    "aggregate",
    "compare",
    "count",
    "join",
    "lookup",
    "policy_names",
    "profile",
]
__version__ = "0.1.0"
