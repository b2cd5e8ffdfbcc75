"""What a cache's policy is: a policy of the join, told of rows and references.

The contract is that of :mod:`recollect.policies.base`. A cached row is a tuple of stream 0;
``tick`` tells of every reference (an arrival of stream 1, one per time unit), ``match`` of a hit.
So policies of the join that know nothing of the future serve as they are, a user's own too.

A policy may also want to know more of its cache than of a buffer: :class:`CacheRoom` tells it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TypeVar

import pyarrow as pa

from recollect.errors import PolicyError
from recollect.policies import Policy, Room, parse_policy
from recollect.policies.base import Array
from recollect.policies.clock import Clock
from recollect.policies.fifo import Fifo
from recollect.policies.lru import Lru
from recollect.policies.rand import Rand

FIRST_SLOTS = 1024

registry: dict[str, type[Policy]] = {cls.name: cls for cls in (Clock, Fifo, Lru, Rand)}
"""The policies of a cache by name."""

AnyPolicy = TypeVar("AnyPolicy", bound=type[Policy])


@dataclass(frozen=True)
class CacheRoom(Room):
    """What a policy's state must have room for, and what is known of the cache."""

    capacity: int = 0
    """How many rows may be cached; ``slots`` become so many when they are needed."""
    key_type: pa.DataType | None = None
    """The type of the key, if it is one column whose values are their own codes."""
    trace: Array | None = None
    """The codes of all references there will be, for policies that are ``offline``."""

    @classmethod
    def of(
        cls,
        capacity: int,
        seed: int = 0,
        key_type: pa.DataType | None = None,
        trace: Array | None = None,
    ) -> "CacheRoom":
        """Describe an empty cache."""
        # With one slot numpy calls the arrays contiguous, which is another type to numba.
        slots = max(2, min(FIRST_SLOTS, capacity))
        return cls(
            slots, streams=(0,), seed=seed, capacity=capacity, key_type=key_type, trace=trace
        )

    def with_slots(self, slots: int) -> "CacheRoom":
        """Describe the same cache with more slots."""
        return replace(self, slots=slots)


def known_as(name: str) -> Callable[[AnyPolicy], AnyPolicy]:
    """Give a policy that is only for caches its short name."""

    def enter(cls: AnyPolicy) -> AnyPolicy:
        cls.name = name
        registry[name] = cls
        return cls

    return enter


def is_offline(policy: Policy) -> bool:
    """Whether a policy must see the whole stream before it starts."""
    return bool(getattr(policy, "offline", False))


def cache_policy_names() -> list[str]:
    """The short names of the policies of a cache.

    >>> cache_policy_names()
    ['clock', 'fifo', 'heeb', 'lba', 'lfd', 'lfu', 'lru', 'rand', 's3-fifo', 'sieve']
    """
    return sorted(registry)


def parse_cache_policy(spec: "str | Policy | type[Policy]") -> Policy:
    """Make a cache's policy from the text a user types; one that is made is taken as it is.

    >>> parse_cache_policy("clock:w0=2")
    Clock(w0=2.0, partial=0.0)
    >>> parse_cache_policy("lruu")
    Traceback (most recent call last):
    recollect.errors.PolicyError: unknown policy 'lruu': did you mean lru?
    """
    if not isinstance(spec, str):
        return parse_policy(spec)
    name, _, parameters = spec.strip().partition(":")
    if name not in registry:
        if parameters:
            return parse_policy(spec)  # module:Class
        close = get_close_matches(name, registry, 1)
        known = "known are " + ", ".join(cache_policy_names())
        raise PolicyError(
            f"unknown policy {name!r}: {f'did you mean {close[0]}?' if close else known}"
        )
    cls = registry[name]
    policy = parse_policy(f"{cls.__module__}:{cls.__qualname__}:{parameters}")
    object.__setattr__(policy, "_typed", spec.strip())
    return policy
