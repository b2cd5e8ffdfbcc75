"""Stage three, if asked for: what other policies and budgets would have kept of the same rows."""

from typing import Any

from recollect.join.query import SIDES
from recollect.spark.pipeline import ingested
from recollect.spark.pipeline.context import Run
from recollect.spark.pipeline.sections import Compare
from recollect.spark.sweep import sweep


def compare(run: Run) -> dict[str, Any]:
    """Try every policy with every budget, in the order of time, and count the results."""
    words, asked = run.config.join, run.config.compare or Compare()
    left, right = (ingested.rows(run, side) for side in SIDES)
    table = sweep(
        left, right, on=words.on, time=words.time, window=words.window,
        policies=asked.policies, budgets=asked.budgets, seeds=[words.seed],
    )  # fmt: skip
    return {
        "tuples_in": left.count() + right.count(),
        "rows": [row.asDict() for row in table.collect()],
    }
