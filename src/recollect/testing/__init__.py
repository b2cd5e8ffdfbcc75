"""The checks that every policy must pass, yours too: :func:`check_policy`, one line in a test.

They know nothing of what a policy wants. That it chooses the right victims is for a test of its
own.
"""

from collections.abc import Sequence
from unittest import mock

from recollect.compiled import interpreted
from recollect.errors import PolicyError
from recollect.join import engine as engines
from recollect.policies import Policy, parse_cache_policy, parse_policy
from recollect.policies.base import cache_registry, registry
from recollect.testing.caches import CACHE_CHECKS
from recollect.testing.joins import JOIN_CHECKS, MANY, PAIR

__all__ = ["check_policy"]

KINDS = ("pair", "many", "cache")


def check_policy(policy: str | Policy | type[Policy], kinds: Sequence[str] | None = None) -> None:
    """Run a policy on small random streams, and raise AssertionError if it breaks a rule.

    It must never exceed its budget, in tuples or bytes, in one part or split; lose nothing where
    nothing need be lost; give only results that the exact join gives; do the same again under the
    same seed, however the streams are cut into batches, whether the buffer was large from the
    beginning or grew, and after it was saved and loaded; and cope with streams that are empty,
    short, or always show the same key. Everything runs interpreted, so a debugger can step through
    it.

    Parameters
    ----------
    policy
        An object, a class, or a text such as ``"prob:counts=sketch"``.
    kinds
        Where it is to work: in the join of two streams (``"pair"``), in many joins over one memory
        (``"many"``), in a cache (``"cache"``). Left out, a policy with a short name must work
        wherever it has one, any other in joins.

    Examples
    --------
    >>> check_policy("fifo")
    """
    wanted = _kinds_of(policy) if kinds is None else tuple(kinds)
    for kind in wanted:
        if kind not in KINDS:
            raise PolicyError(f"kind {kind!r} is not one of {', '.join(KINDS)}")
    # With few slots at first, arrays are short and buffers grow.
    with interpreted(), mock.patch.object(engines, "FIRST_SLOTS", 64):
        for kind, case in (("pair", PAIR), ("many", MANY)):
            if kind in wanted:
                made = parse_policy(policy)
                for check in JOIN_CHECKS:
                    _run(f"{made.spec}, {kind}", check, made, case)
        if "cache" in wanted:
            made = parse_cache_policy(policy)
            for check in CACHE_CHECKS:
                _run(f"{made.spec}, cache", check, made)


def _kinds_of(policy: str | Policy | type[Policy]) -> tuple[str, ...]:
    """Where a policy is known."""
    if isinstance(policy, str):
        name = policy.strip().partition(":")[0]
        in_joins, in_caches = name in registry, name in cache_registry
    else:
        kind = policy if isinstance(policy, type) else type(policy)
        in_joins, in_caches = kind in registry.values(), kind in cache_registry.values()
    joins = ("pair", "many") if in_joins or not in_caches else ()
    return (*joins, "cache") if in_caches else joins


def _run(title: str, check, *arguments) -> None:  # type: ignore[no-untyped-def]
    try:
        check(*arguments)
    except AssertionError as error:
        summary = (check.__doc__ or check.__name__).partition("\n")[0]
        raise AssertionError(f"{title}: {check.__name__}: {summary} {error}".rstrip()) from error
