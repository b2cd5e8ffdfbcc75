"""recollect: stream joins inside a hard memory budget that forget by evidence.

>>> import recollect as rc
>>> from recollect.streams import LocalityStream
>>> left, right = LocalityStream(20_000, seed=1), LocalityStream(20_000, seed=2)
>>> answer = rc.join(left, right, on="key", time="time", window=1_000, budget="10%", exact=True)
>>> answer.stats.policy, answer.stats.peak_tuples <= answer.stats.budget_tuples
('clock', True)
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.counting import Frequent, count
    from recollect.errors import RecollectError
    from recollect.intervals import Aggregation, IntervalFile, aggregate  # type: ignore[no-redef]
    from recollect.join.online import Join
    from recollect.join.whole import Answer, Comparison, compare, join
    from recollect.locality import Profile, profile
    from recollect.lookup.online import Lookup
    from recollect.lookup.whole import Enriched, lookup
    from recollect.policies import NEWCOMER, Policy, Room, policy_names
    from recollect.workload import JoinOn, Stream, Workload, WorkloadJoin

_HOMES = {
    "counting": ("Frequent", "count"),
    "errors": ("RecollectError",),
    "intervals": ("Aggregation", "IntervalFile", "aggregate"),
    "join.online": ("Join",),
    "join.whole": ("Answer", "Comparison", "compare", "join"),
    "locality": ("Profile", "profile"),
    "lookup.online": ("Lookup",),
    "lookup.whole": ("Enriched", "lookup"),
    "policies": ("NEWCOMER", "Policy", "Room", "policy_names"),
    "workload": ("JoinOn", "Stream", "Workload", "WorkloadJoin"),
}
"""Where each name is. It is imported when it is first used, to make ``import recollect`` fast."""

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
    "WorkloadJoin",
    "aggregate",
    "compare",
    "count",
    "join",
    "lookup",
    "policy_names",
    "profile",
]
__version__ = "0.1.0"


class _Recollect(ModuleType):
    """``recollect.join`` and ``recollect.lookup`` are functions, though there are such folders."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in __all__ or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Recollect


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"recollect.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
