"""Joins of whole inputs: both streams read in step, never more than a few batches in memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import pyarrow as pa

from recollect.errors import InputError
from recollect.join.budget import UNLIMITED, Budget, capacity_of, parse_budget, parse_shares
from recollect.join.engine import Engine
from recollect.join.kernel import ALIVE_SUM, Feed
from recollect.join.lanes import Lanes
from recollect.join.online import BATCH_ROWS, DEFAULT_POLICY, OUTPUT_ROWS, Join
from recollect.join.query import SIDES, Bound, Query, bind
from recollect.join.result import ResultShape
from recollect.join.stats import Stats
from recollect.policies import Policy, parse_policy
from recollect.policies.fifo import Fifo
from recollect.streams import Source, open_source

Progress = Callable[[str, int], None]
"""Told what is being done and how many tuples have been read since the last call."""


def quiet(stage: str, tuples: int) -> None:
    """Show no progress."""


class Inputs:
    """Sources and the query over them.

    Parameters
    ----------
    sources
        By stream: whatever :func:`recollect.streams.open_source` reads.
    bind
        Checks the query against the schemas of all sources.
    whole_rows
        Read all columns, not only those that decide which tuples match.
    """

    def __init__(
        self, sources: Sequence[Any], bind: Callable[..., Bound], whole_rows: bool
    ) -> None:
        self.sources: list[Source] = []
        for number, source in enumerate(sources):
            same = [other for other, its in enumerate(sources[:number]) if its is source]
            self.sources.append(self.sources[same[0]] if same else open_source(source))
            if same and not self.sources[-1].replayable:
                raise InputError(
                    f"{self.sources[-1].name} can be read only once, so it cannot be both streams"
                )
        self.bound = bind(*(source.schema for source in self.sources))
        if not whole_rows:
            needed = [
                pa.schema([source.schema.field(name) for name in self.bound.columns(number)])
                for number, source in enumerate(self.sources)
            ]
            self.bound = bind(*needed)
        self.lanes = Lanes(self.bound)

    @classmethod
    def of_pair(cls, left: Any, right: Any, query: Query, whole_rows: bool) -> "Inputs":
        """Two sources and the query over them."""
        return cls((left, right), lambda *schemas: bind(query, *schemas), whole_rows)

    def require_replayable(self, why: str) -> None:
        """Refuse inputs that can be read only once."""
        for source in self.sources:
            if not source.replayable:
                raise InputError(
                    f"{why} needs to read the input twice, but {source.name} can be read only once"
                )

    def in_step(
        self, lanes: Lanes, rows: int, progress: Progress, stage: str
    ) -> Iterator[tuple[int, pa.RecordBatch | None]]:
        """Batches of all sources, always of the one that is behind; None where one ends."""
        readers = [
            source.batches(schema.names, batch_rows=rows)
            for source, schema in zip(self.sources, self.bound.schemas, strict=True)
        ]
        while (lane := lanes.behind) is not None:
            batch = next(readers[lane.number], None)
            yield lane.number, batch
            progress(stage, 0 if batch is None else batch.num_rows)

    def feeds(self, progress: Progress, stage: str, measure: bool = False) -> Iterator[Feed]:
        """All tuples in order of arrival, piece by piece.

        Parameters
        ----------
        progress, stage
            Who is told how many tuples were read, and of what.
        measure
            Whether the bytes of each row are wanted.
        """
        self.lanes = Lanes(self.bound, measure)
        rows = OUTPUT_ROWS if measure else BATCH_ROWS  # whole rows take memory
        for number, batch in self.in_step(self.lanes, rows, progress, stage):
            if batch is None:
                self.lanes.all[number].finish()
            else:
                self.lanes.all[number].add(batch)
            for feed in self.lanes.steps():
                yield feed
                self.lanes.take(feed, 0, len(feed.order))

    def count(self, engines: Sequence[Engine], progress: Progress, stage: str) -> list[float]:
        """Run any number of engines over the inputs at once; return the seconds of each."""
        seconds = [0.0] * len(engines)
        measure = any(engine.capacity.in_bytes for engine in engines)
        for feed in self.feeds(progress, stage, measure):
            for i, engine in enumerate(engines):
                engine.prepare(len(feed.order))
                started = perf_counter()
                engine.count(feed)
                seconds[i] += perf_counter() - started
        return seconds


@dataclass(frozen=True)
class Survey:
    """What the exact join would need and give."""

    exact_results: int
    mean_alive: float
    """Tuples it holds, the mean over all arrivals."""
    arrivals: tuple[int, ...]
    """By stream."""

    @property
    def shares(self) -> tuple[float, float]:
        """The arrival rates of two streams, as shares of both together."""
        left, right = (max(1, count) for count in self.arrivals)
        return left / (left + right), right / (left + right)


def survey(inputs: Inputs, progress: Progress = quiet) -> Survey:
    """Count the exact results, without listing them, and what it takes to find them."""
    engine = Engine(Fifo(), inputs.bound.setting, UNLIMITED, visit=False)
    inputs.count([engine], progress, "exact join")
    ledger = engine.ledger
    arrivals = tuple(ledger.arrivals.tolist())
    mean_alive = int(ledger.totals[ALIVE_SUM]) / max(1, sum(arrivals))
    return Survey(int(ledger.results.sum()), mean_alive, arrivals)


@dataclass(frozen=True)
class Answer:
    """What :func:`join` found."""

    table: pa.Table | None
    """The joined rows; None if they were only counted."""
    stats: Stats
    """How many there are, what was forgotten, and the recall if the exact join was asked for."""


class WholeJoin:
    """A join of two whole inputs whose results come batch by batch; see :func:`join`."""

    def __init__(
        self,
        left: Any,
        right: Any,
        *,
        budget: Any = None,
        split: Any = None,
        exact: bool = False,
        count_only: bool = False,
        progress: Progress = quiet,
        on: str | Sequence[Any],
        time: Any,
        window: Any,
        where: str | None = None,
        lateness: Any = None,
        null_keys: str = "skip",
        policy: str | Policy | type[Policy] = DEFAULT_POLICY,
        seed: int = 0,
    ) -> None:
        self._budget, self._shares = parse_budget(budget), parse_shares(split)
        query = Query.parse(on, time, window, where, lateness, null_keys)
        self._whole_rows = not count_only or self._budget.bytes is not None
        self._inputs = Inputs.of_pair(left, right, query, self._whole_rows)
        self._by_rate = self._shares == "rate" and not self._budget.unlimited
        self._twice = exact or self._budget.share is not None or self._by_rate
        if self._twice:
            self._inputs.require_replayable("the exact join, or a budget relative to it,")
            self._keys_only = Inputs.of_pair(left, right, query, whole_rows=False)
        self._words: dict[str, Any] = {
            "on": on, "time": time, "window": window, "where": where, "lateness": lateness,
            "null_keys": null_keys, "policy": parse_policy(policy), "seed": seed,
            "count_only": count_only,
        }  # fmt: skip
        self._exact = exact
        self._progress = progress
        self.schema: pa.Schema = ResultShape(self._inputs.bound).schema
        self._stats: Stats | None = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Run the join."""
        known = survey(self._keys_only, self._progress) if self._twice else None
        budget = self._budget.of(known.mean_alive) if known else self._budget
        shares = known.shares if known and self._by_rate else self._shares
        run = Join(budget=budget, split=shares, **self._words)
        for side, schema in zip(SIDES, self._inputs.bound.schemas, strict=True):
            run.expect(side, schema)
        started = perf_counter()
        assert run.lanes is not None
        rows = OUTPUT_ROWS if self._whole_rows else BATCH_ROWS  # whole rows take memory
        for stream, batch in self._inputs.in_step(run.lanes, rows, self._progress, "join"):
            if batch is None:
                yield from run.finish(SIDES[stream])
            else:
                yield from run.feed(SIDES[stream], batch)
        exact = known.exact_results if known and self._exact else None
        self._stats = replace(run.stats, exact_results=exact, seconds=perf_counter() - started)

    @property
    def stats(self) -> Stats:
        """The numbers, once the join has run."""
        assert self._stats is not None, "the join has not run to its end"
        return self._stats


