"""``recollect run``: a workload of many streams and joins, from a TOML file."""

from collections.abc import Callable, Mapping
from typing import Annotated

import typer
from rich.table import Table

from recollect.cli import options
from recollect.cli.show import print_json, print_table, progress
from recollect.optimum import BestRun
from recollect.workload import Run, WorkloadComparison
from recollect.workload import run as run_workload
from recollect.workload.config import read_workload


def run(
    workload: Annotated[str, typer.Argument(help="The TOML file that declares the workload.")],
    data: Annotated[
        str | None,
        typer.Option(
            help="Folder of the data files (default: RECOLLECT_DATA). Without it, streams that have"
            " a generator are generated."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Run joins of many streams that share one budget, and say how much of the result is kept."""
    configured = read_workload(workload, data)
    settings = configured.settings
    for name in configured.generated:
        typer.echo(f"recollect: stream {name} is generated; --data gives the real one", err=True)
    with progress() as report:
        comparison = run_workload(
            configured.workload,
            policies=settings.policies,
            budgets=settings.budgets,
            divisions=settings.divisions,
            warm_up=settings.warm_up,
            seed=settings.seed,
            progress=report,
        )
    if json:
        print_json(
            {
                "name": settings.name,
                "generated": list(configured.generated),
                "exact_results": comparison.exact.results,
                "exact": comparison.exact.as_dict(),
                "memory": comparison.memory,
                "rows": [run.as_dict() for run in comparison.runs],
            }
        )
    else:
        print_runs(settings.name, comparison)


def print_runs(
    name: str, comparison: WorkloadComparison, best: Mapping[str, BestRun] | None = None
) -> None:
    """Print a line per run, and one for the optimum at each budget."""
    exact = comparison.exact
    table = Table(
        title=f"{name}: {exact.tuples_in:,} tuples, {exact.results:,} exact results, which need"
        f" {exact.mean_tuples:,.0f} tuples in memory, at most {exact.peak_tuples:,}",
        title_justify="left",
    )
    columns: dict[str, Callable[[Run], str]] = {
        "policy": lambda run: run.policy,
        "budget": lambda run: run.budget,
        "division": lambda run: run.division,
        "shed": lambda run: f"{run.shed / max(run.tuples_in, 1):.0%}",
        "results": lambda run: f"{run.results:,}",
        "recall": lambda run: f"{run.recall:.2%}",
        "stress": lambda run: f"{run.stress_recall:.2%}",
        "SSE": lambda run: "–" if run.sse is None else f"{run.sse:.2g}",
        "KL": lambda run: "–" if run.kl is None else f"{run.kl:.2g}",
    }
    if len({run.division for run in comparison.runs}) == 1:
        del columns["division"]
    if not any(run.shed for run in comparison.runs):
        del columns["shed"]
    for column in columns:
        if column in ("policy", "division"):
            table.add_column(column, overflow="fold", min_width=len(column))
        else:
            table.add_column(column, justify="right", no_wrap=True)
    for run in comparison.runs:
        table.add_row(*(show(run) for show in columns.values()))
    for optimum in (best or {}).values():
        known = {
            "policy": optimum.policy, "budget": optimum.budget,
            "results": f"{optimum.results:,}", "recall": f"{optimum.recall:.2%}",
        }  # fmt: skip
        table.add_row(*(known.get(column, "–") for column in columns))
    print_table(table)
