"""Figure 7, left: joins of two to five streams."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recollect_papers import catalogue
from recollect_papers.catalogue.workload import seeds
from recollect_papers.claims import above
from recollect_papers.experiment import Experiment, Point, Row, Rows, Scale, mean_over_seeds
from recollect_papers.figure import Figure
from recollect_papers.gdj.claims import line, per_input, percent
from recollect_papers.gdj.comparing import short
from recollect_papers.gdj.inputs import (
    SHARED,
    STOCK,
    SYNTHETIC,
    TUPLES,
    dealt,
    first_days,
    gdj,
    sources,
    window_of,
)
from recollect_papers.gdj.joined import BUFFER, on_all, prepared
from recollect_papers.replication import Finding
from recollect_papers.streams import ParetoStream

COUNTS = (2, 3, 4, 5)
NAMES = (STOCK, SYNTHETIC, SHARED)
POLICIES = ("GDJ", "PROB", "RAND")
FEW = 5
"""So many keys are few."""
KEPT = 0.8
"""A policy copes with more streams if it keeps this share of its recall."""


def points(scale: Scale) -> Sequence[Point]:
    """One per input, seed and number of streams."""
    generated = sources(scale, SYNTHETIC, SHARED)
    return [
        {**source, "count": count}
        for source in [*sources(scale, STOCK), *generated]
        for count in COUNTS
    ]


def measure(
    name: str, count: int, seed: int = 0, data: str | None = None, days: int | None = None
) -> Rows:
    """Return the recall of a join of so many streams on one key, by policy."""
    streams, on, time = streams_of(name, count, seed, data, days)
    ready = prepared(streams, {"all": on_all(list(streams), on)}, window_of(name), time)
    by_key = np.sort(ready.exact_tally.by_key(0)[1])[::-1]
    few = float(by_key[:FEW].sum() / by_key.sum())
    return [
        {
            "input": name,
            "streams": count,
            "policy": short(policy),
            "recall": run.recall,
            "share_of_few_keys": few,
        }
        for policy in (gdj(name), "prob", "rand")
        for run in [ready.run(policy, BUFFER, "rate", seed)]
    ]


def streams_of(
    name: str, count: int, seed: int, data: str | None, days: int | None
) -> tuple[Mapping[str, Any], list[str], str]:
    """Return the streams, the columns that they are joined on, and the time column."""
    if name == STOCK:
        made = first_days(catalogue.load("stock-multiway", data=data), days)
        few = dict(list(made.streams.items())[:count])
        return few, made.query["on"].split(","), made.query["time"]
    names = [f"S{i + 1}" for i in range(count)]
    if name == SHARED:
        return dealt(names, seed), ["key"], "time"
    own = zip(names, seeds(seed, count), strict=True)
    return {name: ParetoStream(TUPLES, seed=its) for name, its in own}, ["key"], "time"


def tabulate(rows: Rows) -> Rows:
    """Average over seeds."""
    by, of = ["input", "streams", "policy"], ["recall", "share_of_few_keys"]
    return mean_over_seeds(rows, by, of)


def judge(rows: Rows) -> Sequence[Finding]:
    """Look who is best, and what further streams cost each policy."""
    return [
        per_input(
            "GDJ finds more than PROB and RAND for each number of streams.",
            rows, NAMES, best, why_prob(rows),
        ),
        per_input(
            "With more streams GDJ finds as much as before, while PROB and RAND find less.",
            rows, NAMES, copes,
            "A result needs a tuple of every stream, so that losses multiply, for GDJ, too. Recall"
            " grows only where results gather on few keys that stay popular, and then that of PROB"
            " grows as well.",
        ),
        per_input(
            "What GDJ gains over RAND grows with the number of streams.", rows, NAMES, grows
        ),
    ]  # fmt: skip


def best(rows: Rows) -> tuple[bool, str]:
    """Whether GDJ is above both others everywhere."""
    wins = [
        count
        for count in COUNTS
        if all(above(of(rows, "GDJ", count), of(rows, other, count)) for other in ("PROB", "RAND"))
    ]
    return wins == list(COUNTS), (
        f"best in {len(wins)} of {len(COUNTS)} joins, with {COUNTS[-1]} streams"
        f" {recalls(rows, COUNTS[-1])}"
    )


def copes(rows: Rows) -> tuple[bool, str]:
    """Whether GDJ keeps its recall and the others do not."""
    kept = {
        policy: of(rows, policy, COUNTS[-1])["recall"] / of(rows, policy, COUNTS[0])["recall"]
        for policy in POLICIES
    }
    return kept["GDJ"] >= KEPT > max(kept["PROB"], kept["RAND"]), (
        f"with {COUNTS[0]} streams {recalls(rows, COUNTS[0])}, with {COUNTS[-1]}"
        f" {recalls(rows, COUNTS[-1])}"
    )


def grows(rows: Rows) -> tuple[bool, str]:
    """Whether GDJ over RAND grows with every stream."""
    gains = [
        of(rows, "GDJ", count)["recall"] / of(rows, "RAND", count)["recall"] for count in COUNTS
    ]
    return gains == sorted(gains), " → ".join(f"{gain:.3g}" for gain in gains) + " times"


def why_prob(rows: Rows) -> str:
    """Return why PROB is better in joins of many generated streams."""
    two, five = (
        of([row for row in rows if row["input"] == SHARED], "PROB", count)["share_of_few_keys"]
        for count in (COUNTS[0], COUNTS[-1])
    )
    return (
        "PROB is better where popularity never changes; in joins of many streams even if these"
        " have their flurries at the same time. There results gather on few keys (with five"
        f" streams instead of two, {percent(five)} instead of {percent(two)} of them are of"
        f" {FEW} keys), to which PROB gives the whole buffer."
    )


def recalls(rows: Rows, count: int) -> str:
    """Return what all policies find in the join of so many streams."""
    return ", ".join(f"{p} {of(rows, p, count)['recall']:.2g}" for p in POLICIES)


def of(rows: Rows, policy: str, count: int) -> Row:
    """Return the row of a policy and number of streams."""
    return line(rows, policy=policy, streams=count)


EXPERIMENT = Experiment(
    name="figure-7-streams",
    title="Figure 7 (streams)",
    shows="Joins of two to five streams on one key, with a buffer of 20 %. In the paper, on stock"
    " data, GDJ finds as much with more streams, while PROB and RAND find less with each."
    " Synthetic streams and such with shared flurries (figure 4) are drawn, too.",
    points=points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure(
        "streams", "recall", "policy", "input", log="y", error="recall_std",
        titles={"streams": "number of streams"},
    ),
    judge=judge,
)  # fmt: skip
