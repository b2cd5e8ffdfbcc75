"""Run a workload: every policy at every budget and division, against the exact result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.errors import BudgetError, InputError, WindowError
from recollect.join.budget import UNLIMITED, Budget, parse_budget
from recollect.join.kernel import TIME
from recollect.join.whole import quiet
from recollect.join.window import parse_window, resolve
from recollect.policies import Policy, parse_policy
from recollect.policies.fifo import Fifo
from recollect.workload.declaration import Workload
from recollect.workload.division import Division, divide
from recollect.workload.engine import Engine
from recollect.workload.measures import Measures
from recollect.workload.merged import Merged, merge
from recollect.workload.shedding import kept

DEFAULT_POLICY = "clock"


@dataclass(frozen=True)
class Run:
    """What one policy did at one budget."""

    policy: str
    budget: str
    division: str
    budget_tuples: int | None
    """None if it is unlimited."""
    tuples_in: int
    results: int
    """After the warm-up, in all joins."""
    exact_results: int
    recall: float
    stress_recall: float
    """The same for arrivals at times with more arrivals than the mean."""
    sse: float | None
    kl: float | None
    """How far the distribution of the results over the keys is from the exact one; None if there
    are no results."""
    results_by_join: dict[str, int]
    shed: int
    """Arrivals dropped before anything was done with them."""
    evicted: int
    expired: int
    replaced: int
    """Tuples that a newer fact replaced."""
    refused: int
    peak_tuples: int
    mean_tuples: float
    seconds: float

    @property
    def tuples_per_second(self) -> float:
        """How fast it went."""
        return self.tuples_in / self.seconds if self.seconds else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Everything as JSON knows it."""
        return asdict(self) | {"tuples_per_second": self.tuples_per_second}


@dataclass(frozen=True)
class Comparison:
    """Runs side by side on the same input."""

    exact: Run
    memory: list[int]
    """The most tuples that the exact join holds, in each of 100 equal periods of the time."""
    runs: list[Run]
    """By policy, then budget, then division."""


def parse_warm_up(text: Any, merged: Merged) -> np.ndarray:
    """Which arrivals come after the warm-up.

    A share such as ``"1/3"`` or 0.25 is one of the arrivals; a whole number or a duration such as
    ``"10min"`` is time since the first.
    """
    count = len(merged.feed.time)
    if text is None:
        return np.ones(count, bool)
    share = _share(text)
    if share is not None:
        if not 0 <= share < 1:
            raise InputError(f"warm_up={text!r} leaves nothing; give a share below 1")
        return np.arange(count) >= float(share * count)
    try:
        window = parse_window(text)
    except WindowError:
        window = None
    if window is None or window.kind != TIME:
        raise InputError(
            f"warm_up={text!r} is not understood; give a share such as 1/3, a number of time units"
            " or a duration"
        )
    begin = int(merged.feed.time[0]) if count else 0
    return merged.feed.time >= begin + resolve(window, merged.unit)


def _share(text: Any) -> Fraction | None:
    if isinstance(text, float):
        return Fraction(text)
    if isinstance(text, str) and ("/" in text or "%" in text or "." in text):
        try:
            return Fraction(text.rstrip("% ")) / (100 if "%" in text else 1)
        except (ValueError, ZeroDivisionError):
            return None
    return None


