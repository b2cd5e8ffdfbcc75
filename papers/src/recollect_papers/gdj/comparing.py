"""Two streams joined by several policies at several budgets: what figures 3, 4 and 5 are made of.

The budget is a share of what the exact join holds in the mean over all arrivals, and is divided
between the streams in proportion to their rates, as in the paper.
"""

from collections.abc import Sequence

import recollect as rc
from recollect_papers.experiment import Point, Row, Rows
from recollect_papers.gdj.inputs import load, window_of

RATIOS = "rate"


def short(policy: str) -> str:
    """Name a policy as the paper does.

    >>> short("gdj:percentile=0.5")
    'GDJ'
    """
    return policy.partition(":")[0].upper()


def compare(
    source: Point, policies: Sequence[str], buffers: Sequence[float], window: int | None = None
) -> Rows:
    """Return the recall of each policy at each buffer size.

    Parameters
    ----------
    source
        What the input is loaded with.
    policies
        As the library names them.
    buffers
        In percent.
    window
        In units of the input; the usual one if left out.
    """
    made = load(**source)
    name = source["name"]
    query = {**made.query, "window": window_of(name, window)}
    found = rc.compare(
        *made.streams.values(), **query, policies=policies,
        budgets=[f"{buffer}%" for buffer in buffers], split=RATIOS, seed=source.get("seed", 0),
    )  # fmt: skip
    return [
        {
            "input": name,
            "keys": source.get("keys", 100),
            "window": window,
            "policy": run.policy,
            "buffer": float(run.budget.rstrip("%")),
            "recall": run.recall,
            "results": run.results,
            "tuples": run.tuples_in,
            "seconds": run.seconds,
        }
        for run in found.runs
    ]


def named(rows: Rows) -> list[Row]:
    """Name policies as the paper does."""
    return [{**row, "policy": short(row["policy"])} for row in rows]
