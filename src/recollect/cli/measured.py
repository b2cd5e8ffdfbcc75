"""``recollect compare`` where more is measured than recall: a workload of two streams."""

from collections.abc import Sequence
from typing import Any

from recollect.cli import options
from recollect.errors import InputError
from recollect.join.budget import parse_shares
from recollect.join.query import key_columns, pair_of
from recollect.join.whole import Progress
from recollect.workload import JoinOn, Stream, Workload, WorkloadComparison, run
from recollect.workload.declaration import RATE
from recollect.workload.division import WORDS

SIDES = ("left", "right")


def measured(
    left: str,
    right: str,
    query: dict[str, Any],
    policies: Sequence[str],
    budgets: Sequence[str],
    *,
    divisions: Any,
    shed: str | None,
    warm_up: str | None,
    seed: int,
    progress: Progress,
) -> WorkloadComparison:
    """Run the comparison, in the words of the command line."""
    keys = zip(*key_columns(query["on"]), strict=True)
    on = ", ".join(f"left.{one} = right.{two}" for one, two in keys)
    sides = zip(
        SIDES,
        (left, right),
        pair_of(query["time"]),
        pair_of(query["window"]),
        pair_of(options.pair(shed or "0")),
        strict=True,
    )
    streams = {
        side: Stream(source, time=time, window=window, shed=_probability(dropped))
        for side, source, time, window, dropped in sides
    }
    join = JoinOn(on, query["where"])
    words = divisions.split(",") if isinstance(divisions, str) else [divisions]
    return run(
        Workload(streams, {"join": join}, query["null_keys"], query["lateness"]),
        policies=policies,
        budgets=budgets,
        divisions=[_division(word) for word in words],
        warm_up=warm_up,
        seed=seed,
        progress=progress,
    )


def _probability(text: str) -> float | str:
    if text == RATE:
        return RATE
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--shed {text!r} is neither a probability nor {RATE!r}") from None


def _division(word: Any) -> Any:
    if isinstance(word, str) and word.strip() in WORDS:
        return word.strip()
    shares = parse_shares(word)
    return dict(zip(SIDES, shares, strict=True)) if isinstance(shares, tuple) else word