class Prepared:
    """A workload that has been read, with its exact result, ready to be run.

    Parameters
    ----------
    workload
        What to run.
    warm_up
        Results count only after it, see :func:`parse_warm_up`.
    """

    def __init__(
        self, workload: Workload, warm_up: Any = None, progress: Callable[[str, int], None] = quiet
    ) -> None:
        self.merged = merge(workload, progress)
        self._shed = tuple(stream.shed for stream in workload.streams.values())
        counted = parse_warm_up(warm_up, self.merged)
        progress("exact join", 0)
        division = Division((0,) * len(workload.streams), UNLIMITED.pools)
        started = perf_counter()
        engine = Engine(Fifo(), self.merged.shape, *division).run(self.merged.feed)
        seconds = perf_counter() - started
        self.measures = Measures(self.merged, engine.ledger.found, counted)
        self.exact = self._run(engine, Budget(), "unified", 0, seconds)
        self.memory = self.measures.memory_need(engine.ledger.held)

    def run(
        self,
        policy: str | Policy,
        budget: Any,
        division: str | Mapping[str, Any] = "unified",
        seed: int = 0,
    ) -> Run:
        """Run one policy."""
        engine, asked, shed, seconds = self.engine(policy, budget, division, seed)
        return self._run(engine, asked, division, shed, seconds)

    def rows(
        self,
        policy: str | Policy,
        budget: Any,
        division: str | Mapping[str, Any] = "unified",
        seed: int = 0,
    ) -> dict[str, pa.Table]:
        """Run one policy; by join, the results: a row number of each of its streams.

        Where a stream meets itself, its columns are called after it with ``_earlier`` and
        ``_later``. The warm-up counts for nothing here.
        """
        engine = self.engine(policy, budget, division, seed, listing=True)[0]
        filled = int(engine.output.filled[0])
        number, rows = engine.output.join[:filled], engine.output.rows[:filled]
        tables = {}
        for place, (name, join) in enumerate(
            zip(self.merged.join_names, self.merged.joins, strict=True)
        ):
            names = list(join.streams)
            if len(set(names)) < len(names):
                names = [f"{names[0]}_earlier", f"{names[0]}_later"]
            mine = rows[number == place][:, : len(names)]
            tables[name] = pa.table(
                {column: self.merged.row[mine[:, i]] for i, column in enumerate(names)}
            )
        return tables

    def engine(
        self,
        policy: str | Policy,
        budget: Any,
        division: str | Mapping[str, Any] = "unified",
        seed: int = 0,
        listing: bool = False,
    ) -> tuple[Engine, Budget, int, float]:
        """Run one policy; the engine, the budget, how many arrivals were shed, and the seconds."""
        asked = parse_budget(budget)
        if asked.bytes is not None:
            raise BudgetError(
                f"budget {asked} is in bytes; a workload takes a number of tuples or a share"
            )
        asked = asked.of(self.exact.mean_tuples)
        total = UNLIMITED.pools[0] if asked.tuples is None else asked.tuples
        streams = self.merged.streams
        parts = (
            divide(total, division, streams, self.merged.arrivals)
            if asked.tuples is not None
            else Division((0,) * len(streams), (total,))
        )
        feed = self.merged.feed
        staying = kept(self.merged, self._shed, parts, seed)
        shed = 0
        if staying is not None:
            shed = len(staying) - int(staying.sum())
            feed = feed._replace(
                present=feed.present * staying[:, None].astype(np.uint8),
                subject=np.where(staying, feed.subject, -1),
            )
        engine = Engine(parse_policy(policy), self.merged.shape, *parts, seed=seed)
        started = perf_counter()
        engine.run(feed, listing)
        seconds = perf_counter() - started
        return engine, asked, shed + int(engine.ledger.shed.sum()), seconds

    def _run(
        self,
        engine: Engine,
        budget: Budget,
        division: str | Mapping[str, Any],
        shed: int,
        seconds: float,
    ) -> Run:
        ledger, measures = engine.ledger, self.measures
        by_join = measures.results(ledger.found).tolist()
        sse, kl = measures.distortion(ledger.found)
        return Run(
            policy=engine.policy.spec,
            budget=budget.text,
            division=division if isinstance(division, str) else _shares(division),
            budget_tuples=budget.tuples,
            tuples_in=len(self.merged.feed.time),
            results=sum(by_join),
            exact_results=int(measures.results(measures.exact).sum()),
            recall=measures.recall(ledger.found),
            stress_recall=measures.recall(ledger.found, measures.stressed),
            sse=sse,
            kl=kl,
            results_by_join=dict(zip(self.merged.join_names, by_join, strict=True)),
            shed=shed,
            evicted=int(ledger.evicted.sum()),
            expired=int(ledger.expired.sum()),
            replaced=int(ledger.replaced.sum()),
            refused=int(ledger.refused.sum()),
            peak_tuples=int(ledger.held.max(initial=0)),
            mean_tuples=float(ledger.held.mean()) if len(ledger.held) else 0.0,
            seconds=seconds,
        )


def _shares(division: Mapping[str, Any]) -> str:
    return ":".join(str(share) for share in division.values())


def run(
    workload: Workload,
    *,
    policies: Sequence[str | Policy] = (DEFAULT_POLICY,),
    budgets: Sequence[Any] = ("10%",),
    divisions: Sequence[str | Mapping[str, Any]] = ("unified",),
    warm_up: Any = None,
    seed: int = 0,
    progress: Callable[[str, int], None] = quiet,
) -> Comparison:
    """Run every policy at every budget and division, and the exact joins.

    The input is read once and held in memory, as numbers.

    Parameters
    ----------
    workload
        Streams and joins.
    policies, budgets
        As for :func:`recollect.join`; a budget is in tuples or a share, not in bytes.
    divisions
        How the budget is divided: ``"unified"``, ``"rate"``, ``"equal"``, or shares by stream.
    warm_up
        Results count only after the first share (``"1/3"``) of the arrivals, or after a time.
    seed
        For policies that draw random numbers, and for shedding.
    """
    parsed = [parse_policy(policy) for policy in policies]
    asked = [parse_budget(budget) for budget in budgets]
    streams = tuple(workload.streams)
    for division in divisions:  # whether it can be understood, before anything is read
        divide(len(streams), division, streams, [1] * len(streams))
    prepared = Prepared(workload, warm_up, progress)
    runs = []
    for policy in parsed:
        for budget in asked:
            for division in divisions:
                progress(f"{policy.spec} at {budget}", 0)
                runs.append(prepared.run(policy, budget, division, seed))
                progress(f"{policy.spec} at {budget}", runs[-1].tuples_in)
    return Comparison(prepared.exact, prepared.memory, runs)
