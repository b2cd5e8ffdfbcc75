"""Which row a cache forgets: the policies of the join that serve, and those only a cache can have.

``rand``, ``fifo``, ``lru`` and ``clock`` are the join's own (:mod:`recollect.policies`); ``lfu`` is
its PROB. Here, one file each, are the others.
"""

from recollect.lookup.policies.base import (
    CacheRoom,
    cache_policy_names,
    is_offline,
    parse_cache_policy,
)
from recollect.lookup.policies.heeb import Heeb
from recollect.lookup.policies.lba import Lba
from recollect.lookup.policies.lfd import Lfd
from recollect.lookup.policies.lfu import Lfu
from recollect.lookup.policies.s3_fifo import S3Fifo
from recollect.lookup.policies.sieve import Sieve

__all__ = [
    "CacheRoom",
    "Heeb",
    "Lba",
    "Lfd",
    "Lfu",
    "S3Fifo",
    "Sieve",
    "cache_policy_names",
    "is_offline",
    "parse_cache_policy",
]
