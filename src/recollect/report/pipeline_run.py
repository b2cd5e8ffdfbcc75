"""What a pipeline report is made from: the batches of a join and how much of the exact it kept."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from recollect.errors import InputError

POINTS = 240
"""More than these are not told apart in a chart; neighbours are drawn as one."""

Item = TypeVar("Item")
Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class Kept:
    """How much of the exact results was kept: of a key, a slice of time or all."""

    label: str
    exact: int
    recall: float

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        if not 0 <= self.recall <= 1:
            raise InputError(f"{self.label}: recall {self.recall} is not between 0 and 1")

    @classmethod
    def of(cls, label: Any, exact: int, recall: float | None) -> "Kept":
        """Where there is nothing to find, recall may be None: nothing is lost."""
        return cls(str(label), int(exact), 1.0 if not exact or recall is None else float(recall))

    @property
    def results(self) -> int:
        """The exact results that were found."""
        return round(self.exact * self.recall)

    @property
    def lost(self) -> int:
        """The exact results that were not found."""
        return self.exact - self.results


@dataclass(frozen=True)
class Step:
    """A batch, or several in a row that are drawn as one."""

    first: int
    last: int
    """The numbers of the first and the last of the batches."""
    rows: int
    seconds: float
    counts: dict[str, int]
    """What happened: results, evicted, refused, expired, late."""
    buffered: int
    """The most tuples in memory at the end of a batch."""
    buffered_bytes: int

    @property
    def name(self) -> str:
        """``batch 7`` or ``batches 7–9``."""
        if self.first == self.last:
            return f"batch {self.first:,}"
        return f"batches {self.first:,}–{self.last:,}"


@dataclass(frozen=True)
class Run:
    """A run of a pipeline, ready to be drawn."""

    quality: Kept | None
    foreign: int
    """Results that the exact join does not have; there should be none."""
    slices: list[Kept]
    """In the order of time."""
    keys: list[Kept]
    """Those with the most lost results first."""
    batches: list[Mapping[str, Any]]
    """The last run of each batch."""
    budget_tuples: int | None
    budget_bytes: int | None

    @property
    def steps(self) -> list[Step]:
        """The batches, put together where there are too many to draw."""
        return merged(self.batches, step_of)

    @property
    def parts(self) -> list[Kept]:
        """The slices, put together where there are too many to draw."""
        return merged(self.slices, whole_of)


def merged(items: Sequence[Item], merge: Callable[[Sequence[Item]], Drawn]) -> list[Drawn]:
    """Merge equally many neighbours so that not more than :data:`POINTS` are left.

    >>> merged([1, 2, 3], sum), len(merged(range(1000), sum))
    ([1, 2, 3], 200)
    """
    many = -(-len(items) // POINTS) or 1
    return [merge(items[start : start + many]) for start in range(0, len(items), many)]


def step_of(batches: Sequence[Mapping[str, Any]]) -> Step:
    """Draw some batches as one."""
    names = ("results", "evicted", "refused", "expired", "late")
    return Step(
        first=batches[0]["batch"],
        last=batches[-1]["batch"],
        rows=sum(batch["rows_in"] for batch in batches),
        seconds=sum(batch["duration_ms"] for batch in batches) / 1000,
        counts={name: sum(batch[name] for batch in batches) for name in names},
        buffered=max(batch["buffered"] for batch in batches),
        buffered_bytes=max(batch["buffered_bytes"] for batch in batches),
    )


def whole_of(parts: Sequence[Kept]) -> Kept:
    """Put slices together under the name of the first."""
    exact = sum(part.exact for part in parts)
    results = sum(part.exact * part.recall for part in parts)
    return Kept(parts[0].label, exact, min(1.0, results / exact) if exact else 1.0)


def kept_from(rows: Iterable[Sequence[Any]]) -> list[Kept]:
    """Read rows of a label, exact results, results and recall."""
    return [Kept.of(label, exact, recall) for label, exact, _, recall in rows]
