"""Figures 9 to 12: the effect of the size of the cache, on TOWER, ROOF, FLOOR and WALK."""

from collections.abc import Callable
from itertools import pairwise
from math import inf

from recollect_papers.experiment import Experiment, Point, Rows, Scale, agreement, mean_over_seeds
from recollect_papers.figure import Figure
from recollect_papers.replication import Finding
from recollect_papers.stochastic.results import (
    OPT,
    TITLES,
    TRENDS,
    WARM_UP,
    measure,
    points_of,
)
from recollect_papers.stochastic.shares import against_heeb, with_share

ONLINE = ("RAND", "PROB", "LIFE", "HEEB")
SMALL, FULL = (1, 5, 10, 20, 50), (1, 2, 5, 10, 15, 20, 30, 50)
OF_WALK = (1, 10, 50)
"""Where there is an optimum of WALK, whose networks take ten seconds each."""
CLOSE, CAUGHT_UP = 0.9, 0.99
"""Shares of the optimum."""
CATCH_UP = (
    "With more memory all algorithms perform better and eventually catch up with OPT-offline."
)
NEVER = "With more memory all algorithms perform better, but none catches up with OPT-offline."
FASTER = "HEEB converges to OPT-offline much faster than the other heuristics."
MODEST = "HEEB still does well, but not as spectacularly as on TOWER and ROOF."
EDGE = "HEEB has an edge over RAND and PROB."


def points_for(configuration: str) -> Callable[[Scale], list[Point]]:
    """Give all algorithms the same runs, at each size of the cache."""
    trend = configuration in TRENDS

    def points(scale: Scale) -> list[Point]:
        steps, seeds = 2_000, scale.seeds(5)
        if scale.full:
            steps, seeds = 5_000, scale.seeds(50 if trend else 6)
        return [
            point
            for algorithm in (OPT, *ONLINE)
            if trend or algorithm != "LIFE"
            for cache in (FULL if scale.full else SMALL)
            if trend or algorithm != OPT or cache in OF_WALK
            for point in points_of(configuration, steps, cache, algorithm, seeds)
        ]

    return points


def tabulate(rows: Rows) -> Rows:
    """Average the results, and what they are by HEEB's in the same run."""
    by = ["configuration", "algorithm", "cache"]
    return mean_over_seeds(with_share(rows, "HEEB", "of_heeb"), by, ["results", "of_heeb"])


class Curves:
    """The rows of a configuration, to be asked for what the claims are about."""

    def __init__(self, rows: Rows) -> None:
        self.rows = {(row["algorithm"], row["cache"]): row for row in rows}
        self.online = [name for name in ONLINE if any(name == other for other, _ in self.rows)]
        self.caches = [cache for name, cache in self.rows if name == OPT]
        """Where there is an optimum."""

    def grow(self) -> bool:
        """Whether all do better the more memory they have, within a percent."""
        return all(
            self.rows[name, more]["results"] >= 0.99 * self.rows[name, less]["results"]
            for name in self.online
            for less, more in pairwise(cache for other, cache in self.rows if other == name)
        )

    def of_optimum(self, cache: int) -> dict[str, float]:
        """What the algorithms have by the optimum."""
        best = max(1, self.rows[OPT, cache]["results"])
        return {name: self.rows[name, cache]["results"] / best for name in self.online}

    def needed(self) -> dict[str, int]:
        """By algorithm: the smallest cache with which it comes close to the optimum."""
        shares = {cache: self.of_optimum(cache) for cache in self.caches}
        close = {name: [c for c in shares if shares[c][name] >= CLOSE] for name in self.online}
        return {name: min(caches) for name, caches in close.items() if caches}

    def against_heeb(self, sign: int) -> list[str]:
        """Where others are clearly ahead of HEEB (1), behind (-1), or about as good (0)."""
        return [
            f"{name} with {cache}"
            for (name, cache), row in self.rows.items()
            if name in self.online and name != "HEEB" and against_heeb(row) == sign
        ]

    def spread(self) -> tuple[float, int]:
        """The largest standard deviation between runs by the mean, and the size of the cache.

        Caches of less than ten tuples are left out as extremely small.
        """
        found = (
            (row["results_std"] / max(1, row["results"]), c) for (_, c), row in self.rows.items()
        )
        return max(pair for pair in found if pair[1] >= 10)


