"""Figure 5: how fast points should fade."""

from collections.abc import Callable, Sequence

from recollect_papers.clock.claims import LARGE, Lines, above, by_cache
from recollect_papers.clock.queries import SRBENCH, VISTA, present
from recollect_papers.clock.recalls import STRATEGIES, measure, points
from recollect_papers.clock.recalls import tabulate as averaged
from recollect_papers.experiment import Experiment, Point, Row, Rows, Scale
from recollect_papers.figure import Figure
from recollect_papers.replication import Finding

RATES = (0.25, 0.5, 0.75, 0.95)
FIRST = {"1": "", "0.01": ",w0=0.01"}
"""The points of a newcomer, and how a strategy is told. 0.01 is the threshold of CLOCK_exp: such a
newcomer leaves when the hand comes by, as with CLOCK, if it has not matched."""
EXPONENTIAL = [f"clock-exp:rho={rate}{first}" for first in FIRST.values() for rate in RATES]
OTHERS = ("lru", "clock")
COPIED = ("recall", "recall_std", "recall_by_lru", "recall_by_lru_std", "runs")
SLOWEST = RATES[-1]
SMALL = 5
"""Percent of the mean need: a small cache."""
MATTERS = 1.2
"""How many times the worst recall the best must be for the rate to matter."""


def all_points(scale: Scale) -> list[Point]:
    """Return those of figure 3, for LRU and CLOCK, and those of CLOCK_exp."""
    return [
        point
        for policies in (STRATEGIES, EXPONENTIAL)
        for point in points(policies, paper_only=True)(scale)
    ]


def tabulate(rows: Rows) -> Rows:
    """Return for each query and each w0 of CLOCK_exp a table as in the paper."""
    means = [row for row in averaged(rows) if row["cache"] < LARGE]
    table: list[Row] = []
    for query in dict.fromkeys(row["query"] for row in means):
        for first, told in FIRST.items():
            called = {policy: policy for policy in OTHERS}
            called |= {f"clock-exp:rho={rate}{told}": f"clock-exp {rate}" for rate in RATES}
            for policy, name in called.items():
                table += [
                    {
                        "query": query,
                        "w0": first,
                        "panel": f"{query}, w0 = {first}",
                        "policy": name,
                        "cache": row["cache"],
                        **{name: row[name] for name in COPIED},
                    }
                    for row in means
                    if (row["query"], row["policy"]) == (query, policy)
                ]
    return table


def judge(rows: Rows) -> list[Finding]:
    """Say for either w0 what the rate does."""
    srbench, vista = present(rows, SRBENCH), present(rows, VISTA)
    return [
        _for_either(
            f"The rate ρ has a profound influence on recall (here with a cache of {SMALL} %).",
            rows,
            srbench + vista,
            _matters,
            "With 1 point a newcomer stays for 4 rounds of the hand if ρ = 0.25 and for 90 if it is"
            " 0.95; a match adds few rounds to these, so that all of them are much like LRU.",
        ),
        _for_either(
            f"{SRBENCH}: ρ = 0.95 is best.",
            rows,
            srbench,
            _slow_is_best,
            "A long memory is best in small caches only; in larger ones the rates hardly differ.",
        ),
        _for_either(
            f"{VISTA}: with small caches a smaller ρ, 0.5, is best.",
            rows,
            vista,
            _fast_is_best,
            "We do not know what of a stream decides it.",
        ),
        _for_either(
            "With a good ρ, CLOCK_exp recalls more than CLOCK.",
            rows,
            srbench + vista,
            _beats_clock,
            "How long a newcomer may stay, so w0, counts more than ρ: where CLOCK is better with"
            " one point than with two (figure 3), CLOCK_exp is mostly better with 0.01 than with 1,"
            " and the other way round.",
        ),
    ]


