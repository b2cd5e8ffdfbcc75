"""Load shedding before the buffer: what is found, and how it is distributed (figures 9 and 10)."""

from collections.abc import Sequence

import numpy as np

from recollect_papers.experiment import Point, Row, Rows, Scale, mean_over_seeds
from recollect_papers.gdj.claims import per_input
from recollect_papers.gdj.comparing import short
from recollect_papers.gdj.inputs import SHARED, STOCK, WEATHER, gdj, load, sources
from recollect_papers.gdj.joined import BUFFER, on_all, prepared
from recollect_papers.replication import Finding

PAPER = (STOCK, WEATHER)
NAMES = (*PAPER, SHARED)
POLICIES = ("GDJ", "PROB", "FIFO")
DROPS = (0.0, 0.2, 0.4, 0.6, 0.8)
FIT = DROPS[-1]
"""With a buffer of 20 %, what is left then fits it."""
LIKE = 0.15
"""Recalls that differ by no more than this share are alike."""
MUCH = 2.0
"""A distortion is much smaller if it is at least so many times smaller."""


def points(scale: Scale) -> Sequence[Point]:
    """One per input, seed and probability of being dropped."""
    return [
        {"source": source, "drop": drop, "seed": seed}
        for source in sources(scale, *PAPER)
        for seed in scale.seeds(10 if scale.full and source["name"] == WEATHER else 3)
        for drop in DROPS
    ] + [
        {"source": source, "drop": drop, "seed": source["seed"]}
        for source in sources(scale, SHARED)
        for drop in DROPS
    ]


def measure(source: Point, drop: float, seed: int) -> Rows:
    """Return results and distortions by policy; the seed says which tuples are dropped."""
    made = load(**source)
    ready = prepared(
        made.streams, {"join": on_all(list(made.streams), made.query["on"].split(","))},
        made.query["window"], made.query["time"], drop,
    )  # fmt: skip
    name = source["name"]
    return [
        {
            "input": name,
            "drop": drop,
            "policy": short(policy),
            "recall": run.recall,
            "SSE": run.sse,
            "KL": run.kl,
            "evicted": run.evicted / run.tuples_in,
        }
        for policy in (gdj(name), "prob", "fifo")
        for run in [ready.run(policy, BUFFER, "rate", seed)]
    ]


def means(rows: Rows) -> list[Row]:
    """Average over seeds."""
    return list(mean_over_seeds(rows, ["input", "policy", "drop"], ["recall", "SSE", "KL"]))


def trade(rows: Rows, distortion: str) -> list[Finding]:
    """Judge what is gained for which distortion.

    Parameters
    ----------
    rows
        Means.
    distortion
        Its column.
    """

    def for_distortion(mine: Rows) -> tuple[bool, str]:
        gains = [
            (most_within(mine, other[distortion], distortion), other["recall"])
            for other in shedding(mine, "PROB")
        ]
        one, two = gains[len(gains) // 2]
        middle = shedding(mine, "PROB")[len(gains) // 2][distortion]
        return all(a > b for a, b in gains), (
            f"where {distortion} is at most {middle:.2g}, GDJ finds {one:.2f} and PROB {two:.2f}"
        )

    def for_output(mine: Rows) -> tuple[bool, str]:
        factors = [
            other[distortion] / at_recall(mine, other["recall"], distortion)
            for other in shedding(mine, "PROB")
        ]
        return min(factors) >= MUCH, f"{min(factors):.1f} to {max(factors):.1f} times smaller"

    return [
        per_input(
            f"For the same distortion ({distortion}) GDJ finds more than PROB.",
            rows, NAMES, for_distortion,
        ),
        per_input(
            f"For the same number of results the distortion ({distortion}) of GDJ is much smaller"
            " than that of PROB.",
            rows, NAMES, for_output,
        ),
    ]  # fmt: skip


def shedding(rows: Rows, policy: str) -> list[Row]:
    """Return the rows of a policy in which there is something to forget."""
    return [row for row in rows if row["policy"] == policy and row["drop"] < FIT]


def most_within(rows: Rows, distortion: float, column: str) -> float:
    """Return the most that GDJ finds with at most this distortion; 0 if it is always higher."""
    mine = [row["recall"] for row in rows if row["policy"] == "GDJ" and row[column] <= distortion]
    return max(mine, default=0.0)


def at_recall(rows: Rows, recall: float, column: str) -> float:
    """Return the distortion of GDJ where it finds so much, between its points on a straight line.

    >>> rows = [{"policy": "GDJ", "recall": r, "SSE": s} for r, s in ((0.4, 0.02), (0.2, 0.01))]
    >>> round(at_recall(rows, 0.3, "SSE"), 3)
    0.015
    """
    mine = sorted((row["recall"], row[column]) for row in rows if row["policy"] == "GDJ")
    recalls, distortions = (list(column) for column in zip(*mine, strict=True))
    return float(np.interp(recall, recalls, distortions))
