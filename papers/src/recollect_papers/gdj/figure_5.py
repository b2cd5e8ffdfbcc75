"""Figure 5: recall over the length of the window, and over the number of different keys."""

from collections.abc import Callable, Sequence

import numpy as np

from recollect_papers.claims import above
from recollect_papers.experiment import Experiment, Point, Rows, Scale, mean_over_seeds
from recollect_papers.figure import Figure
from recollect_papers.gdj.claims import line, per_input, percent
from recollect_papers.gdj.comparing import compare, named
from recollect_papers.gdj.inputs import INPUTS, SHARED, STOCK, SYNTHETIC, gdj, sources
from recollect_papers.replication import Finding

PAPER = (STOCK, SYNTHETIC)
NAMES = (*PAPER, SHARED)
POLICIES = ("GDJ", "PROB", "AGE", "RAND")
DOMAINS = (50, 100, 200, 400, 800)
LITTLE = 0.05
"""Recalls that spread less than this do not depend on anything."""
FACTOR = 1.2
"""A large factor is at least this."""
UNLIKE = (
    "As in figure 4, PROB is better where popularity is the same in both streams and never changes."
)
NO_SURPLUS = (
    "Like FIFO, AGE keeps the youngest tuples, and where keys come in flurries these match most;"
    " credits add a little."
)


def window_points(scale: Scale) -> Sequence[Point]:
    """One per input, seed and window."""
    return [
        _point(source, window=window)
        for source in sources(scale, *NAMES)
        for window in INPUTS[source["name"]].windows
    ]


def domain_points(scale: Scale) -> Sequence[Point]:
    """One per input, seed and number of keys."""
    return [
        _point({**source, "keys": keys})
        for source in sources(scale, SYNTHETIC, SHARED)
        for keys in DOMAINS
    ]


def _point(source: Point, **more: int) -> Point:
    policies = [gdj(source["name"]), "prob", "age", "rand"]
    return {"source": source, "policies": policies, "buffers": [20.0], **more}


def by_window(rows: Rows) -> Rows:
    """Average over seeds."""
    means = mean_over_seeds(named(rows), ["input", "policy", "window"], ["recall"])
    return [{**mean, "panel": f"{mean['input']} ({INPUTS[mean['input']].unit})"} for mean in means]


def by_domain(rows: Rows) -> Rows:
    """Average over seeds."""
    return mean_over_seeds(named(rows), ["input", "policy", "keys"], ["recall", "results"])


def judge_windows(rows: Rows) -> Sequence[Finding]:
    """Look how much windows matter, and who is best."""

    def little(mine: Rows) -> tuple[bool, str]:
        spans = {policy: span(mine, policy) for policy in POLICIES}
        text = ", ".join(f"{p} {low:.2f} to {high:.2f}" for p, (low, high) in spans.items())
        return all(high - low <= LITTLE for low, high in spans.values()), text

    return [
        per_input(
            "The length of the window makes no difference to any policy.", rows, PAPER, little,
            "RAND and AGE keep a tuple for about a fifth of its window. The share of its matches"
            " that come in that time is not the same for all lengths, if equal keys come in"
            " flurries. GDJ learns from matches, of which a tuple has more in a longer window.",
        ),
        *by_far(rows, PAPER, "window", "length of the window"),
    ]  # fmt: skip


def judge_domains(rows: Rows) -> Sequence[Finding]:
    """Look how much the number of keys matters, and who is best."""

    def falls(mine: Rows) -> tuple[bool, str]:
        few, many = (line(mine, policy="GDJ", keys=keys) for keys in (DOMAINS[0], DOMAINS[-1]))
        shares = [share_of_top_fifth(keys) for keys in (DOMAINS[0], DOMAINS[-1])]
        return above(few, many), (
            f"with {few['keys']} and {many['keys']} keys GDJ finds {few['recall']:.2f} and"
            f" {many['recall']:.2f}, or {few['results']:,.0f} and {many['results']:,.0f} results;"
            f" {percent(shares[0])} and {percent(shares[1])} of all results are of a fifth of the"
            " keys"
        )

    return [
        per_input(
            "The more different keys, the less is found.", rows, [SYNTHETIC], falls,
            "The number of results falls, their share of the exact ones does not: with more keys,"
            " a fifth of them has more of the results, and a fifth is what can be kept.",
        ),
        *by_far(rows, [SYNTHETIC], "keys", "number of keys"),
    ]  # fmt: skip


def by_far(rows: Rows, names: Sequence[str], column: str, called: str) -> list[Finding]:
    """Judge by which factor GDJ is better than the others."""

    def against(other: str) -> Callable[[Rows], tuple[bool, str]]:
        def test(mine: Rows) -> tuple[bool, str]:
            factors = [
                line(mine, policy="GDJ", **{column: value})["recall"]
                / line(mine, policy=other, **{column: value})["recall"]
                for value in dict.fromkeys(row[column] for row in mine)
            ]
            least, most = min(factors), max(factors)
            return least >= FACTOR, f"{least:.2f} to {most:.2f} times as much"

        return test

    whys = {"PROB": UNLIKE, "AGE": NO_SURPLUS}
    return [
        per_input(
            f"GDJ finds much more than {other} for every {called}.",
            rows, names, against(other), why,
        )
        for other, why in whys.items()
    ]  # fmt: skip


def span(rows: Rows, policy: str) -> tuple[float, float]:
    """Return the least and the most that a policy finds."""
    found = [row["recall"] for row in rows if row["policy"] == policy]
    return min(found), max(found)


def share_of_top_fifth(keys: int, exponent: float = 0.75) -> float:
    """Return the share of the results of two Zipfian streams that is of their most popular keys.

    >>> round(share_of_top_fifth(50), 2), round(share_of_top_fifth(800), 2)
    (0.86, 0.97)
    """
    shares = np.arange(1, keys + 1) ** (-2 * exponent)
    return float(shares[: keys // 5].sum() / shares.sum())


WINDOWS = Experiment(
    name="figure-5-window",
    title="Figure 5 (windows)",
    shows="The paper varies the window of synthetic and stock streams, with a buffer of 20 %: GDJ"
    " is far above PROB and AGE for every length, and the length makes no difference. Streams with"
    " shared flurries (figure 4) are drawn, too.",
    points=window_points,
    measure=compare,
    tabulate=by_window,
    figure=Figure(
        "window", "recall", "policy", "panel", log="x", error="recall_std",
        titles={"window": "length of the window"},
    ),
    judge=judge_windows,
)  # fmt: skip

DOMAIN = Experiment(
    name="figure-5-domain",
    title="Figure 5 (domain)",
    shows="The paper varies the number of different keys of its synthetic streams, with a buffer of"
    " 20 %: all policies find less with more keys, and GDJ is far above PROB and AGE. Streams with"
    " shared flurries are drawn, too.",
    points=domain_points,
    measure=compare,
    tabulate=by_domain,
    figure=Figure(
        "keys", "recall", "policy", "input", log="x", error="recall_std",
        titles={"keys": "number of different keys"},
    ),
    judge=judge_domains,
)  # fmt: skip