def _for_either(
    claim: str,
    rows: Rows,
    queries: Sequence[str],
    look: Callable[[dict[int, Lines]], tuple[bool, str]],
    why: str,
) -> Finding:
    """Judge a claim for either w0; one is enough, for the paper does not say which it has."""
    held: dict[str, list[bool]] = {}
    texts = []
    for first in FIRST:
        table = [row for row in rows if row["w0"] == first]
        seen = {query: look(by_cache(table, query)) for query in queries}
        held[first] = [holds for holds, _ in seen.values()]
        each = "; ".join(f"{query} {text}" for query, (_, text) in seen.items())
        texts.append(f"With w0 = {first}: {each}.")
    enough = [first for first, mine in held.items() if all(mine)]
    if enough:
        return Finding(claim, "yes", f"{' '.join(texts)} So it holds with w0 = {enough[0]}.")
    some = any(any(mine) for mine in held.values())
    return Finding(claim, "partly" if some else "no", " ".join(texts), why)


def _rates(lines: Lines) -> dict[float, Row]:
    return {rate: lines[f"clock-exp {rate}"] for rate in RATES}


def _best(lines: Lines) -> float:
    rates = _rates(lines)
    return max(rates, key=lambda rate: rates[rate]["recall"])


def _matters(caches: dict[int, Lines]) -> tuple[bool, str]:
    recalls = [row["recall"] for row in _rates(caches[SMALL]).values()]
    least, most = min(recalls), max(recalls)
    return most >= MATTERS * least, f"{least:.3f} to {most:.3f}"


def _slow_is_best(caches: dict[int, Lines]) -> tuple[bool, str]:
    rates = {cache: _rates(lines) for cache, lines in caches.items()}
    beaten = [
        cache
        for cache, rows in rates.items()
        if any(above(rows[rate], rows[SLOWEST]) for rate in RATES)
    ]
    least, most = rates[SMALL][RATES[0]], rates[SMALL][SLOWEST]
    text = ", ".join(f"with {cache} % by {_best(caches[cache])}" for cache in beaten)
    return not beaten and above(most, least), (
        f"{most['recall']:.3f} with {SMALL} % ({least['recall']:.3f} if ρ = {RATES[0]}),"
        f" {'beaten ' + text if beaten else 'never beaten'}"
    )


def _fast_is_best(caches: dict[int, Lines]) -> tuple[bool, str]:
    lines = caches[SMALL]
    rates = _rates(lines)
    best = _best(lines)
    text = f"best {best} with {SMALL} %, {rates[best]['recall']:.3f}"
    text += f" against {rates[SLOWEST]['recall']:.3f} with {SLOWEST}"
    return best <= 0.5 and above(rates[best], rates[SLOWEST]), text


def _beats_clock(caches: dict[int, Lines]) -> tuple[bool, str]:
    pairs = [(_rates(lines)[_best(lines)], lines["clock"]) for lines in caches.values()]
    ahead = sum(above(one, clock) for one, clock in pairs)
    behind = sum(above(clock, one) for one, clock in pairs)
    lines = caches[SMALL]
    recalls = [row["recall"] for row in (_rates(lines)[_best(lines)], lines["clock"])]
    return ahead > 0 and behind == 0, (
        f"ahead at {ahead} of {len(caches)} cache sizes, behind at {behind} ({recalls[0]:.3f}"
        f" against {recalls[1]:.3f} with {SMALL} %)"
    )


EXPERIMENT = Experiment(
    name="figure-5",
    title="Figure 5: tuning CLOCK_exp",
    shows="CLOCK takes a point at each round of the hand; CLOCK_exp multiplies the points by ρ, and"
    " evicts below 0.01. With SRBench ρ = 0.95 is best, with ViSTA-TV and a small cache 0.5, and"
    " better than CLOCK. The paper does not say with how many points w0 a newcomer starts: here are"
    " 1, as with CLOCK, and 0.01, with which it leaves when the hand comes by, as with CLOCK, if it"
    " has not matched. The streams are those of figure 2.",
    points=all_points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure(
        "cache", "recall_by_lru", series="policy", panels="panel", log="x",
        titles={"cache": "cache, % of the mean need", "recall_by_lru": "recall / recall of LRU"},
    ),
    judge=judge,
)  # fmt: skip
