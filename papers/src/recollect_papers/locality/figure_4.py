"""Figure 4: the entries of Lossy Counting by skew and by ε, on independent Zipfian keys."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from recollect.counting import LossyCounter
from recollect.streams import ZipfStream
from recollect_papers.experiment import (
    Experiment,
    Point,
    Rows,
    Scale,
    agreement,
    mean_over_seeds,
    pick,
)
from recollect_papers.figure import Figure
from recollect_papers.locality.by_stream import percent
from recollect_papers.replication import Finding
from recollect_papers.theory import zipf_bound

KEYS, TUPLES = 3_000, 100_000
EPSILON, Z = 0.001, 1.3
MAX, PRUNE, BOUND = "Max", "Prune", "Theorem 2"


def by_skew(scale: Scale) -> list[Point]:
    """Return points of several exponents at one ε."""
    exponents = (
        [0.0, 0.25, 0.5, 0.75, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0]
        if scale.full
        else [0.5, 0.8, 1.1, 1.3, 1.5, 1.8, 2.0]
    )
    return [_point(z, EPSILON, seed) for z in exponents for seed in _seeds(scale)]


def by_epsilon(scale: Scale) -> list[Point]:
    """Return points of several ε at one exponent."""
    epsilons = (
        [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.007, 0.01]
        if scale.full
        else [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01]
    )
    return [_point(Z, epsilon, seed) for epsilon in epsilons for seed in _seeds(scale)]


def _seeds(scale: Scale) -> range:
    return scale.seeds(10 if scale.full else 3)


def _point(z: float, epsilon: float, seed: int) -> Point:
    return {"z": z, "epsilon": epsilon, "seed": seed}


def measure(z: float, epsilon: float, seed: int) -> Rows:
    """Count a stream, and note the most entries before and after buckets ended."""
    counter = LossyCounter(epsilon)
    counter.add(ZipfStream(TUPLES, KEYS, z, seed).table()["key"].to_numpy())
    return [
        {"z": z, "epsilon": epsilon, "entries_of": name, "entries": number}
        for name, number in ((MAX, counter.entries_peak), (PRUNE, counter.entries_kept))
    ]


def tabulate(rows: Rows) -> Rows:
    """Return the means, and the bound wherever Theorem 2 has one."""
    means = mean_over_seeds(rows, ["z", "epsilon", "entries_of"], ["entries"])
    return [*means, *_bounds(means)]


def _bounds(means: Rows) -> Iterator[dict[str, Any]]:
    for row in means:
        if row["entries_of"] == MAX and 1 < row["z"] <= 2:
            bound = zipf_bound(row["epsilon"], row["z"])
            yield {**row, "entries_of": BOUND, "entries": bound, "entries_std": 0.0}


def judge_skew(rows: Rows) -> Sequence[Finding]:
    """Follow both curves, and compare with the bound."""
    exponents = sorted({row["z"] for row in rows})
    most, kept = ([pick(rows, "entries", z=z, entries_of=name) for z in exponents]
                  for name in (MAX, PRUNE))  # fmt: skip
    falling = {name: bool((np.diff(line) < 0).all()) for name, line in ((MAX, most), (PRUNE, kept))}
    return [
        Finding(
            "The more skewed popularity is, the less memory is used.",
            ("no", "partly", "yes")[falling[MAX] + (falling[MAX] and falling[PRUNE])],
            f"From z = {exponents[0]} to {exponents[-1]}: Max {most[0]:.0f} to {most[-1]:.0f},"
            f" Prune {kept[0]:.0f} to {kept[-1]:.0f}; Prune is highest, {max(kept):.0f}, at"
            f" z = {exponents[int(np.argmax(kept))]}.",
            ""
            if all(falling.values())
            else "Prune rises first: of keys that are nearly equally popular hardly any comes twice"
            " in a bucket, so few survive its end.",
        ),
        _below_the_bound(rows),
    ]


def judge_epsilon(rows: Rows) -> Sequence[Finding]:
    """Compare with the bound."""
    epsilons = sorted({row["epsilon"] for row in rows})
    most = [pick(rows, "entries", epsilon=epsilon, entries_of=MAX) for epsilon in epsilons]
    return [
        agreement(
            "The smaller ε is, the more memory is used.",
            bool((np.diff(most) < 0).all()),
            f"From ε = {epsilons[-1]} to {epsilons[0]}: Max {most[-1]:.0f} to {most[0]:.0f}.",
            "See the figure.",
        ),
        _below_the_bound(rows),
    ]


def _below_the_bound(rows: Rows) -> Finding:
    bounds = [row for row in rows if row["entries_of"] == BOUND]
    shares = [
        pick(rows, "entries", z=row["z"], epsilon=row["epsilon"], entries_of=MAX) / row["entries"]
        for row in bounds
    ]
    return agreement(
        "The memory used stays below the bound of Theorem 2.",
        max(shares) < 1,
        f"Max is {percent(min(shares))} to {percent(max(shares))} of the bound, wherever it holds"
        " (z > 1).",
        "See the figure.",
    )


def _figure(x: str, log: str) -> Figure:
    titles = {"epsilon": "ε", "z": "exponent z of the popularity"}
    return Figure(x, "entries", "entries_of", log=log, error="entries_std", titles=titles)


EXPERIMENTS = (
    Experiment(
        name="figure-4a",
        title="Figure 4 (a): entries of Lossy Counting over skew",
        shows="With ε = 0.001, 3,000 keys and 100,000 tuples: the most entries at any time (Max)"
        " and after the end of a bucket (Prune).",
        points=by_skew,
        measure=measure,
        tabulate=tabulate,
        figure=_figure("z", "y"),
        judge=judge_skew,
    ),
    Experiment(
        name="figure-4b",
        title="Figure 4 (b): entries of Lossy Counting over ε",
        shows="The same for z = 1.3: memory grows as ε becomes smaller.",
        points=by_epsilon,
        measure=measure,
        tabulate=tabulate,
        figure=_figure("epsilon", "xy"),
        judge=judge_epsilon,
    ),
)
