"""``recollect compare`` with one stream: caches of its keys, side by side."""

from typing import Any

from recollect.cli import options
from recollect.cli.show import print_json, print_recalls, progress
from recollect.errors import InputError
from recollect.lookup.compare import LFD, CacheRun, compare_caches, online_policy_names
from recollect.optimum.opt import gap_to


def compare_one(
    stream: str,
    on: str,
    policies: str | None,
    budgets: list[str],
    others: dict[str, Any],
    *,
    seed: int,
    opt: bool,
    json: bool,
) -> None:
    """Run the comparison and print it, in the words of the command line."""
    for name, given in others.items():
        if given:
            raise InputError(
                f"--{name.replace('_', '-')} is for the join of two streams, and"
                f" {stream} is only one; a cache is compared by --on, --policies and --budgets"
            )
    names = online_policy_names() if policies is None else options.split_policies(policies)
    words: dict[str, Any] = {"on": on, "budgets": budgets, "seed": seed}
    with progress() as report:
        runs = compare_caches(stream, policies=names, **words, progress=report)
        optimum = compare_caches(stream, policies=[LFD] if opt else [], **words, progress=report)
    best = {run.budget: run for run in optimum}
    if json:
        print_json({"rows": [_row(run, best.get(run.budget)) for run in [*runs, *optimum]]})
    else:
        title = f"{stream}: share of the references that a cache answers"
        print_recalls(title, runs, best, optimum=LFD)


def _row(run: CacheRun, best: CacheRun | None) -> dict[str, Any]:
    names = ("policy", "budget", "cache", "results", "recall", "tuples_per_second")
    row = {name: getattr(run, name) for name in names}
    return row if best is None else row | {"gap": gap_to(best.results, run.results)}
