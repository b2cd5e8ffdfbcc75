"""How much may be remembered: so many tuples, a share of what the exact join holds, or bytes."""

import re
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import psutil

from recollect.errors import BudgetError

_BYTES = {
    "b": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
WORKING_BYTES = 24 * 10**6
WORKING_SHARE = 1 / 16
"""What reading, writing and batches in flight need beside the buffer; half a budget at the most."""
SMALLEST_TUPLE = 128
"""About the bytes that the engine itself needs for a buffered tuple."""


@dataclass(frozen=True)
class Budget:
    """A budget; at most one of the fields is set, none of them means unlimited."""

    tuples: int | None = None
    share: float | None = None
    bytes: int | None = None
    text: str = "unlimited"

    def __str__(self) -> str:
        """Return the text it was made from."""
        return self.text

    @property
    def unlimited(self) -> bool:
        """Whether nothing is ever forgotten before it expires."""
        return self.tuples is None and self.share is None and self.bytes is None

    @property
    def for_tuples(self) -> int | None:
        """What of a budget in bytes is left for tuples and statistics.

        A budget is for all memory that the join takes, and some of it is in use while tuples are on
        their way in and results on their way out.
        """
        if self.bytes is None:
            return None
        return self.bytes - int(min(WORKING_BYTES + WORKING_SHARE * self.bytes, self.bytes / 2))

    def of(self, mean_alive: float) -> "Budget":
        """Turn a share into tuples, given how many the exact join holds in the mean.

        >>> parse_budget("10%").of(mean_alive=20_000).tuples
        2000
        """
        if self.share is None:
            return self
        return Budget(tuples=max(1, round(self.share * mean_alive)), text=self.text)


def parse_budget(budget: Any, elsewhere: bool = False) -> Budget:
    """Make a budget from what a user types: ``2000``, ``"10%"``, ``"64MB"``, ``"unlimited"``.

    Parameters
    ----------
    budget
        The words, or a budget already made.
    elsewhere
        It is for other machines, so it may exceed the memory of this one.

    >>> parse_budget("64MB").bytes
    64000000
    """
    if isinstance(budget, Budget):
        return budget
    text = "unlimited" if budget is None else str(budget).strip()
    if text == "unlimited":
        return Budget()
    amount = re.fullmatch(r"(-?\d+(?:\.\d+)?)\s*(%|[a-zA-Z]*)", text)
    unit = amount[2].lower() if amount else ""
    if amount is None or (unit not in ("", "%") and unit not in _BYTES):
        raise BudgetError(
            f"budget {text!r} is not understood; give a number of tuples such as 2000, a share"
            " such as 10%, bytes such as 64MB, or unlimited"
        )
    number = float(amount[1])
    if number <= 0:
        raise BudgetError(f"budget {text} leaves no room for a single tuple; give more than 0")
    if unit == "%":
        if number == inf:
            raise BudgetError(f"budget {text} is too large; use unlimited to forget nothing")
        return Budget(share=number / 100, text=text)
    memory = inf if elsewhere else psutil.virtual_memory().total
    if unit in _BYTES:
        if number * _BYTES[unit] > memory:
            raise BudgetError(
                f"budget {text} is larger than this machine's memory ({memory} bytes)"
            )
        return Budget(bytes=int(number * _BYTES[unit]), text=text)
    if number * SMALLEST_TUPLE > memory:
        raise BudgetError(
            f"budget {text} tuples would need about {number * SMALLEST_TUPLE:.3g} bytes, more than"
            f" this machine's memory ({memory} bytes); use unlimited to forget nothing"
        )
    if not number.is_integer():
        raise BudgetError(f"budget {text} is not a whole number of tuples")
    return Budget(tuples=int(number), text=text)


def parse_shares(split: Any) -> tuple[float, float] | str | None:
    """How a budget is divided between the streams.

    None for one unified buffer, ``"rate"`` and ``"equal"`` as they are, or the left and right
    share, which add up to 1.

    >>> parse_shares("30:70")
    (0.3, 0.7)
    """
    if split is None or split is False:
        return None
    if split is True:
        return "rate"
    if split in ("rate", "equal"):
        return str(split)
    try:
        parts = split.split(":") if isinstance(split, str) else split
        left, right = (float(part) for part in parts)
    except (TypeError, ValueError, AttributeError):
        raise BudgetError(
            f"split {split!r} is not understood; give rate, equal or two shares such as 30:70"
        ) from None
    if not (0 < left < inf and 0 < right < inf):
        raise BudgetError(f"split {split!r}: both streams need a share above 0")
    return left / (left + right), right / (left + right)


def divide(total: int, shares: tuple[float, float]) -> tuple[int, int]:
    """Divide a budget; each stream gets at least one unit.

    >>> divide(10, (0.25, 0.75))
    (2, 8)
    """
    if total < 2:
        raise BudgetError(
            f"a budget of {total} cannot be split between two streams; give 2 or more"
        )
    left = min(max(1, round(total * shares[0])), total - 1)
    return left, total - left


class Capacity(NamedTuple):
    """A budget in the engine's terms."""

    pools: tuple[int, ...]
    """What each part may hold: one part for a unified buffer, two for a split one."""
    in_bytes: bool = False
    """Whether tuples count their bytes; else each counts 1."""


UNLIMITED = Capacity((2**63 - 1,))


def capacity_of(budget: Budget, shares: tuple[float, float] | str | None) -> Capacity:
    """A budget and its division in the engine's terms."""
    if budget.share is not None:
        raise BudgetError(
            f"budget {budget} is a share of what the exact join holds, which is known only for"
            " whole inputs; give a number of tuples or bytes"
        )
    if budget.unlimited:
        return UNLIMITED
    in_bytes = budget.bytes is not None
    total = budget.for_tuples if in_bytes else budget.tuples
    assert total is not None
    if shares is None:
        return Capacity((total,), in_bytes)
    if shares == "rate":
        raise BudgetError(
            "a budget can be split by arrival rates only for whole inputs, where they are known;"
            " give the shares, such as split=(0.3, 0.7)"
        )
    return Capacity(divide(total, (0.5, 0.5) if isinstance(shares, str) else shares), in_bytes)
