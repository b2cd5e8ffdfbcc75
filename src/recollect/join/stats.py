"""What a join did: the numbers that the command line prints and programs read."""

from dataclasses import asdict, dataclass
from typing import Any

from recollect.join.budget import Budget
from recollect.join.engine import Engine
from recollect.join.kernel import ALIVE_SUM, PEAK
from recollect.join.lanes import Lanes
from recollect.policies import Policy


@dataclass(frozen=True)
class Stats:
    """Counters of a join."""

    policy: str
    window: str
    budget: str
    budget_tuples: int | None
    """The budget in tuples; None if it is unlimited or in bytes."""
    budget_bytes: int | None
    tuples_in: int
    results: int
    evicted: int
    """Tuples forgotten to make room for others."""
    expired: int
    """Tuples that left their window."""
    refused: int
    """Arrivals that the policy, or their size, kept out of the buffer."""
    null_keys: int
    """Arrivals whose key was NULL or NaN, which never match."""
    late: int
    """Arrivals left out because they came later than the lateness allows."""
    peak_tuples: int
    mean_tuples: float
    """Tuples in the buffer, the mean over all arrivals."""
    seconds: float
    exact_results: int | None = None
    """Results of the exact join, if it was asked for."""

    @classmethod
    def of(
        cls,
        window: str,
        budget: Budget,
        engine: Engine,
        lanes: Lanes,
        seconds: float,
        collisions: int = 0,
    ) -> "Stats":
        """Read the ledger of an engine."""
        ledger = engine.ledger
        handled = int(ledger.arrivals.sum())
        return cls(
            policy=engine.policy.spec,
            window=window,
            budget=budget.text,
            budget_tuples=budget.tuples,
            budget_bytes=budget.bytes,
            tuples_in=sum(lane.rows for lane in lanes.all),
            results=int(ledger.results.sum()) - collisions,
            evicted=int(ledger.evicted.sum()),
            expired=int(ledger.expired.sum()),
            refused=int(ledger.refused.sum()),
            null_keys=sum(lane.null_keys for lane in lanes.all),
            late=sum(lane.late for lane in lanes.all),
            peak_tuples=int(ledger.totals[PEAK]),
            mean_tuples=int(ledger.totals[ALIVE_SUM]) / handled if handled else 0.0,
            seconds=seconds,
        )

    @classmethod
    def of_nothing(cls, window: str, policy: Policy, budget: Budget) -> "Stats":
        """The numbers of a join that has not begun."""
        return cls(
            policy.spec, window, budget.text, budget.tuples, budget.bytes,
            tuples_in=0, results=0, evicted=0, expired=0, refused=0, null_keys=0, late=0,
            peak_tuples=0, mean_tuples=0.0, seconds=0.0,
        )  # fmt: skip

    @property
    def recall(self) -> float | None:
        """The share of the exact results that were found; None if these are not known."""
        if self.exact_results is None:
            return None
        return self.results / self.exact_results if self.exact_results else 1.0

    @property
    def tuples_per_second(self) -> float:
        """How fast it went."""
        return self.tuples_in / self.seconds if self.seconds else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Everything as JSON knows it; what was not asked for is left out."""
        values = asdict(self)
        if self.exact_results is None:
            del values["exact_results"]
        else:
            values["recall"] = self.recall
        if self.budget_bytes is None:
            del values["budget_bytes"]
        return values | {"tuples_per_second": self.tuples_per_second}
