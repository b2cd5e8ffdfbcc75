"""Run a workload: every policy at every budget and division, against the exact result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.join.budget import UNLIMITED, Budget, Capacity, parse_budget
from recollect.join.engine import Engine, new_output, new_trace
from recollect.join.feed import times_of
from recollect.join.kernel import ALIVE_SUM, OUTPUT_FULL, PEAK, Feed
from recollect.join.whole import Inputs, quiet
from recollect.policies import Policy, parse_policy
from recollect.policies.fifo import Fifo
from recollect.workload.binding import binder
from recollect.workload.declaration import Workload
from recollect.workload.division import divide
from recollect.workload.measures import Extent, Tally, WarmUp
from recollect.workload.shedding import Shedder

DEFAULT_POLICY = "clock"
FIRST_OUTPUT = 8_192


@dataclass(frozen=True)
class Run:
    """What one policy did at one budget."""

    policy: str
    budget: str
    division: str
    budget_tuples: int | None
    """None if it is unlimited or in bytes."""
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
class WorkloadComparison:
    """Runs side by side on the same input."""

    exact: Run
    memory: list[int]
    """The most tuples that the exact join holds, in each of 100 equal periods of the time."""
    runs: list[Run]
    """By policy, then budget, then division."""


class _Running:
    """One policy that is being run and measured.

    Parameters
    ----------
    workload, inputs
        What it is run on.
    policy, budget, division, seed
        Which tuple to forget, and what of the budget each stream may use.
    tally
        What it has found.
    """

    def __init__(
        self,
        workload: Workload,
        inputs: Inputs,
        policy: Policy,
        budget: Budget,
        division: str | Mapping[str, Any],
        seed: int,
        extent: Extent,
        tally: Tally,
    ) -> None:
        self.budget, self.tally = budget, tally
        self.division = division if isinstance(division, str) else _shares(division)
        total = budget.for_tuples if budget.bytes is not None else budget.tuples
        names = tuple(workload.streams)
        capacity, pools = UNLIMITED, (0,) * len(names)
        if total is not None:
            parts = divide(total, division, names, extent.arrivals)
            capacity, pools = Capacity(parts.capacity, budget.bytes is not None), parts.pools
        shed = [stream.shed for stream in workload.streams.values()]
        self._shedder = Shedder(inputs.bound, shed, pools, capacity.pools, seed)
        self.engine = Engine(policy, inputs.bound.setting, capacity, seed=seed)
        self.seconds = 0.0

    def take(self, feed: Feed) -> None:
        """Join some arrivals."""
        feed = self._shedder.kept(feed)
        trace = new_trace(len(feed.order), len(self.engine.setting.joins))
        self.engine.prepare(len(feed.order))
        started = perf_counter()
        self.engine.count(feed, trace)
        self.seconds += perf_counter() - started
        self.tally.add(feed, trace)

    @property
    def dropped(self) -> int:
        """Arrivals dropped before the engine saw them."""
        return self._shedder.dropped

    def list(self, feed: Feed, rows: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Join some arrivals, and add the results: their joins, and the rows of their tuples."""
        feed = self._shedder.kept(feed)
        output, at = new_output(FIRST_OUTPUT, self.engine.plan.streams_of.shape[1]), 0
        while at < len(feed.order):
            output.filled[0] = 0
            why, at = self.engine.run(feed, at, output)
            found = int(output.filled[0])
            rows.append((output.join[:found].copy(), output.rows[:, :found].copy()))
            if why == OUTPUT_FULL and not found:
                output = new_output(2 * len(output.join), len(output.rows))

    def run(self, exact: Tally, join_names: Sequence[str]) -> Run:
        """What it did, beside the exact join."""
        ledger = self.engine.ledger
        by_join = self.tally.results.tolist()
        sse, kl = self.tally.distortion_from(exact)
        handled = int(ledger.arrivals.sum())
        return Run(
            policy=self.engine.policy.spec,
            budget=self.budget.text,
            division=self.division,
            budget_tuples=self.budget.tuples,
            tuples_in=handled,
            results=sum(by_join),
            exact_results=int(exact.results.sum()),
            recall=self.tally.recall_of(exact),
            stress_recall=self.tally.recall_of(exact, stressed=True),
            sse=sse,
            kl=kl,
            results_by_join=dict(zip(join_names, by_join, strict=True)),
            shed=self.dropped + int(ledger.shed.sum()),
            evicted=int(ledger.evicted.sum()),
            expired=int(ledger.expired.sum()),
            replaced=int(ledger.replaced.sum()),
            refused=int(ledger.refused.sum()),
            peak_tuples=int(ledger.totals[PEAK]),
            mean_tuples=int(ledger.totals[ALIVE_SUM]) / handled if handled else 0.0,
            seconds=self.seconds,
        )


