"""Budgets on an axis: in which order, how far apart, and what is written below."""

import math
import re
from dataclasses import dataclass

from recollect.report.comparison import Comparison, Row
from recollect.report.units import NBSP

LOG_FROM = 3.0
"""Budgets that span at least this factor are drawn on a logarithmic axis."""


@dataclass(frozen=True)
class Scale:
    """Where each budget stands; ``places`` are in order, the smallest budget first."""

    title: str
    log: bool
    places: dict[str, float]

    @property
    def coordinates(self) -> dict[str, float]:
        """The places as plotly counts them on the axis: logarithms if it is logarithmic."""
        return {
            budget: math.log10(place) if self.log else place
            for budget, place in self.places.items()
        }

    def ticks(self, gap: float) -> list[str]:
        """Choose budgets to be written below the axis."""
        at = self.coordinates
        first, *middle, last = [*at] if len(at) > 1 else [*at, *at]
        least = gap * (at[last] - at[first])
        chosen = [first]
        for budget in middle:
            if at[budget] - at[chosen[-1]] >= least and at[last] - at[budget] >= least:
                chosen.append(budget)
        return [*chosen, last]


def scale_of(comparison: Comparison) -> Scale:
    """Find the axis that suits the budgets of a comparison."""
    rows = {row.budget: row for row in reversed(comparison.rows)}
    rows = {budget: rows[budget] for budget in dict.fromkeys(r.budget for r in comparison.rows)}
    shares = {budget: share for budget, row in rows.items() if (share := _share(row)) is not None}
    tuples = {budget: row.budget_tuples for budget, row in rows.items() if row.budget_tuples}
    sizes = {budget: row.budget_bytes for budget, row in rows.items() if row.budget_bytes}
    if len(shares) == len(rows):
        return _ordered("memory budget: share of the tuples that the exact join holds", shares)
    if len(tuples) == len(rows):
        if shares and comparison.mean_alive > 0:
            shares = {budget: size / comparison.mean_alive for budget, size in tuples.items()}
            return _ordered("memory budget: share of the tuples that the exact join holds", shares)
        return _ordered("memory budget in tuples", tuples)
    if len(sizes) == len(rows):
        return _ordered("memory budget in bytes", sizes)
    # Tuples, bytes and no limit at all have no common measure; only their order is shown.
    known = {**tuples, **sizes}
    order = sorted(rows, key=lambda budget: known.get(budget, math.inf))
    return Scale("memory budget", False, {budget: float(n) for n, budget in enumerate(order)})


def budget_label(budget: str) -> str:
    """Write a budget as one does in a text.

    >>> [budget_label(text).replace(NBSP, "_") for text in ("10%", "2000", "64MB", "unlimited")]
    ['10_%', '2,000', '64_MB', 'unlimited']
    """
    amount = re.fullmatch(r"(\d+)(\.\d+)?\s*([%a-zA-Z]*)", budget.strip())
    if amount is None:
        return budget
    whole, fraction, unit = amount.groups(default="")
    return f"{int(whole):,}{fraction}" + (NBSP + unit if unit else "")


def memory(row: Row) -> str:
    """Say in words what a budget allows: ``with room for 2,000 tuples``."""
    label = budget_label(row.budget)
    if _share(row) is not None:
        return f"with {label} of the memory"
    if row.budget_bytes is not None:
        return f"with {label} of memory"
    if row.budget_tuples is not None:
        return f"with room for {row.budget_tuples:,} tuple{'' if row.budget_tuples == 1 else 's'}"
    return "without a limit on memory" if row.budget == "unlimited" else f"with a budget of {label}"


def _share(row: Row) -> float | None:
    amount = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", row.budget.strip())
    return float(amount[1]) / 100 if amount and float(amount[1]) > 0 else None


def _ordered(title: str, places: "dict[str, float] | dict[str, int]") -> Scale:
    ordered = {budget: float(place) for budget, place in sorted(places.items(), key=lambda i: i[1])}
    smallest, *_, largest = [*ordered.values()] * 2
    log = largest / smallest >= LOG_FROM
    return Scale(title + (" (logarithmic)" if log else ""), log, ordered)
