"""Figure 8: all algorithms on TOWER, ROOF, FLOOR and WALK, with a cache of 10."""

from collections.abc import Iterable

from recollect_papers.experiment import Experiment, Point, Rows, Scale, agreement, mean_over_seeds
from recollect_papers.figure import Figure
from recollect_papers.replication import Finding
from recollect_papers.stochastic.results import (
    LOOK_AHEAD,
    OPT,
    TITLES,
    TRENDS,
    measure,
    points_of,
)
from recollect_papers.stochastic.scores import LIFE_PLUS_ONE, LIFETIME_HEEB, SCORES
from recollect_papers.stochastic.shares import against_heeb, with_share

CACHE = 10
FLOWEXPECT, ONE_STEP = LOOK_AHEAD
ALL = tuple(TITLES.values())
TREND = tuple(TITLES[name] for name in TRENDS)
WALK = TITLES["walk"]
OURS = (ONE_STEP, LIFE_PLUS_ONE, LIFETIME_HEEB)
OF_PAPER, VARIANTS = "the paper's algorithms", "variants of ours"


def points(scale: Scale) -> list[Point]:
    """Give all algorithms the same runs, but few: FLOWEXPECT takes ten seconds for one."""
    steps, seeds = (5_000, scale.seeds(4)) if scale.full else (1_500, scale.seeds(3))
    return [
        point
        for configuration in TITLES
        for algorithm in (OPT, *LOOK_AHEAD, *SCORES)
        if configuration in TRENDS or not algorithm.startswith("LIFE")
        for point in points_of(configuration, steps, CACHE, algorithm, seeds)
    ]


def tabulate(rows: Rows) -> Rows:
    """Average the results, and what they are by HEEB's and by the optimum in the same run."""
    compared = with_share(with_share(rows, "HEEB", "of_heeb"), OPT, "of_optimum")
    means = mean_over_seeds(
        compared, ["configuration", "algorithm"], ["results", "of_heeb", "of_optimum"]
    )
    best = {row["configuration"]: row["results"] for row in means if row["algorithm"] == OPT}
    return [
        row
        | {"optimum": best[row["configuration"]]}
        | {"algorithms": VARIANTS if row["algorithm"] in OURS else OF_PAPER}
        for row in means
        if row["algorithm"] != OPT
    ]


class Table:
    """The rows, to be asked for what the claims are about."""

    def __init__(self, rows: Rows) -> None:
        self.rows = {(row["configuration"], row["algorithm"]): row for row in rows}
        self.results = {key: float(row["results"]) for key, row in self.rows.items()}
        self.results |= {(row["configuration"], OPT): float(row["optimum"]) for row in rows}

    def share(self, configuration: str, algorithm: str, base: str) -> float:
        """What an algorithm has by what another one has."""
        return self.results[configuration, algorithm] / max(1, self.results[configuration, base])

    def shares(self, algorithm: str, base: str, configurations: Iterable[str] = ALL) -> str:
        """The same in words."""
        found = [f"{self.share(c, algorithm, base):.1%} on {c}" for c in configurations]
        return ", ".join(found)

    def against_heeb(self, configuration: str, algorithm: str) -> int:
        """Tell whether it is better (1) or worse (-1) than HEEB."""
        return against_heeb(self.rows[configuration, algorithm])


def judge(rows: Rows) -> list[Finding]:
    """Compare the algorithms."""
    table = Table(rows)
    return [
        _of_optimum(table),
        _of_heuristics(table),
        _of_flowexpect(table),
        _of_frequencies(table),
        _of_lifetimes(table),
        _of_noise(table),
        _of_walks(table),
    ]


def _of_optimum(table: Table) -> Finding:
    return agreement(
        "OPT-offline wins across the board.",
        all(table.share(*row, OPT) <= 1 for row in table.rows),
        f"Of its results, HEEB has {table.shares('HEEB', OPT)}.",
    )


def _of_heuristics(table: Table) -> Finding:
    others = [(c, name) for c, name in table.rows if name in ("RAND", "PROB", "LIFE")]
    signs = {table.against_heeb(*other) for other in others}
    return Finding(
        "HEEB beats RAND, PROB and LIFE consistently.",
        "no" if 1 in signs else "partly" if 0 in signs else "yes",
        f"Of HEEB's results, RAND has {table.shares('RAND', 'HEEB')}; PROB"
        f" {table.shares('PROB', 'HEEB')}; LIFE {table.shares('LIFE', 'HEEB', TREND)}.",
        "" if signs == {-1} else "Where runs differ much, there are too few of them to tell.",
    )


