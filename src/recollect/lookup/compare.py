"""Caches side by side on the same references: how often does each policy hit?

Hits do not depend on what the rows are, so no relation is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from recollect.errors import BudgetError
from recollect.join.budget import parse_budget
from recollect.join.query import key_columns
from recollect.join.whole import Progress, quiet
from recollect.lookup.online import require_keys
from recollect.lookup.whole import lookup
from recollect.policies import cache_policy_names, parse_cache_policy
from recollect.streams import open_source

LFD = "lfd"


@dataclass(frozen=True)
class CacheRun:
    """A policy at one size of the cache, in the words of a comparison of joins."""

    policy: str
    budget: str
    cache: int
    """The budget in rows."""
    results: int
    """The hits."""
    recall: float
    """The share of the references that hit."""
    tuples_per_second: float


def online_policy_names() -> list[str]:
    """The policies of a cache that do not know the future.

    >>> "sieve" in online_policy_names(), "lfd" in online_policy_names()
    (True, False)
    """
    names = cache_policy_names()
    return [name for name in names if not parse_cache_policy(name).offline]


def compare_caches(
    stream: Any,
    *,
    on: str | Sequence[Any],
    budgets: Sequence[Any],
    policies: Sequence[Any],
    seed: int = 0,
    progress: Progress = quiet,
) -> list[CacheRun]:
    """Count the hits of each policy at each size of the cache.

    Parameters
    ----------
    stream, on, seed, progress
        As for :func:`~recollect.lookup.lookup`.
    budgets
        Sizes of the cache: in rows, or in shares of the distinct keys of the stream.
    policies
        Names or objects; ``lfd`` is the offline optimum.

    Examples
    --------
    >>> from recollect.streams import LocalityStream
    >>> stream = LocalityStream(5_000, keys=1_000, seed=1)
    >>> lru, best = compare_caches(stream, on="key", budgets=["20%"], policies=["lru", "lfd"])
    >>> lru.recall < best.recall
    True
    """
    keys = key_columns(on)[0]
    source = open_source(stream)
    require_keys(source.schema, keys)
    batches = []
    for batch in source.batches(keys):
        batches.append(batch)
        progress("reading", batch.num_rows)
    fields = [source.schema.field(key) for key in keys]
    references = pa.Table.from_batches(batches, pa.schema(fields))
    sizes = [(str(budget), _rows(budget, references)) for budget in budgets]
    runs = []
    # What is not in the relation is cached as well, so an empty one does.
    words = {"on": keys, "seed": seed, "count_only": True}
    nothing = references.slice(0, 0)
    for policy in policies:
        # A few references beforehand, so that the time to compile a policy is not measured.
        lookup(references.slice(0, 9), nothing, cache=1, policy=policy, **words)
        for text, cache in sizes:
            stats = lookup(
                references, nothing, cache=cache, policy=policy, progress=progress, **words
            ).stats
            runs.append(
                CacheRun(
                    policy=stats.policy, budget=text, cache=cache, results=stats.hits,
                    recall=stats.hit_rate, tuples_per_second=stats.tuples_per_second,
                )
            )  # fmt: skip
    return runs


def _rows(budget: Any, references: pa.Table) -> int:
    """How many rows a budget is."""
    asked = parse_budget(budget)
    if asked.share is not None:
        asked = asked.of(references.group_by(references.schema.names).aggregate([]).num_rows)
    if asked.tuples is None:
        raise BudgetError(f"a cache has a number of rows, or a share of the keys, not {asked}")
    return asked.tuples
