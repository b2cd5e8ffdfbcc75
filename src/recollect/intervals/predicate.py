"""Conditions on ordinary attributes: ``origin = 'JFK' and distance >= 500``.

Every condition is a range of words, or what is outside of one, so an index that knows the least and
the greatest word of each page can pass over pages without a match. Comparisons with NULL are
unknown, and what is unknown does not count, as in SQL.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import numpy as np

from recollect.errors import FilterError
from recollect.intervals.words import LEAST, MOST, NULL, Codec, StringWords

Range = tuple[int, int]
"""The least and the greatest word that pass."""

_SIGNS = {"==": "=", "<>": "!="}
_CONDITION = re.compile(
    r"""\s*(?:"(?P<odd>[^"]+)"|(?P<name>[^\s"'=!<>]+))
        \s*(?:(?P<sign><=|>=|<>|!=|==|=|<|>)
              \s*(?:'(?P<text>(?:[^']|'')*)'|(?P<bare>[^\s'"=!<>]+(?:\s+(?!and\b)[^\s'"=!<>]+)*))
            |(?P<null>\s+is\s+(?:not\s+)?null))
        \s*(?P<more>\band\b|$)""",
    re.IGNORECASE | re.VERBOSE,
)
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """One condition as it was written."""

    column: str
    sign: str
    """A comparison, ``is null`` or ``is not null``."""
    literal: str = ""


def parse_where(text: str | None) -> list[Condition]:
    """Read conditions joined by AND.

    A column is a word, or in double quotes; a value is a number, a time, or text in single quotes,
    which may be left out where it has no odd characters.

    >>> for condition in parse_where("origin = 'JFK' AND distance>=500 and gate is not null"):
    ...     print(condition)
    Condition(column='origin', sign='=', literal='JFK')
    Condition(column='distance', sign='>=', literal='500')
    Condition(column='gate', sign='is not null', literal='')
    """
    conditions: list[Condition] = []
    position, more = 0, text is not None
    while more:
        assert text is not None
        found = _CONDITION.match(text, position)
        if found is None:
            raise FilterError(
                f"{text[position:].strip()!r} is not understood; a condition is a column, one of"
                " = != < <= > >= and a value, or 'is null' after a column; AND joins several"
            )
        column = found["odd"] or found["name"]
        if found["null"]:
            conditions.append(Condition(column, " ".join(found["null"].lower().split())))
        else:
            literal = found["bare"] if found["text"] is None else found["text"].replace("''", "'")
            sign = _SIGNS.get(found["sign"], found["sign"])
            conditions.append(Condition(column, sign, literal))
        position, more = found.end(), bool(found["more"])
    return conditions


class Check:
    """A condition that fits its column, of which a codec makes words."""

    def __init__(self, condition: Condition, codec: Codec) -> None:
        self.column = condition.column
        self._condition = condition
        self._strings = codec if isinstance(codec, StringWords) else None
        self._passing: list[bool] = []
        self.outside = condition.sign == "!="
        self.range = self._range(codec)

    def _range(self, codec: Codec) -> Range:
        sign, literal = self._condition.sign, self._condition.literal
        if sign == "is null":
            return int(NULL), int(NULL)
        if sign == "is not null" or self._strings:
            return LEAST, MOST
        place = codec.place(literal)
        low, high = codec.finite
        if sign in ("=", "!="):
            low, high = ceil(place), floor(place)  # none if it lies between two words
        elif sign in ("<", "<="):
            high = ceil(place) - 1 if sign == "<" else floor(place)
        else:
            low = floor(place) + 1 if sign == ">" else ceil(place)
        low, high = max(low, LEAST), min(high, MOST)
        return (low, high) if low <= high else (MOST, LEAST)

    @property
    def box(self) -> Range:
        """A range outside of which no word passes."""
        if self._strings is None or not self._by_value:
            return (LEAST, MOST) if self.outside else self.range
        passing = np.flatnonzero(self._table())
        return (int(passing[0]), int(passing[-1])) if len(passing) else (MOST, LEAST)

    @property
    def _by_value(self) -> bool:
        return self._condition.sign in _COMPARE or self.outside

    def mask(self, words: np.ndarray) -> np.ndarray:
        """Which words pass."""
        if self._strings is not None and self._by_value:
            table = np.append(self._table(), False)  # the last is for NULL
            return table[np.where(words == NULL, -1, words)]
        inside = (words >= self.range[0]) & (words <= self.range[1])
        return ~inside & (words != NULL) if self.outside else inside

    def _table(self) -> np.ndarray:
        """Which of the strings seen so far pass."""
        assert self._strings is not None
        literal = self._strings.literal(self._condition.literal)
        compare = _COMPARE["=" if self.outside else self._condition.sign]
        for value in self._strings.seen[len(self._passing) :]:
            self._passing.append(compare(value, literal) != self.outside)
        return np.array(self._passing, bool)


def bind(conditions: Iterable[Condition], codecs: Mapping[str, Codec]) -> list[Check]:
    """Fit conditions to columns."""
    checks = []
    for condition in conditions:
        if condition.column not in codecs:
            raise FilterError(
                f"there is no column {condition.column!r} to ask about; there are"
                f" {', '.join(map(repr, codecs)) or 'none'}"
            )
        checks.append(Check(condition, codecs[condition.column]))
    return checks


def mask_of(checks: Iterable[Check], columns: Mapping[str, np.ndarray], rows: int) -> np.ndarray:
    """Which rows pass all checks."""
    mask = np.ones(rows, bool)
    for check in checks:
        mask &= check.mask(columns[check.column])
    return mask


def boxes_of(checks: Iterable[Check]) -> dict[str, Range]:
    """By column, a range outside of which nothing passes."""
    boxes: dict[str, Range] = {}
    for check in checks:
        low, high = check.box
        before = boxes.get(check.column, (int(NULL), MOST))
        boxes[check.column] = max(low, before[0]), min(high, before[1])
    return boxes
