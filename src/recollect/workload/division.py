"""Who may use how much of a budget: all streams together, or each its own part."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from recollect.errors import BudgetError

WORDS = ("unified", "rate", "equal")


class Division(NamedTuple):
    """By stream its part of the budget, and by part what it may hold."""

    pools: tuple[int, ...]
    capacity: tuple[int, ...]


def divide(
    total: int, division: str | Mapping[str, Any], streams: Sequence[str], arrivals: Sequence[int]
) -> Division:
    """Divide a budget.

    Parameters
    ----------
    total
        The budget, in tuples.
    division
        ``"unified"``: one buffer for all; ``"rate"``: in proportion to the arrivals; ``"equal"``;
        or the share of each stream.
    streams, arrivals
        The names of the streams, and how many tuples each has.

    Examples
    --------
    >>> divide(10, "rate", ["R", "S", "T"], [100, 200, 700])
    Division(pools=(0, 1, 2), capacity=(1, 2, 7))
    """
    if division == "unified":
        return Division((0,) * len(streams), (total,))
    if isinstance(division, Mapping):
        if sorted(division) != sorted(streams):
            raise BudgetError(
                f"division {dict(division)} must give a share to each stream: {', '.join(streams)}"
            )
        shares = [_share(division, name) for name in streams]
    elif division in WORDS:
        shares = [float(max(1, count)) if division == "rate" else 1.0 for count in arrivals]
    else:
        raise BudgetError(
            f"division {division!r} is not understood; give {', '.join(WORDS)} or a share for each"
            " stream"
        )
    if total < len(streams):
        raise BudgetError(
            f"a budget of {total} cannot be divided among {len(streams)} streams; give more"
        )
    return Division(tuple(range(len(streams))), _whole_parts(total, shares))


def _share(division: Mapping[str, Any], name: str) -> float:
    share = division[name]
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < inf:
        raise BudgetError(f"division: the share of {name} is {share!r}, not a number above 0")
    return float(share)


def _whole_parts(total: int, shares: Sequence[float]) -> tuple[int, ...]:
    """At least 1 for each; the rest by largest remainder."""
    rest = total - len(shares)
    exact = [max(0.0, total * share / sum(shares) - 1) for share in shares]
    scale = rest / sum(exact) if sum(exact) else 0.0
    parts = [int(part * scale + 1e-9) for part in exact]
    by_remainder = sorted(range(len(shares)), key=lambda i: parts[i] - exact[i] * scale)
    for i in by_remainder[: rest - sum(parts)]:
        parts[i] += 1
    return tuple(part + 1 for part in parts)
