"""What a recall report is made from: one row per policy and budget, and the facts of the run."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from statistics import mean
from typing import Any

from recollect.errors import InputError

OPTIMUM = "opt"
"""The row that knows the future: shown with the policies, but never praised as one of them."""


@dataclass(frozen=True)
class Row:
    """What one policy achieved inside one budget; None stands for what was not measured."""

    policy: str
    budget: str
    """As the user typed it: ``10%``, ``2000``, ``64MB``, ``unlimited``."""
    results: int
    recall: float
    evicted: int | None = None
    refused: int | None = None
    expired: int | None = None
    tuples_per_second: float | None = None
    budget_tuples: int | None = None
    budget_bytes: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        where = f"policy {self.policy!r} at budget {self.budget!r}"
        if not 0 <= self.recall <= 1:
            raise InputError(f"{where}: recall {self.recall} is not between 0 and 1")
        if self.tuples_per_second is not None and not math.isfinite(self.tuples_per_second):
            raise InputError(f"{where}: {self.tuples_per_second} tuples per second; give a number")


@dataclass(frozen=True)
class Comparison:
    """A run of ``recollect compare``."""

    title: str
    left: str
    right: str
    window: str
    on: str
    tuples_in: int
    exact_results: int
    mean_alive: float
    """Tuples that the exact join holds, the mean over all arrivals."""
    seed: int
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        """Refuse an empty comparison and a policy that ran twice in the same budget."""
        if not self.rows:
            raise InputError("there is nothing to report: the comparison has no rows")
        seen = set()
        for row in self.rows:
            if (row.policy, row.budget) in seen:
                raise InputError(f"policy {row.policy!r} has two rows at budget {row.budget!r}")
            seen.add((row.policy, row.budget))

    @cached_property
    def policies(self) -> list[str]:
        """All policies, the one with the highest mean recall first."""
        names = dict.fromkeys(row.policy for row in self.rows)
        return sorted(names, key=lambda name: -mean(row.recall for row in self.of(name)))

    @cached_property
    def rivals(self) -> list[str]:
        """The policies without the optimum, unless that is all there is."""
        return [name for name in self.policies if name != OPTIMUM] or self.policies

    def of(self, policy: str) -> list[Row]:
        """Return the rows of a policy, as they came."""
        return [row for row in self.rows if row.policy == policy]

    def at(self, budget: str) -> list[Row]:
        """Return the rows of a budget, the best first."""
        rows = [row for row in self.rows if row.budget == budget]
        return sorted(rows, key=lambda row: (-row.recall, self.policies.index(row.policy)))

    def contest(self, budget: str) -> list[Row]:
        """Return the rows of a budget that compete: without the optimum, if there are others."""
        return [row for row in self.at(budget) if row.policy in self.rivals]

    def winners(self, budget: str) -> list[str]:
        """Return the policies that share the highest recall at a budget."""
        rows = self.contest(budget)
        return [row.policy for row in rows if row.recall == rows[0].recall]


def comparison_from(given: Comparison | Mapping[str, Any]) -> Comparison:
    """Make a comparison from a plain mapping; further keys are ignored.

    Examples
    --------
    >>> comparison_from({"title": "Clicks"})
    Traceback (most recent call last):
    recollect.errors.InputError: the comparison lacks 'left'
    """
    if isinstance(given, Comparison):
        return given
    facts = _picked(Comparison, given, "the comparison")
    facts["rows"] = tuple(
        row if isinstance(row, Row) else Row(**_picked(Row, row, f"row {number}"))
        for number, row in enumerate(facts["rows"])
    )
    return Comparison(**facts)


def _picked(cls: type, given: Mapping[str, Any], title: str) -> dict[str, Any]:
    for field in fields(cls):
        if field.default is MISSING and field.name not in given:
            raise InputError(f"{title} lacks {field.name!r}")
    return {field.name: given[field.name] for field in fields(cls) if field.name in given}
