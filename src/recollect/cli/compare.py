"""``recollect compare``: policies side by side on the same input, of a join or of a cache."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from recollect.cli import options
from recollect.cli.compare_caches import compare_one
from recollect.cli.measured import measured
from recollect.cli.run import print_runs
from recollect.cli.show import print_json, print_recalls, progress
from recollect.errors import InputError
from recollect.join.query import Query
from recollect.join.stats import Stats
from recollect.join.whole import Comparison
from recollect.join.whole import compare as compare_policies
from recollect.optimum import BestRun, best_runs, require_optimum
from recollect.policies import quick_policy_names
from recollect.report import require_page, write_recall_report
from recollect.workload import Run, WorkloadComparison

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
    measuring = quality or not (shed is None and warm_up is None and divisions is None)
    if opt and not (shed is None and warm_up is None and divisions is None):
        raise InputError(
            "--opt is the best of the whole join, so it does not go together with --shed, --warm-up"
            " or --divisions"
        )
    if html is not None:
        options.require_apart([left, right], html)
        require_page(html)
    if opt:
        require_optimum(asked)
    names = quick_policy_names() if policies is None else options.split_policies(policies)
    query: dict[str, Any] = {
        "on": on, "time": options.pair(time), "window": options.pair(window), "where": where,
        "lateness": lateness, "null_keys": null_keys,
    }  # fmt: skip
    division = options.split_of(split, shares)
    comparison: Comparison | WorkloadComparison
    best: dict[str, BestRun] = {}
    with progress() as report:
        if measuring:
            comparison = measured(
                left, right, query, names, asked, shed=shed, warm_up=warm_up, seed=seed,
                divisions=divisions or division or "unified", progress=report,
            )  # fmt: skip
        else:
            comparison = compare_policies(
                left, right, policies=names, budgets=asked, split=division, seed=seed,
                progress=report, **query,
            )  # fmt: skip
        if opt:
            known = comparison.survey if isinstance(comparison, Comparison) else None
            optimum = best_runs(
                left, right, budgets=asked, split=division, known=known, progress=report, **query
            )
            best = {run.budget: run for run in optimum}
    title = f"{left} ⋈ {right}"
    if html is not None:
        facts = {"title": title, "left": left, "right": right, "on": on, "seed": seed}
        facts |= {"window": Query.parse(on, query["time"], query["window"]).window_text}
        write_recall_report(facts | page_facts(comparison, best), html)
    if json:
        more: dict[str, Any] = {}
        if isinstance(comparison, WorkloadComparison):
            rows = [run.as_dict() for run in comparison.runs]
            more = {"memory": comparison.memory, "exact": comparison.exact.as_dict()}
        else:
            rows = [row_of(run, best.get(run.budget)) for run in comparison.runs]
        print_json({"rows": rows + [best_row(run) for run in best.values()]} | more)
        return
    if isinstance(comparison, WorkloadComparison):
        print_runs(title, comparison, best)
    else:
        exact = f"{comparison.survey.exact_results:,} exact results"
        print_recalls(f"{title}, {exact}: recall by budget", comparison.runs, best)
    if html is not None:
        print(f"Report: {html}")


def row_of(run: Stats | Run, best: BestRun | None = None) -> dict[str, Any]:
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


def page_facts(
    comparison: Comparison | WorkloadComparison, best: Mapping[str, BestRun] | None = None
) -> dict[str, Any]:
    """What the report shows of a comparison, and of the optimum by budget."""
    rows = [
        row_of(run) | {name: getattr(run, name, None) for name in ("budget_tuples", "budget_bytes")}
        for run in comparison.runs
    ]
    no_policy = {"tuples_per_second": None}  # how long it took says nothing of a join
    rows += [
        best_row(run) | {"budget_tuples": run.budget_tuples} | no_policy
        for run in (best or {}).values()
    ]
    if isinstance(comparison, WorkloadComparison):
        exact_results, mean_alive = comparison.exact.results, comparison.exact.mean_tuples
    else:
        exact_results = comparison.survey.exact_results
        mean_alive = comparison.survey.mean_alive
    return {
        "tuples_in": comparison.runs[0].tuples_in,
        "exact_results": exact_results,
        "mean_alive": mean_alive,
        "rows": rows,
    }
