"""``recollect compare`` where more is measured than recall: a workload of two streams."""

from typing import Any

from recollect.cli import options
from recollect.cli.run import print_runs
from recollect.cli.show import print_json, progress
from recollect.errors import InputError
from recollect.join.budget import parse_shares
from recollect.join.query import key_columns, pair_of
from recollect.policies import quick_policy_names
from recollect.workload import JoinOn, Stream, Workload, run
from recollect.workload.declaration import RATE
from recollect.workload.division import WORDS

SIDES = ("left", "right")


def compare_measured(
    left: str,
    right: str,
    query: dict[str, Any],
    policies: str | None,
    budgets: str,
    *,
    divisions: str,
    shed: str | None,
    warm_up: str | None,
    seed: int,
    json: bool,
) -> None:
    """Run the comparison and print it, in the words of the command line."""
    keys = zip(*key_columns(query["on"]), strict=True)
    on = ", ".join(f"left.{one} = right.{two}" for one, two in keys)
    sides = zip(
        SIDES,
        (left, right),
        pair_of(options.pair(query["time"])),
        pair_of(options.pair(query["window"])),
        pair_of(options.pair(shed or "0")),
        strict=True,
    )
    streams = {
        side: Stream(source, time=time, window=window, shed=_probability(dropped))
        for side, source, time, window, dropped in sides
    }
    with progress() as report:
        comparison = run(
            Workload(streams, {"join": JoinOn(on, query["where"])}, query["null_keys"]),
            policies=quick_policy_names() if policies is None else options.split_policies(policies),
            budgets=[budget.strip() for budget in budgets.split(",")],
            divisions=[_division(word.strip()) for word in divisions.split(",")],
            warm_up=warm_up,
            seed=seed,
            progress=report,
        )
    if json:
        rows = [run.as_dict() for run in comparison.runs]
        print_json({"rows": rows, "memory": comparison.memory, "exact": comparison.exact.as_dict()})
    else:
        print_runs(f"{left} ⋈ {right}", comparison)


def _probability(text: str) -> float | str:
    if text == RATE:
        return RATE
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--shed {text!r} is neither a probability nor {RATE!r}") from None


def _division(word: str) -> Any:
    if word in WORDS:
        return word
    shares = parse_shares(word)
    return dict(zip(SIDES, shares, strict=True)) if isinstance(shares, tuple) else word
