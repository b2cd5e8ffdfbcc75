"""A stream joined with a relation of a database, through a cache of bounded size.

The cache is the join's buffer, its policies are the join's policies and a few of its own; the
relation may be in SQLite, DuckDB, PostgreSQL or in memory.
"""

from recollect.lookup.online import Lookup
from recollect.lookup.outage import RelationLostError
from recollect.lookup.stats import LookupStats
from recollect.lookup.whole import Enriched, lookup
from recollect.policies import cache_policy_names

__all__ = [
    "Enriched",
    "Lookup",
    "LookupStats",
    "RelationLostError",
    "cache_policy_names",
    "lookup",
]