def join(left: Any, right: Any, **arguments: Any) -> Answer:
    """Join two inputs inside a memory budget.

    Parameters
    ----------
    left, right
        Paths (Parquet, CSV, Arrow IPC, JSON lines), Arrow tables, pandas or Polars frames, or
        anything else with ``__arrow_c_stream__``. The same may be given twice.
    on, time, window, budget, policy, split, where, lateness, null_keys, seed
        As for :class:`~recollect.Join`. A budget may also be a share such as ``"10%"`` of the
        tuples that the exact join holds in the mean, and ``split`` may be ``"rate"``, in proportion
        to the arrivals of both streams; for these the input is read twice.
    exact
        Count the results of the exact join too, so that the recall is known.
    count_only
        Count the results instead of collecting them.
    progress
        Called with the name of the stage and the number of tuples just read.

    Examples
    --------
    >>> from recollect.streams import ZipfStream
    >>> answer = join(
    ...     ZipfStream(5_000, keys=200, seed=1),
    ...     ZipfStream(5_000, keys=200, seed=2),
    ...     on="key", time="time", window=400, budget="10%", policy="prob", exact=True,
    ... )
    >>> answer.stats.budget_tuples, answer.stats.results == answer.table.num_rows
    (77, True)
    >>> 0.3 < answer.stats.recall < 1
    True
    """
    run = WholeJoin(left, right, **arguments)
    batches = list(run)
    table = None if arguments.get("count_only") else pa.Table.from_batches(batches, run.schema)
    return Answer(table, run.stats)