def _of_flowexpect(table: Table) -> Finding:
    sign = {c: table.against_heeb(c, FLOWEXPECT) for c in ALL}
    worse = [c for c in ALL if sign[c] < 0]
    better = [c for c in ALL if sign[c] > 0]
    verdict = "yes" if len(worse) > 2 else "partly" if worse else "no"
    return Finding(
        "HEEB beats even FLOWEXPECT in most cases.",
        verdict,
        f"Of HEEB's results, FLOWEXPECT has {table.shares(FLOWEXPECT, 'HEEB')} when it looks 10"
        f" steps ahead, and {table.shares(ONE_STEP, 'HEEB')} when it looks 1 step ahead. With 10"
        f" steps it is clearly behind on {_names(worse)}, clearly ahead on {_names(better)}.",
        ""
        if verdict == "yes"
        else "The paper does not say how far its FLOWEXPECT looked. Under a trend, HEEB takes"
        " tuples to stay for 12.5 steps, half the bounds of the noise, as the paper does; but two"
        " tuples come at each step, so they stay for 5. With L for 5 steps HEEB has"
        f" {table.shares(LIFETIME_HEEB, 'HEEB')} of its results with the paper's L.",
    )


def _of_frequencies(table: Table) -> Finding:
    behind = [
        c for c in TREND if max(table.share(c, name, "RAND") for name in ("PROB", "LIFE")) < 1
    ]
    return Finding(
        "PROB and LIFE do not work well under a trend; RAND, though oblivious, is fairly"
        " competitive.",
        "yes" if len(behind) == len(TREND) else "partly" if behind else "no",
        f"Of RAND's results, PROB has {table.shares('PROB', 'RAND', TREND)}; LIFE"
        f" {table.shares('LIFE', 'RAND', TREND)}.",
        ""
        if len(behind) == len(TREND)
        else "On FLOOR the future is so uncertain that it hardly matters what is kept.",
    )


def _of_lifetimes(table: Table) -> Finding:
    return agreement(
        "LIFE fares better than PROB under a trend, because new arrivals live longer.",
        all(table.share(c, "LIFE", "PROB") > 1 for c in TREND),
        f"Of PROB's results, LIFE has {table.shares('LIFE', 'PROB', TREND)}.",
        "A value that the other stream has not shown yet has frequency 0, and no lifetime makes"
        " more of that. If every value counts as seen once before, LIFE has"
        f" {table.shares(LIFE_PLUS_ONE, 'PROB', TREND)} of PROB's results.",
    )


def _of_noise(table: Table) -> Finding:
    tower, roof, floor = (table.results[c, "HEEB"] - table.results[c, "RAND"] for c in TREND)
    least = min(tower, roof)
    falls = tower > 1.05 * roof and roof > 1.05 * floor > 0
    return Finding(
        "The advantage over RAND, PROB and LIFE is huge on TOWER and diminishes over ROOF to FLOOR,"
        " as the noise grows.",
        "yes" if falls else "partly" if floor < least / 2 and least > 0 else "no",
        f"HEEB has {tower:,.0f} results more than RAND on TOWER, {roof:,.0f} on ROOF, {floor:,.0f}"
        f" on FLOOR; of RAND's results it has {table.shares('HEEB', 'RAND', TREND)}.",
        ""
        if falls
        else "On ROOF more tuples may still meet a partner than fit, so RAND loses more: it has"
        f" {table.shares('RAND', OPT, TREND)} of the optimum.",
    )


def _of_walks(table: Table) -> Finding:
    informed, blind = ("HEEB", FLOWEXPECT), ("RAND", "PROB")
    shares = {name: table.share(WALK, name, OPT) for name in informed + blind}
    edge = min(shares[name] for name in informed) > max(shares[name] for name in blind)
    return agreement(
        "On WALK, HEEB and FLOWEXPECT have an edge over RAND and PROB, but none comes close to"
        " OPT-offline.",
        edge and max(shares.values()) < 0.5,
        "Of its results, "
        + ", ".join(f"{name} has {share:.1%}" for name, share in shares.items())
        + ".",
        "We do not know.",
    )


def _names(configurations: list[str]) -> str:
    return ", ".join(configurations) or "none"


EXPERIMENT = Experiment(
    name="figure-8",
    title="Figure 8: comparison across configurations",
    shows="Results with a cache of 10 tuples for both streams, after 200 steps to warm up, as"
    " shares of OPT-offline's in the same run; the mean of few runs (4 of 5,000 steps, at the small"
    " scale 3 of 1,500; the paper has 50). FLOWEXPECT looks 10 steps ahead. Three variants are"
    " ours: FLOWEXPECT that looks 1 step ahead, LIFE where every value counts as seen once before,"
    " and HEEB that takes tuples to stay for as many steps as half the cache has places.",
    points=points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure(
        "configuration", "of_optimum", "algorithm", panels="algorithms", kind="bars",
        error="of_optimum_std", titles={"of_optimum": "results by the optimum"},
    ),
    judge=judge,
)  # fmt: skip
