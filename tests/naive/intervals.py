"""Temporal aggregation as it is defined: every base interval, every tuple, then merged."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

AGGREGATES = ("count", "sum", "avg", "min", "max")
Tuple = tuple[int, float, Any]
"""Start, end (infinity if there is none) and value."""


def aggregate_of(values: Sequence[Any]) -> dict[str, Any]:
    """The aggregates of the values that are not NULL, with NaN above all numbers."""
    values = [value for value in values if value is not None]
    if not values:
        return dict.fromkeys(AGGREGATES) | {"count": 0}
    if any(isinstance(value, float) for value in values):
        total: Any = float_sum(values)
        mean = total / len(values)
    else:
        total = sum(values)
        mean = float(Fraction(total) / len(values))

    def key(value: Any) -> tuple[bool, Any]:
        return (True, 0) if value != value else (False, value)

    return {
        "count": len(values),
        "sum": total,
        "avg": mean,
        "min": min(values, key=key),
        "max": max(values, key=key),
    }


def float_sum(values: Sequence[float]) -> float:
    """The float nearest to the sum."""
    if not all(map(math.isfinite, values)):
        return sum(values)
    exact = sum(map(Fraction, values), Fraction(0))
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def same(one: Any, other: Any) -> bool:
    """Equal, where NULL equals NULL and NaN equals NaN."""
    return one == other or (one != one and other != other)


def constant_intervals(
    tuples: Iterable[Tuple],
    names: Sequence[str] = AGGREGATES,
    window: tuple[float, float] = (-math.inf, math.inf),
) -> list[tuple[Any, ...]]:
    """The intervals (start, end, aggregates …) on which none of the named aggregates changes."""
    cut = [(max(s, window[0]), min(e, window[1]), v) for s, e, v in tuples if s < e]
    alive = [(s, e, v) for s, e, v in cut if s < e]
    times = sorted({time for s, e, _ in alive for time in (s, e)})
    rows: list[tuple[Any, ...]] = []
    for start, end in pairwise(times):
        active = aggregate_of([v for s, e, v in alive if s <= start and end <= e])
        values = [active[name] for name in names]
        if rows and all(map(same, rows[-1][2:], values)):
            rows[-1] = (rows[-1][0], end, *values)
        else:
            rows.append((start, end, *values))
    return rows


def spans(
    tuples: Iterable[Tuple], length: int, names: Sequence[str] = AGGREGATES
) -> list[tuple[Any, ...]]:
    """The aggregates of all tuples that overlap each span of a length, one row per span."""
    alive = [(s, e, v) for s, e, v in tuples if s < e]
    if not alive:
        return []
    first = min(s for s, _, _ in alive) // length
    last = max(-(-e // length) for _, e, _ in alive)
    rows = []
    for number in range(first, int(last)):
        start, end = number * length, (number + 1) * length
        active = aggregate_of([v for s, e, v in alive if s < end and e > start])
        rows.append((start, end, *(active[name] for name in names)))
    return rows