@dataclass(frozen=True)
class Comparison:
    """Policies side by side on the same input."""

    survey: Survey
    runs: list[Stats]
    """One per policy and budget, with the exact results; ``seconds`` is the engine's own time."""


def compare(
    left: Any,
    right: Any,
    *,
    policies: Sequence[str | Policy],
    budgets: Sequence[Any],
    on: str | Sequence[Any],
    time: Any,
    window: Any,
    split: Any = None,
    where: str | None = None,
    lateness: Any = None,
    null_keys: str = "skip",
    seed: int = 0,
    progress: Progress = quiet,
) -> Comparison:
    """Run every policy at every budget over the same input, and the exact join.

    The input is read twice, however many policies there are. The parameters are those of
    :func:`join`.

    Examples
    --------
    >>> from recollect.streams import ZipfStream
    >>> comparison = compare(
    ...     ZipfStream(5_000, keys=200, seed=1), ZipfStream(5_000, keys=200, seed=2),
    ...     policies=["fifo", "prob"], budgets=["5%", "20%"], on="key", time="time", window=400,
    ... )
    >>> [(run.policy, run.budget) for run in comparison.runs]
    [('fifo', '5%'), ('fifo', '20%'), ('prob', '5%'), ('prob', '20%')]
    >>> fifo, prob = comparison.runs[0], comparison.runs[2]
    >>> fifo.recall < prob.recall
    True
    """
    query = Query.parse(on, time, window, where, lateness, null_keys)
    parsed = [parse_policy(policy) for policy in policies]
    asked = [parse_budget(budget) for budget in budgets]
    if not parsed or not asked:
        raise InputError("a comparison needs at least one policy and one budget")
    shares = parse_shares(split)
    inputs = Inputs.of_pair(left, right, query, whole_rows=any(budget.bytes for budget in asked))
    inputs.require_replayable("a comparison")
    known = survey(Inputs.of_pair(left, right, query, whole_rows=False), progress)
    if shares == "rate":
        shares = known.shares
    plans: list[tuple[Budget, Engine]] = []
    for policy in parsed:
        for budget in asked:
            progress(f"preparing {policy.spec}", 0)
            exact = budget.of(known.mean_alive)
            capacity = capacity_of(exact, shares)
            engine = Engine(policy, inputs.bound.setting, capacity, seed=seed)
            plans.append((exact, engine))
    counted = inputs.count([engine for _, engine in plans], progress, "policies")
    runs = [
        replace(
            Stats.of(query.window_text, budget, engine, inputs.lanes, seconds),
            exact_results=known.exact_results,
        )
        for (budget, engine), seconds in zip(plans, counted, strict=True)
    ]
    return Comparison(known, runs)
