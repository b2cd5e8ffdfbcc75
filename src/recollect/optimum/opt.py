"""OPT: what the best possible choice of victims would have given, with the whole input known.

No policy can do better in the same budget, so the distance to it is all that a better policy could
gain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from recollect.errors import BudgetError, InputError
from recollect.join.budget import Budget, capacity_of, parse_budget, parse_shares
from recollect.join.query import Query
from recollect.join.whole import Inputs, Progress, Survey, quiet, survey
from recollect.optimum.flow import MOST_ARCS, load_solver, most_results
from recollect.optimum.matches import Matches, exact_matches

OPT = "opt"


@dataclass(frozen=True)
class BestRun:
    """The optimum at one budget, with the names of :class:`~recollect.join.stats.Stats`."""

    window: str
    budget: str
    budget_tuples: int | None
    tuples_in: int
    results: int
    exact_results: int
    seconds: float
    policy: str = OPT

    @property
    def recall(self) -> float:
        """The share of the exact results that can be found."""
        return self.results / self.exact_results if self.exact_results else 1.0

    @property
    def tuples_per_second(self) -> float:
        """How fast it was found."""
        return self.tuples_in / self.seconds if self.seconds else 0.0

    def gap(self, results: int) -> float:
        """The share of these results that a policy with so many has missed."""
        return gap_to(self.results, results)


def gap_to(best: int, results: int) -> float:
    """The share of the best results that a policy with so many has missed."""
    return 1 - results / best if best else 0.0


def require_optimum(budgets: Sequence[Any]) -> list[Budget]:
    """Read budgets; refuse those for which there is no optimum, and to go on without a solver."""
    load_solver()
    asked = [parse_budget(budget) for budget in budgets]
    for budget in asked:
        if budget.bytes is not None:
            raise BudgetError(
                f"the optimum is known only for budgets in tuples or per cent, not for {budget}"
            )
    return asked


def best_runs(
    left: Any,
    right: Any,
    *,
    budgets: Sequence[Any],
    on: str | Sequence[Any],
    time: Any,
    window: Any,
    split: Any = None,
    where: str | None = None,
    lateness: Any = None,
    null_keys: str = "skip",
    known: Survey | None = None,
    progress: Progress = quiet,
) -> list[BestRun]:
    """Find the optimum at every budget.

    Parameters
    ----------
    left, right, on, time, window, split, where, lateness, null_keys, progress
        As for :func:`recollect.join`.
    budgets
        In tuples or in shares of what the exact join holds.
    known
        What the exact join gives, if that has been found out already.

    Examples
    --------
    >>> import recollect as rc
    >>> from recollect.streams import ZipfStream
    >>> streams = [ZipfStream(400, keys=50, seed=seed) for seed in (1, 2)]
    >>> query = dict(on="key", time="time", window=60)
    >>> (best,) = best_runs(*streams, budgets=["10%"], **query)
    >>> prob = rc.join(*streams, budget="10%", policy="prob", exact=True, **query).stats
    >>> prob.results < best.results < best.exact_results == prob.exact_results
    True
    """
    query = Query.parse(on, time, window, where, lateness, null_keys)
    asked = require_optimum(budgets)
    inputs = Inputs.of_pair(left, right, query, whole_rows=False)
    inputs.require_replayable("the optimum")
    if known is None:
        known = survey(inputs, progress)
    # The network has at most two arcs per result and one per tuple, but often far fewer.
    if known.exact_results > 2 * MOST_ARCS:
        raise InputError(
            f"the exact join has {known.exact_results:,} results, too many to find the optimum;"
            " take a part of the input, or a shorter window"
        )
    shares = parse_shares(split)
    shares = known.shares if shares == "rate" else shares
    matches = exact_matches(inputs, progress)
    runs = []
    for budget in (budget.of(known.mean_alive) for budget in asked):
        started = perf_counter()
        progress(f"optimum at {budget}", 0)
        results = _most(matches, budget, shares)
        runs.append(
            BestRun(
                window=query.window_text, budget=budget.text, budget_tuples=budget.tuples,
                tuples_in=sum(known.arrivals), results=results,
                exact_results=known.exact_results, seconds=perf_counter() - started,
            )
        )  # fmt: skip
    return runs


def _most(matches: Matches, budget: Budget, shares: Any) -> int:
    if budget.unlimited:
        return len(matches.earlier)
    pools = capacity_of(budget, shares).pools
    parts = [matches.stream == stream for stream in (0, 1)] if len(pools) > 1 else [slice(None)]
    return sum(
        most_results(
            matches.earlier[part], matches.earlier[part], matches.later[part], capacity
        ).results
        for part, capacity in zip(parts, pools, strict=True)
    )
