"""Whether one mean is above another, and the verdict on claims that hold in some cases only."""

from collections.abc import Collection
from math import sqrt

from recollect_papers.experiment import Row

LEAST = 0.01
"""A difference of less than this share is none."""
ERRORS = 2.0
"""Nor is one of fewer standard errors."""


def above(one: Row, other: Row, column: str = "recall") -> bool:
    """Whether a mean is above another, by more than 1 % and two standard errors.

    >>> gdj, prob = ({"recall": mean, "recall_std": 0.04, "runs": 4} for mean in (0.5, 0.4))
    >>> above(gdj, prob), above(prob, gdj), above(gdj, {**prob, "recall": 0.45})
    (True, False, False)
    """
    error = sqrt(sum(row[f"{column}_std"] ** 2 / row["runs"] for row in (one, other)))
    return bool(one[column] - other[column] > max(LEAST * abs(other[column]), ERRORS * error))


def verdict_of(held: Collection[bool]) -> str:
    """Sum up in which cases a claim holds; it is open if there are none.

    >>> verdict_of([True, True]), verdict_of([True, False]), verdict_of([False]), verdict_of([])
    ('yes', 'partly', 'no', 'open')
    """
    if not held:
        return "open"
    return "yes" if all(held) else "partly" if any(held) else "no"
