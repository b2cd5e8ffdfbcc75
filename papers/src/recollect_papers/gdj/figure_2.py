"""Figure 2: for how long the keys of a stream are worth keeping, which AGE takes as one number."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.hashing import code_of_columns, missing
from recollect.join.window import parse_window, resolve, time_unit
from recollect.locality.numbering import KeyNumbers
from recollect_papers.experiment import Experiment, Point, Rows, Scale
from recollect_papers.figure import Figure
from recollect_papers.gdj.claims import per_input, percent
from recollect_papers.gdj.inputs import STOCK, SYNTHETIC, WEATHER, load, sources
from recollect_papers.replication import Finding
from recollect_papers.theory.kopt import k_opt

NAMES = (STOCK, WEATHER, SYNTHETIC)
KEYS, TUPLES = "keys", "tuples"
NEAR = 0.25
"""A k that is off by no more than this share may stand for a k_opt."""
FEW = 0.5
"""One k stands for few tuples, if for less than this share of them."""


def points(scale: Scale) -> Sequence[Point]:
    """One per input; a generated one once, because its distribution is drawn, not its mean."""
    generated = Scale(first_seed=scale.first_seed)
    return [
        {"source": source}
        for source in [*sources(scale, STOCK, WEATHER), *sources(generated, SYNTHETIC)[:1]]
    ]


def measure(source: Point) -> Rows:
    """Return the distribution of k_opt over the keys and over the tuples of the first stream."""
    made = load(**source)
    table = next(iter(made.streams.values()))
    table = table if isinstance(table, pa.Table) else table.table()
    batch = table.combine_chunks().to_batches()[0]
    columns = [batch.column(name) for name in made.query["on"].split(",")]
    absent = missing(columns)
    there = np.ones(len(batch), bool) if absent is None else ~absent
    numbers = KeyNumbers().add(code_of_columns(columns)[there])
    best = k_opt(numbers, arrivals_in_window(batch, made.query))
    rows = []
    for counted, ages in ((KEYS, best), (TUPLES, best[numbers])):
        values, counts = np.unique(ages, return_counts=True)
        rows += [
            {"input": source["name"], "counted": counted, "k_opt": int(k), "share": float(share)}
            for k, share in zip(values, np.cumsum(counts) / len(ages), strict=True)
        ]
    return rows


def arrivals_in_window(batch: pa.RecordBatch, query: Mapping[str, Any]) -> int:
    """Return how many tuples follow a tuple within its window, in the mean."""
    column = batch.column(query["time"])
    window = resolve(parse_window(query["window"]), time_unit(column.type, query["time"]))
    times = column.cast(pa.int64()).to_numpy()
    later = np.searchsorted(times, times + window, side="right") - np.arange(len(times)) - 1
    return round(float(later.mean()))


def tabulate(rows: Rows) -> Rows:
    """Leave the distributions as they are."""
    return rows


def judge(rows: Rows) -> Sequence[Finding]:
    """Look for the k that is nearly right for most tuples."""

    def one_will_not_do(mine: Rows) -> tuple[bool, str]:
        best, share = best_one(mine)
        low, high = (f"{quantile(mine, q):,}" for q in (0.1, 0.9))
        between = f"from {low} to {high}" if low != high else low
        return share < FEW, (
            f"the k_opt of 80 % of the tuples is {between}, and the best single k, {best:,}, is"
            f" within {percent(NEAR)} of that of {percent(share)} of them"
        )

    return [
        per_input(
            "Any single k_opt will only work for a small percentage of the tuples.",
            rows, NAMES, one_will_not_do,
            "Where the same key follows at once, as in the real streams, k_opt is 1 for nearly all"
            " tuples, and AGE works like FIFO.",
        )
    ]  # fmt: skip


def best_one(rows: Rows) -> tuple[int, float]:
    """Return the k that is near the k_opt of most tuples, and the share of these.

    >>> rows = [{"counted": "tuples", "k_opt": k, "share": s} for k, s in ((4, 0.5), (10, 1.0))]
    >>> best_one(rows)
    (4, 0.5)
    """
    mine = [row for row in rows if row["counted"] == TUPLES]
    ages = np.array([row["k_opt"] for row in mine])
    shares = np.diff([0.0, *(row["share"] for row in mine)])
    near = [float(shares[np.abs(k - ages) <= NEAR * ages].sum()) for k in ages]
    return int(ages[np.argmax(near)]), max(near)


def quantile(rows: Rows, share: float) -> int:
    """Return the k_opt that this share of the tuples does not exceed."""
    return next(r["k_opt"] for r in rows if r["counted"] == TUPLES and r["share"] >= share)


EXPERIMENT = Experiment(
    name="figure-2",
    title="Figure 2: the distribution of k_opt",
    shows="AGE keeps all tuples of a stream for the same time, k_opt. The paper computes the k_opt"
    " of each value in its stock stream and finds that they vary widely. Here the first stream of"
    " each input is joined with itself; a k_opt of 0 is that of keys that never come twice within"
    " the window. Stock data are not those of the paper, here and below: trades of four stocks in a"
    " week, joined on stock and price at two exchanges within 60 s. Weather data are hourly dew"
    " points at two airports, within 4 days.",
    points=points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure(
        "k_opt", "share", "counted", "input", "steps",
        titles={"k_opt": "k_opt, arrivals", "share": "share with this k_opt or less"},
    ),
    judge=judge,
)  # fmt: skip