class Prepared:
    """A workload of which the exact result is known, ready to be run.

    The input is read for every run, batch by batch; runs that are asked for together share it.

    Parameters
    ----------
    workload
        What to run.
    warm_up
        Results count only after it, see :class:`~recollect.workload.measures.WarmUp`.
    progress
        Told what is being done and how many tuples were read.
    """

    def __init__(
        self, workload: Workload, warm_up: Any = None, progress: Callable[[str, int], None] = quiet
    ) -> None:
        self._workload, self._progress = workload, progress
        self.inputs = self._open(whole_rows=False)
        self.inputs.require_replayable("a workload")
        self.extent = _extent(self.inputs, progress)
        self._warm_up = WarmUp(warm_up, self.extent)
        unshed = Workload(
            {name: replace(stream, shed=0.0) for name, stream in workload.streams.items()},
            workload.joins, workload.null_keys, workload.lateness,
        )  # fmt: skip
        exact = _Running(
            unshed, self.inputs, Fifo(), Budget(), "unified", 0, self.extent, self._new_tally()
        )
        for feed in self.inputs.feeds(progress, "exact join"):
            exact.take(feed)
        self.exact_tally = exact.tally
        self.join_names = tuple(join.name for join in self.inputs.bound.joins)
        self.exact = exact.run(exact.tally, self.join_names)
        self.memory = exact.tally.memory_need

    def _open(self, whole_rows: bool) -> Inputs:
        sources = [stream.source for stream in self._workload.streams.values()]
        return Inputs(sources, binder(self._workload), whole_rows)

    def _new_tally(self) -> Tally:
        return Tally(self.extent, self._warm_up)

    def start(
        self, inputs: Inputs, policy: str | Policy, budget: Any, division: Any, seed: int
    ) -> _Running:
        """Begin a run."""
        asked = parse_budget(budget).of(self.exact.mean_tuples)
        return _Running(
            self._workload, inputs, parse_policy(policy), asked, division, seed, self.extent,
            self._new_tally(),
        )  # fmt: skip

    def run(
        self,
        policy: str | Policy,
        budget: Any,
        division: str | Mapping[str, Any] = "unified",
        seed: int = 0,
    ) -> Run:
        """Run one policy."""
        return self.runs([(policy, budget, division)], seed)[0]

    def runs(self, plans: Sequence[tuple[Any, Any, Any]], seed: int = 0) -> list[Run]:
        """Run some policies with their budgets and divisions, all at once."""
        in_bytes = any(parse_budget(budget).bytes is not None for _, budget, _ in plans)
        inputs = self._open(whole_rows=True) if in_bytes else self.inputs
        running = []
        for policy, budget, division in plans:
            self._progress(f"preparing {parse_policy(policy).spec}", 0)
            running.append(self.start(inputs, policy, budget, division, seed))
        for feed in inputs.feeds(self._progress, "policies", measure=in_bytes):
            for each in running:
                each.take(feed)
        return [each.run(self.exact_tally, self.join_names) for each in running]

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
        running = self.start(self.inputs, policy, budget, division, seed)
        width = running.engine.plan.streams_of.shape[1]
        found = [(np.zeros(0, np.int64), np.zeros((width, 0), np.int64))]
        for feed in self.inputs.feeds(self._progress, "results"):
            running.list(feed, found)
        number, rows = (np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True))
        names = tuple(self._workload.streams)
        tables = {}
        for place, join in enumerate(self.inputs.bound.joins):
            mine = [names[stream] for stream in join.streams]
            if len(set(mine)) < len(mine):
                mine = [f"{mine[0]}_earlier", f"{mine[0]}_later"]
            its = rows[:, number == place]
            tables[join.name] = pa.table({name: its[i] for i, name in enumerate(mine)})
        return tables


def _extent(inputs: Inputs, progress: Callable[[str, int], None]) -> Extent:
    """Read the times of all streams."""
    arrivals, first, last = [], [], []
    bound = inputs.bound
    for number, (source, stream) in enumerate(zip(inputs.sources, bound.streams, strict=True)):
        count = 0
        for batch in source.batches([stream.time], batch_rows=65_536):
            times = times_of(bound, number, batch, stream.time)
            count += len(times)
            if len(times):
                first.append(int(times.min()))
                last.append(int(times.max()))
            progress("times", batch.num_rows)
        arrivals.append(count)
    return Extent(
        tuple(arrivals), min(first, default=0), max(last, default=0), bound.unit, len(bound.joins)
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
) -> WorkloadComparison:
    """Run every policy at every budget and division, and the exact joins.

    The input is read three times, batch by batch, however many runs there are.

    Parameters
    ----------
    workload
        Streams and joins.
    policies, budgets
        As for :func:`recollect.join`.
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
    plans = [
        (policy, budget, division)
        for policy in parsed
        for budget in asked
        for division in divisions
    ]
    return WorkloadComparison(prepared.exact, prepared.memory, prepared.runs(plans, seed))
