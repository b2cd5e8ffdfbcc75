"""What is asked of a temporal relation, and the way from its events to the answer."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recollect.errors import InputError
from recollect.intervals.events import Events, within
from recollect.intervals.predicate import Check, Condition, bind, parse_where
from recollect.intervals.relation import Relation
from recollect.intervals.spans import Spans
from recollect.intervals.sweep import AGGREGATES, Rows, Sweep
from recollect.intervals.timeline import FOREVER
from recollect.intervals.words import LEAST

TIMES = ("start", "end")


def aggregates_of(agg: str | Iterable[str]) -> tuple[str, ...]:
    """Read the names of aggregates: separated by commas, or a list.

    >>> aggregates_of("count, MAX")
    ('count', 'max')
    """
    names = agg.split(",") if isinstance(agg, str) else list(agg)
    found = tuple(dict.fromkeys(name.strip().lower() for name in names))
    for name in found:
        if name not in AGGREGATES:
            raise InputError(f"aggregate {name!r} is unknown; there are {', '.join(AGGREGATES)}")
    if not found:
        raise InputError(f"no aggregate was asked for; there are {', '.join(AGGREGATES)}")
    return found


@dataclass(frozen=True)
class Question:
    """What a user asks, before the data are known."""

    aggregates: tuple[str, ...]
    value: str | None
    group_by: str | None
    where: tuple[Condition, ...]
    from_: Any
    to: Any
    span: Any

    @classmethod
    def of(
        cls,
        agg: str | Iterable[str],
        value: str | None,
        group_by: str | None = None,
        where: str | None = None,
        from_: Any = None,
        to: Any = None,
        span: Any = None,
    ) -> "Question":
        """Read the words of a question."""
        aggregates = aggregates_of(agg)
        if value is None and aggregates != ("count",):
            raise InputError(f"{', '.join(aggregates)}: give the column of the values (value)")
        if group_by in (*TIMES, *aggregates):
            raise InputError(
                f"group_by {group_by!r} is a column of the result too; rename it first"
            )
        return cls(aggregates, value, group_by, tuple(parse_where(where)), from_, to, span)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns it needs beside the times and the value."""
        asked = [condition.column for condition in self.where]
        return tuple(dict.fromkeys([*asked, *([] if self.group_by is None else [self.group_by])]))


class Groups:
    """Numbers for groups: the words of an attribute, in the order in which they were first seen.

    >>> groups = Groups()
    >>> groups.number(np.array([70, 50, 70])).tolist(), groups.number(np.array([90])).tolist()
    ([1, 0, 1], [2])
    >>> groups.words.tolist()
    [50, 70, 90]
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def number(self, words: np.ndarray) -> np.ndarray:
        """The number of the group of each word; new words make new groups."""
        distinct, places = np.unique(words, return_inverse=True)
        numbers = [self._numbers.setdefault(word, len(self._numbers)) for word in distinct.tolist()]
        return np.array(numbers, np.int64)[places]

    @property
    def words(self) -> np.ndarray:
        """The word of each group."""
        return np.array(list(self._numbers), np.int64)


class Query:
    """A question that fits a relation."""

    def __init__(self, question: Question, relation: Relation) -> None:
        self.question = question
        self.relation = relation
        line = relation.line
        self.low = LEAST if question.from_ is None else line.moment(question.from_)
        self.high = FOREVER if question.to is None else line.moment(question.to)
        if self.low >= self.high:
            raise InputError(f"the window from {question.from_} to {question.to} is empty")
        self.spans = None if question.span is None else Spans.of(question.span, line)
        self.checks: list[Check] = bind(question.where, relation.codecs)
        self.value = None if question.value is None else relation.codecs[question.value]
        self.groups = Groups()
        self.sweep = Sweep(
            question.aggregates,
            floats=self.value is not None and self.value.floats,
            unit=1.0 if self.value is None else self.value.unit,
        )

    @property
    def aggregates(self) -> Sequence[str]:
        """The names of what is asked."""
        return self.question.aggregates

    def rows(self, chunks: Iterable[Events]) -> Iterator[Rows]:
        """Answer from all events in order of time."""
        if (self.low, self.high) != (LEAST, FOREVER):
            chunks = within(chunks, self.low, self.high)
        if self.spans is None:
            return self.sweep.run(chunks)
        return map(self.spans.expanded, self.sweep.run(self.spans.widened(chunks)))
