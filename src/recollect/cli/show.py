"""What a person sees: progress on stderr, tables on stdout."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from recollect.join.stats import Stats
from recollect.join.whole import Progress as Report
from recollect.join.whole import quiet
from recollect.lookup.compare import CacheRun
from recollect.optimum.opt import OPT, BestRun, gap_to

Run = Stats | BestRun | CacheRun
"""A policy at a budget."""


@contextmanager
def progress() -> Iterator[Report]:
    """Show on a terminal what is being done and how many tuples have been read."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield quiet
        return
    columns = (
        SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(),
        TextColumn("{task.completed:,} tuples"), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)
        stage = ""

        def report(name: str, tuples: int) -> None:
            nonlocal stage
            if name != stage:
                stage = name
                bar.reset(task, description=name)
            bar.advance(task, tuples)

        yield report


def print_json(value: Any) -> None:
    """Print exactly one JSON object."""
    json.dump(value, sys.stdout)
    sys.stdout.write("\n")


def print_table(table: Table) -> None:
    """Print a table; what looks like rich's markup in names and values is theirs."""
    Console(markup=False, emoji=False).print(table)


def print_facts(title: str, facts: dict[str, Any]) -> None:
    """Print names and values below each other."""
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column(justify="right")
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _text(name, value))
    print_table(table)


def print_recalls(
    title: str, runs: Sequence[Run], best: Mapping[str, Run] | None = None, optimum: str = OPT
) -> None:
    """Print the recall of each policy (lines, the best first) at each budget (columns).

    If the optimum is known, also how many of its results each has missed.
    """
    best = best or {}
    budgets = list(dict.fromkeys(run.budget for run in runs))
    policies: dict[str, dict[str, Run]] = {}
    for run in [*best.values(), *runs]:
        policies.setdefault(run.policy, {})[run.budget] = run
    caption = f"−: results of {optimum} that were missed" if best else None
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    table.add_column("policy")
    for budget in budgets:
        table.add_column(budget, justify="right")
    table.add_column("M tuples/s", justify="right")
    for policy, by_budget in sorted(
        policies.items(), key=lambda item: -sum(run.results for run in item[1].values())
    ):
        recalls = [_recall(by_budget[budget], best.get(budget)) for budget in budgets]
        table.add_row(policy, *recalls, "–" if policy == optimum else _speed(by_budget.values()))
    print_table(table)


def _speed(runs: Iterable[Run]) -> str:
    rates = [run.tuples_per_second / 1e6 for run in runs]
    low, high = f"{min(rates):.1f}", f"{max(rates):.1f}"
    return low if low == high else f"{low} – {high}"


def _recall(run: Run, best: Run | None) -> str:
    recall = _text("recall", run.recall)
    if best is None or run is best:
        return recall
    return f"{recall} (−{gap_to(best.results, run.results):.1%})"


def _text(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if name == "recall":
        return f"{value:.2%}"
    if isinstance(value, float):
        return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
