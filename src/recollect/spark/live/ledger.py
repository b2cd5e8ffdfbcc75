"""What a join has done since its first batch."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.spark.numbers import FIELDS, Numbers

LEVELS = ("buffered", "buffered_bytes")
"""The numbers that say how things stand; all others count what happened."""
COUNTS = tuple(name for name in FIELDS if name not in LEVELS)
SPARKS_COUNTS = ("input_rows", "duration_ms")
"""What Spark itself counts of a batch and is added up too."""


@dataclass
class Ledger:
    """The running totals of one join of one query.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.enter(0, {"results": 5, "buffered": 100}), ledger.enter(0, {"results": 5})
    (True, False)
    >>> ledger.totals["batches"], ledger.totals["results"], ledger.totals["peak_buffered"]
    (1, 5, 100)
    """

    numbers: Numbers = field(default_factory=Numbers)
    """Those of the last batch."""
    _last: int = -1
    _batches: int = 0
    _counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys((*SPARKS_COUNTS, *COUNTS), 0)
    )
    _peaks: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LEVELS, 0))

    def enter(self, batch: int, sums: Mapping[str, int | None]) -> bool:
        """Enter what was observed in a batch, and return whether it is a new one.

        A query that is restarted may have to run its last batch again. It does the same once more,
        so that its numbers are shown but not added.
        """
        # The sum over no rows is NULL: nothing happened, and things stand as before.
        self.numbers = Numbers(
            **{name: sums.get(name) or 0 for name in COUNTS},
            **{
                name: getattr(self.numbers, name) if (level := sums.get(name)) is None else level
                for name in LEVELS
            },
        )
        new = batch > self._last
        if new:
            self._last = batch
            self._batches += 1
            for name in self._counts:
                self._counts[name] += sums.get(name) or 0
            for name in LEVELS:
                self._peaks[name] = max(self._peaks[name], getattr(self.numbers, name))
        return new

    @property
    def totals(self) -> dict[str, int]:
        """The number of batches, the sum of every count and the peak of every level."""
        peaks = {f"peak_{name}": value for name, value in self._peaks.items()}
        return {"batches": self._batches, **self._counts, **peaks}
