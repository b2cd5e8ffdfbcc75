"""``recollect compare``: policies side by side on the same input."""

from typing import Annotated, Any

import typer

from recollect.cli import options
from recollect.cli.show import print_json, print_recalls, progress
from recollect.join.stats import Stats
from recollect.join.whole import Comparison
from recollect.join.whole import compare as compare_policies
from recollect.policies import policy_names
from recollect.report import require_page, write_recall_report

BUDGETS = "5%,10%,20%,40%"


def compare(
    left: options.Left,
    right: options.Right,
    on: options.On,
    time: options.Time,
    window: options.Window,
    policies: Annotated[
        str | None, typer.Option(help="Policies separated by commas; all if left out.")
    ] = None,
    budgets: Annotated[str, typer.Option(help="Budgets separated by commas.")] = BUDGETS,
    split: options.Split = False,
    shares: options.Shares = None,
    where: options.Where = None,
    lateness: options.Lateness = None,
    null_keys: options.NullKeys = "error",
    seed: options.Seed = 0,
    html: options.Html = None,
    json: options.Json = False,
) -> None:
    """Compare policies at several budgets: which share of the exact result does each keep?"""
    if html is not None:
        require_page(html)
    with progress() as report:
        comparison = compare_policies(
            left, right, on=on, time=options.pair(time), window=options.pair(window),
            policies=policy_names() if policies is None else options.split_policies(policies),
            budgets=[budget.strip() for budget in budgets.split(",")],
            split=options.split_of(split, shares), where=where, lateness=lateness,
            null_keys=null_keys, seed=seed, progress=report,
        )  # fmt: skip
    if html is not None:
        facts = {"title": f"{left} ⋈ {right}", "left": left, "right": right, "on": on, "seed": seed}
        write_recall_report(facts | page_facts(comparison), html)
    if json:
        print_json({"rows": [row_of(run) for run in comparison.runs]})
    else:
        exact = f"{comparison.survey.exact_results:,} exact results"
        print_recalls(f"{left} ⋈ {right}, {exact}: recall by budget", comparison.runs)
        if html is not None:
            print(f"Report: {html}")


def row_of(run: Stats) -> dict[str, Any]:
    """What is shown of a run."""
    return {
        "policy": run.policy,
        "budget": run.budget,
        "results": run.results,
        "recall": run.recall,
        "evicted": run.evicted,
        "refused": run.refused,
        "expired": run.expired,
        "tuples_per_second": run.tuples_per_second,
    }


def page_facts(comparison: Comparison) -> dict[str, Any]:
    """What the report shows of a comparison."""
    first = comparison.runs[0]
    rows = [
        row_of(run) | {"budget_tuples": run.budget_tuples, "budget_bytes": run.budget_bytes}
        for run in comparison.runs
    ]
    return {
        "window": first.window,
        "tuples_in": first.tuples_in,
        "exact_results": comparison.survey.exact_results,
        "mean_alive": comparison.survey.mean_alive,
        "rows": rows,
    }
