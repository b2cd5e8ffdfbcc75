"""Figures 13 and 14: HIST learns what HEEB knows, under a trend with little and with much noise."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from recollect import compare
from recollect.policies.heeb import Heeb
from recollect_papers.catalogue.stochastic import trends
from recollect_papers.experiment import (
    Experiment,
    Point,
    Rows,
    Scale,
    agreement,
    mean_over_seeds,
)
from recollect_papers.figure import Figure
from recollect_papers.replication import Finding
from recollect_papers.stochastic.configurations import law_of
from recollect_papers.stochastic.results import WARM_UP

BOUNDS = {1: 10, 8: 32}
"""Of the noise, by its deviation; the paper does not say them. Beyond four deviations is little."""
SIZES = (2, 5, 10, 15, 20, 30, 40, 50)
LITTLE, MUCH = "noise σ = 1", "noise σ = 8"
MORE = "HIST, 32 buckets"
POLICIES = {"RAND": "rand", "HIST": "hist:buckets=10", MORE: "hist:buckets=32"}
LATER_PAIRS = "left.time != right.time"
"""As in the paper, tuples of the same step do not meet."""
PER_POINT = 5


def points(scale: Scale) -> list[Point]:
    """Give some runs at a time."""
    seeds = list(scale.seeds(50 if scale.full else 5))
    return [
        {"deviation": deviation, "steps": 5_000, "seeds": seeds[start : start + PER_POINT]}
        for deviation in BOUNDS
        for start in range(0, len(seeds), PER_POINT)
    ]


def measure(deviation: int, steps: int, seeds: Sequence[int]) -> Rows:
    """Count the results of all runs, also of their second halves alone."""
    rows = []
    for seed in seeds:
        warm, half, all_ = (
            _counted(deviation, part, seed) for part in (WARM_UP, steps // 2, steps)
        )
        rows += [
            {
                "noise": f"noise σ = {deviation}", "policy": policy, "cache": cache, "seed": seed,
                "results": all_[policy, cache] - warm[policy, cache],
                "later": all_[policy, cache] - half[policy, cache],
            }
            for policy, cache in all_
        ]  # fmt: skip
    return rows


def _counted(deviation: int, steps: int, seed: int) -> dict[tuple[str, int], int]:
    """Count the results of so many steps, from the first one on."""
    bound = BOUNDS[deviation]
    load = trends(steps, seed, (deviation, deviation), (bound, bound))
    left, right = load.streams.values()
    policies = POLICIES | {"HEEB": Heeb(left=law_of(left), right=law_of(right))}
    runs = compare(
        left, right, policies=list(policies.values()), budgets=SIZES, where=LATER_PAIRS, seed=seed,
        **load.query,
    ).runs  # fmt: skip
    names = [(policy, cache) for policy in policies for cache in SIZES]
    return dict(zip(names, (run.results for run in runs), strict=True))


def tabulate(rows: Rows) -> Rows:
    """Average over the runs."""
    return mean_over_seeds(rows, ["noise", "policy", "cache"], ["results", "later"])


class Curves:
    """The rows, to be asked for what the claims are about."""

    def __init__(self, rows: Rows) -> None:
        self.rows = {(row["noise"], row["policy"], row["cache"]): row for row in rows}

    def by(self, noise: str, policy: str, base: str, column: str = "results") -> dict[int, float]:
        """By size of the cache: what a policy has by what another one has."""
        return {
            cache: self.rows[noise, policy, cache][column]
            / max(1, self.rows[noise, base, cache][column])
            for cache in SIZES
        }


def judge(rows: Rows) -> list[Finding]:
    """Compare HIST with what it learns to be, and with knowing nothing."""
    curves = Curves(rows)
    return [
        _of_little_noise(curves),
        _of_gain(curves),
        _of_much_noise(curves),
        _of_better_than_rand(curves),
        _of_advantage(curves),
    ]


def _of_little_noise(curves: Curves) -> Finding:
    shares = curves.by(LITTLE, "HIST", "HEEB")
    least = min(shares.values())
    return Finding(
        "With little noise (figure 13) HIST is almost as good as computed HEEB.",
        "yes" if least >= 0.95 else "partly" if least >= 0.85 else "no",
        f"Of HEEB's results HIST has {_listed(shares)} tuples.",
        "" if least >= 0.95 else _reason(curves, LITTLE),
    )


def _of_gain(curves: Curves) -> Finding:
    shares = curves.by(LITTLE, "HIST", "RAND")
    room = [cache for cache, share in curves.by(LITTLE, "RAND", "HEEB").items() if share < 0.95]
    much = [cache for cache in room if shares[cache] >= 1.1]
    return Finding(
        "With little noise HIST is much better than RAND.",
        "yes" if len(much) == len(room) else "partly" if much else "no",
        f"Of RAND's results HIST has {_listed(shares)} tuples.",
        "" if len(much) == len(room) else
        "The larger the cache, the less there is to gain: HEEB has"
        f" {_listed(curves.by(LITTLE, 'HEEB', 'RAND'))} tuples.",
    )  # fmt: skip


def _of_much_noise(curves: Curves) -> Finding:
    shares = curves.by(MUCH, "HIST", "HEEB")
    return agreement(
        "With much noise (figure 14) there is a gap, but HIST has no less than roughly 90 % of"
        " computed HEEB.",
        0.87 <= min(shares.values()) < 0.97,
        f"Of HEEB's results HIST has {_listed(shares)} tuples. With 32 buckets instead of 10 it has"
        f" {_listed(curves.by(MUCH, MORE, 'HEEB'))} tuples.",
        _reason(curves, MUCH),
    )


def _of_better_than_rand(curves: Curves) -> Finding:
    shares = curves.by(MUCH, "HIST", "RAND")
    return agreement(
        "With much noise HIST still performs better than RAND.",
        min(shares.values()) > 1,
        f"Of RAND's results HIST has {_listed(shares)} tuples.",
        "We do not know.",
    )


def _of_advantage(curves: Curves) -> Finding:
    gains = {noise: curves.by(noise, "HEEB", "RAND") for noise in (LITTLE, MUCH)}
    return agreement(
        "The advantages of HEEB and HIST over RAND are smaller with much noise.",
        fmean(gains[MUCH].values()) < fmean(gains[LITTLE].values()),
        f"Of RAND's results HEEB has {_listed(gains[LITTLE])} tuples and little noise,"
        f" {_listed(gains[MUCH])} tuples and much.",
        "With little noise few tuples are worth keeping at any time, so that RAND soon has room for"
        " all of them.",
    )


def _reason(curves: Curves, noise: str) -> str:
    later = curves.by(noise, "HIST", "HEEB", "later")
    worst = min(later, key=lambda cache: later[cache])
    return (
        "That is not the time it takes to learn: in the second half of the runs it has"
        f" {later[worst]:.0%} with {worst} tuples."
    )


def _listed(shares: Mapping[int, float]) -> str:
    return ", ".join(f"{share:.0%} with {cache}" for cache, share in shares.items())


EXPERIMENT = Experiment(
    name="figure-13-14",
    title="Figures 13 and 14: HIST, which learns what HEEB knows",
    shows="Results of the library's join, after 200 steps to warm up, by the size of the cache: two"
    " streams under a trend, R one step behind S, with little noise (figure 13) and with much"
    " (figure 14). HIST has 10 buckets as in the paper, or 32. The mean of 50 runs of"
    " 5,000 steps, at the small scale 5.",
    points=points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure("cache", "results", "policy", panels="noise", titles={"cache": "cache (tuples)"}),
    judge=judge,
)
