"""``recollect compare``: policies side by side on the same input, of a join or of a cache."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from recollect.cli import options
from recollect.cli.compare_caches import compare_one
from recollect.cli.measured import compare_measured
from recollect.cli.show import print_json, print_recalls, progress
from recollect.errors import InputError
from recollect.join.stats import Stats
from recollect.join.whole import Comparison
from recollect.join.whole import compare as compare_policies
from recollect.optimum import BestRun, best_runs, require_optimum
from recollect.policies import quick_policy_names
from recollect.report import require_page, write_recall_report

BUDGETS = "5%,10%,20%,40%"


def compare(
    left: options.Left,
    on: options.On,
    right: Annotated[
        str | None,
        typer.Argument(
            help="The right stream; may be the same file. Leave it out to compare caches for"
            " lookups by the left stream."
        ),
    ] = None,
    time: options.TimeOfJoin = None,
    window: options.WindowOfJoin = None,
    policies: Annotated[
        str | None,
        typer.Option(
            help="Policies separated by commas. Left out: all but the slower elba, heeb and hist."
        ),
    ] = None,
    budgets: Annotated[str, typer.Option(help="Budgets separated by commas.")] = BUDGETS,
    split: options.Split = False,
    shares: options.Shares = None,
    where: options.Where = None,
    lateness: options.Lateness = None,
    null_keys: options.NullKeys = "error",
    seed: options.Seed = 0,
    shed: options.Shed = None,
    warm_up: options.WarmUp = None,
    divisions: options.Divisions = None,
    quality: options.Quality = False,
    opt: Annotated[
        bool, typer.Option("--opt", help="Show the best that was possible, and the gap to it.")
    ] = False,
    html: options.Html = None,
    json: options.Json = False,
) -> None:
    """Compare policies at several budgets: which share of the exact result does each keep?"""
    asked = [budget.strip() for budget in budgets.split(",")]
    if right is None:
        others = {
            "time": time, "window": window, "split": split, "shares": shares, "where": where,
            "lateness": lateness, "shed": shed, "warm_up": warm_up, "divisions": divisions,
            "quality": quality, "html": html,
        }  # fmt: skip
        compare_one(left, on, policies, asked, others, seed=seed, opt=opt, json=json)
        return
    if time is None or window is None:
        raise InputError("a join of two streams needs --time and --window")
    if shed is not None or warm_up is not None or divisions is not None or quality:
        for name, given in (("--opt", opt), ("--html", html), ("--lateness", lateness)):
            if given:
                raise InputError(
                    f"{name} does not go together with --shed, --warm-up, --divisions or --quality"
                )
        words = {"on": on, "time": time, "window": window, "where": where, "null_keys": null_keys}
        compare_measured(
            left, right, words, policies, budgets, shed=shed, warm_up=warm_up, seed=seed, json=json,
            divisions=divisions or options.split_of(split, shares) or "unified",
        )  # fmt: skip
        return
    if html is not None:
        options.require_apart([left, right], html)
        require_page(html)
    if opt:
        require_optimum(asked)
    best: dict[str, BestRun] = {}
    with progress() as report:
        query: dict[str, Any] = {
            "on": on, "time": options.pair(time), "window": options.pair(window),
            "budgets": asked, "split": options.split_of(split, shares), "where": where,
            "lateness": lateness, "null_keys": null_keys, "progress": report,
        }  # fmt: skip
        comparison = compare_policies(
            left,
            right,
            policies=quick_policy_names() if policies is None else options.split_policies(policies),
            seed=seed,
            **query,
        )
        if opt:
            optimum = best_runs(left, right, known=comparison.survey, **query)
            best = {run.budget: run for run in optimum}
    if html is not None:
        facts = {"title": f"{left} ⋈ {right}", "left": left, "right": right, "on": on, "seed": seed}
        write_recall_report(facts | page_facts(comparison, best), html)
    if json:
        rows = [row_of(run, best.get(run.budget)) for run in comparison.runs]
        print_json({"rows": rows + [best_row(run) for run in best.values()]})
    else:
        exact = f"{comparison.survey.exact_results:,} exact results"
        print_recalls(f"{left} ⋈ {right}, {exact}: recall by budget", comparison.runs, best)
        if html is not None:
            print(f"Report: {html}")


def row_of(run: Stats, best: BestRun | None = None) -> dict[str, Any]:
    """What is shown of a run, and how many of the optimum's results it has missed."""
    names = (
        "policy", "budget", "results", "recall", "evicted", "refused", "expired",
        "tuples_per_second",
    )  # fmt: skip
    row = {name: getattr(run, name) for name in names}
    return row if best is None else row | {"gap": best.gap(run.results)}


def best_row(run: BestRun) -> dict[str, Any]:
    """What is shown of the optimum."""
    names = ("policy", "budget", "results", "recall", "tuples_per_second")
    return {name: getattr(run, name) for name in names} | {"gap": 0.0}


def page_facts(comparison: Comparison, best: Mapping[str, BestRun] | None = None) -> dict[str, Any]:
    """What the report shows of a comparison, and of the optimum by budget."""
    first = comparison.runs[0]
    rows = [
        row_of(run) | {"budget_tuples": run.budget_tuples, "budget_bytes": run.budget_bytes}
        for run in comparison.runs
    ]
    no_policy = {"tuples_per_second": None}  # how long it took says nothing of a join
    rows += [
        best_row(run) | {"budget_tuples": run.budget_tuples} | no_policy
        for run in (best or {}).values()
    ]
    return {
        "window": first.window,
        "tuples_in": first.tuples_in,
        "exact_results": comparison.survey.exact_results,
        "mean_alive": comparison.survey.mean_alive,
        "rows": rows,
    }