def judge_convergence(rows: Rows) -> list[Finding]:
    """Look for when algorithms catch up, for TOWER and ROOF."""
    curves = Curves(rows)
    return [
        _of_catching_up(curves),
        agreement(
            FASTER,
            _is_faster(curves),
            _close(curves),
            "With so few sizes of the cache it is hard to tell.",
        ),
        _of_runs(curves),
    ]


def judge_floor(rows: Rows) -> list[Finding]:
    """Look for when algorithms catch up, and which one leads."""
    curves = Curves(rows)
    ahead = curves.against_heeb(1)
    return [
        _of_catching_up(curves),
        agreement(
            MODEST,
            not ahead and not _is_faster(curves),
            f"{_close(curves)} {_standing(curves)}",
            "We do not know.",
        ),
        _of_runs(curves),
    ]


def judge_walk(rows: Rows) -> list[Finding]:
    """Look for whether any comes near the optimum."""
    curves = Curves(rows)
    best = {cache: max(curves.of_optimum(cache).values()) for cache in curves.caches}
    ahead, behind, even = (curves.against_heeb(sign) for sign in (1, -1, 0))
    return [
        agreement(
            NEVER,
            curves.grow() and max(best.values()) < CLOSE,
            "Of its results, the best of the others has "
            + ", ".join(f"{share:.0%} with {cache}" for cache, share in best.items())
            + " tuples.",
            "We do not know.",
        ),
        Finding(
            EDGE,
            "yes" if not ahead + even else "partly" if behind and not ahead else "no",
            _standing(curves),
            "Where runs differ much, there are too few of them to tell." if even else "",
        ),
    ]


def _of_catching_up(curves: Curves) -> Finding:
    largest = curves.caches[-1]
    shares = curves.of_optimum(largest).items()
    return agreement(
        CATCH_UP,
        curves.grow() and min(share for _, share in shares) >= CAUGHT_UP,
        f"With {largest} tuples, of its results "
        + ", ".join(f"{name} has {share:.1%}" for name, share in shares)
        + ".",
        "We do not know.",
    )


def _of_runs(curves: Curves) -> Finding:
    spread, cache = curves.spread()
    return agreement(
        "Runs differ by less than 5 %, but for extremely small caches.",
        spread < 0.05,
        "From 10 tuples on, the largest standard deviation between runs is"
        f" {spread:.1%} of the mean (with {cache} tuples).",
        "Short runs differ more.",
    )


def _is_faster(curves: Curves) -> bool:
    """Whether HEEB needs at most half the cache of any other to come close to the optimum."""
    needed = curves.needed()
    others = [cache for name, cache in needed.items() if name != "HEEB"]
    return "HEEB" in needed and needed["HEEB"] <= min(others, default=inf) / 2


def _close(curves: Curves) -> str:
    found = ", ".join(f"{name} with {cache}" for name, cache in curves.needed().items())
    return f"To reach {CLOSE:.0%} of the optimum takes, of the sizes tried: {found} tuples."


def _standing(curves: Curves) -> str:
    ahead, behind, even = (curves.against_heeb(sign) for sign in (1, -1, 0))
    return (
        f"Of {len(ahead + behind + even)} comparisons with others, HEEB is clearly ahead in"
        f" {len(behind)}; about as good: {', '.join(even) or 'none'}; clearly behind:"
        f" {', '.join(ahead) or 'none'}."
    )


def _experiment(
    number: int, configuration: str, judge: Callable[[Rows], list[Finding]]
) -> Experiment:
    title = TITLES[configuration]
    runs = "50 runs" if configuration in TRENDS else "6 runs (the paper has 50)"
    return Experiment(
        name=f"figure-{number}",
        title=f"Figure {number}: {title}",
        shows=f"Results on {title} by the size of the cache, after {WARM_UP} steps to warm up;"
        f" the mean of {runs} of 5,000 steps, at the small scale 5 of 2,000.",
        points=points_for(configuration),
        measure=measure,
        tabulate=tabulate,
        figure=Figure("cache", "results", "algorithm", titles={"cache": "cache (tuples)"}),
        judge=judge,
    )


EXPERIMENTS = (
    _experiment(9, "tower", judge_convergence),
    _experiment(10, "roof", judge_convergence),
    _experiment(11, "floor", judge_floor),
    _experiment(12, "walk", judge_walk),
)
