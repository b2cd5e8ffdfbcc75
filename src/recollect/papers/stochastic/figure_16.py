"""Figure 16: how much of the cache HEEB gives to each stream."""

from collections.abc import Iterable, Sequence

from recollect.optimum import run_steps_together
from recollect.papers.experiment import (
    Experiment,
    Point,
    Rows,
    Scale,
    agreement,
    mean_over_seeds,
)
from recollect.papers.stochastic.configurations import runs_of
from recollect.papers.stochastic.scores import heeb
from recollect.report.figure import Figure
from recollect.report.replication import Finding

WORKLOADS = {
    "tower-lag-4": "R 4 behind S",
    "tower-lag-2": "R 2 behind S",
    "tower-even": "both alike",
    "tower-wide-2": "S with 2σ",
    "tower-wide-4": "S with 4σ",
}
CACHE = 10
"""Where the claims are looked at: as in figure 8."""


def points(scale: Scale) -> list[Point]:
    """Give one point per workload and size of the cache."""
    steps, caches, runs = 1_000, [5, 10, 20, 50], 5
    if scale.full:
        steps, caches, runs = 5_000, [2, 5, 10, 15, 20, 30, 40, 50], 50
    return [
        {"workload": workload, "steps": steps, "cache": cache, "seeds": list(scale.seeds(runs))}
        for workload in WORKLOADS
        for cache in caches
    ]


def measure(workload: str, steps: int, cache: int, seeds: Sequence[int]) -> Rows:
    """Find the mean share of R."""
    runs = runs_of(workload, steps, seeds)
    lefts, rights = runs.values.swapaxes(0, 1)
    found = run_steps_together(lefts, rights, cache, heeb(runs, cache))
    return [
        {"streams": WORKLOADS[workload], "cache": cache, "seed": seed, "share_of_R": run.left_share}
        for seed, run in zip(seeds, found, strict=True)
    ]


def tabulate(rows: Rows) -> Rows:
    """Average over the runs."""
    return mean_over_seeds(rows, ["streams", "cache"], ["share_of_R"])


def judge(rows: Rows) -> list[Finding]:
    """Compare the shares at one size, and see at which others the order is the same."""
    shares: dict[int, list[float]] = {}
    for row in rows:
        shares.setdefault(row["cache"], []).append(row["share_of_R"])
    four, two, none, double, quadruple = shares[CACHE]
    behind = [cache for cache, (far, near, even, *_) in shares.items() if far < near < even]
    noisy = [cache for cache, (*_, even, wide, widest) in shares.items() if even < wide < widest]
    return [
        agreement(
            "Less memory goes to a stream that lags behind, the less the farther it does.",
            CACHE in behind,
            f"With {CACHE} tuples R has {none:.1%} without lag, {two:.1%} when 2 steps behind and"
            f" {four:.1%} when 4 steps behind. {_same(behind, shares)}",
            "We do not know.",
        ),
        agreement(
            "Less memory goes to a stream with more noise, the less the more it has.",
            CACHE in noisy,
            f"With {CACHE} tuples S has {1 - none:.1%} of the cache with the deviation of R,"
            f" {1 - double:.1%} with twice and {1 - quadruple:.1%} with four times that."
            f" {_same(noisy, shares)}",
            "We do not know.",
        ),
    ]


def _same(ordered: Sequence[int], caches: Iterable[int]) -> str:
    others = [str(cache) for cache in caches if cache not in ordered]
    found = ", ".join(map(str, ordered)) or "none"
    return f"The order is this with {found} tuples" + (
        f", not with {', '.join(others)}." if others else "."
    )


EXPERIMENT = Experiment(
    name="figure-16",
    title="Figure 16: memory allocation between two streams",
    shows="The share of the cache that HEEB gives to tuples of R on TOWER, where both streams are"
    " alike (σ = 1), R lags behind S, or S has more noise. The mean of 50 runs of 5,000 steps, at"
    " the small scale 5 of 1,000.",
    points=points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure(
        "cache", "share_of_R", "streams",
        titles={"cache": "cache (tuples)", "share_of_R": "share of R"},
    ),
    judge=judge,
)  # fmt: skip
