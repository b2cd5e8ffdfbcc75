"""Figure 16: how much of the cache HEEB gives to each stream."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from recollect_papers.experiment import (
    Experiment,
    Point,
    Rows,
    Scale,
    mean_over_seeds,
)
from recollect_papers.figure import Figure
from recollect_papers.replication import Finding
from recollect_papers.stochastic.configurations import runs_of
from recollect_papers.stochastic.scores import heeb
from recollect_papers.theory import run_steps_together

WORKLOADS = {
    "tower-lag-4": "R 4 behind S",
    "tower-lag-2": "R 2 behind S",
    "tower-even": "both alike",
    "tower-wide-2": "S with 2σ",
    "tower-wide-4": "S with 4σ",
}
CACHE = 10
"""What findings give the shares for: the size of figure 8."""
EVEN = 0.02
"""Shares that differ by less are even."""


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
    """Compare the shares at one size in words, and at all sizes for the verdict."""
    shares: dict[int, list[float]] = {}
    for row in rows:
        shares.setdefault(row["cache"], []).append(row["share_of_R"])
    four, two, none, double, quadruple = shares[CACHE]
    return [
        _ordered(
            "Less memory goes to a stream that lags behind, the less the farther it does.",
            {cache: found[:3] for cache, found in shares.items()},
            f"With {CACHE} tuples R has {none:.1%} without lag, {two:.1%} when 2 steps behind and"
            f" {four:.1%} when 4 steps behind.",
            "We do not know.",
        ),
        _ordered(
            "Less memory goes to a stream with more noise, the less the more it has.",
            {cache: found[2:] for cache, found in shares.items()},
            f"With {CACHE} tuples S has {1 - none:.1%} of the cache with the deviation of R,"
            f" {1 - double:.1%} with twice and {1 - quadruple:.1%} with four times that.",
            "A tuple of S that R is about to reach is worth more than any of R, since R's noise is"
            " narrow; a very small cache has room for only these.",
        ),
    ]


def _ordered(claim: str, shares: Mapping[int, Sequence[float]], measured: str, why: str) -> Finding:
    """Tell at which sizes the shares rise, or are even because all that matters fits."""
    rising = [
        cache
        for cache, found in shares.items()
        if all(more > less - EVEN for less, more in pairwise(found))
    ]
    others = [str(cache) for cache in shares if cache not in rising]
    clearly = CACHE in rising and shares[CACHE][-1] - shares[CACHE][0] > EVEN
    verdict = ("partly" if others else "yes") if clearly else "no"
    if others:
        measured += f" The order is another one with {', '.join(others)} tuples."
    return Finding(claim, verdict, measured, "" if verdict == "yes" else why)


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
