"""Figure 8: two joins at once, while the skew of one attribute changes in both streams."""

from collections.abc import Sequence
from math import sqrt

from recollect_papers.claims import ERRORS
from recollect_papers.experiment import Experiment, Point, Row, Rows, Scale, mean_over_seeds
from recollect_papers.figure import Figure
from recollect_papers.gdj.attributes import CREDIT, LAWS, attribute_streams
from recollect_papers.gdj.claims import per_input
from recollect_papers.gdj.comparing import short
from recollect_papers.gdj.joined import BUFFER, on_all, prepared
from recollect_papers.replication import Finding

SKEWS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5)
FEW = (0.1, 0.5, 0.8, 1.1, 1.5)
SMALL, LARGE = 0.5, 0.8
"""Skews up to the first and from the second on."""
DIFFERENCE = "GDJ − PROB"
PANELS = ("PROB", "GDJ", DIFFERENCE)


def points(scale: Scale) -> Sequence[Point]:
    """One per law, seed and skew of the left stream."""
    skews = SKEWS if scale.full else FEW
    return [
        {"law": law, "left": left, "rights": list(skews), "seed": seed}
        for law in LAWS
        for left in skews
        for seed in scale.seeds(3)
    ]


def measure(law: str, left: float, rights: Sequence[float], seed: int) -> Rows:
    """Return what is found of a join on a uniform attribute and one on a skewed one."""
    joins = {key: on_all("RS", [key]) for key in ("key_1", "key_2")}
    rows = []
    for right in rights:
        ready = prepared(attribute_streams(law, ((0.0, left), (0.0, right)), seed), joins)
        rows += [
            {
                "input": law,
                "left": left,
                "right": right,
                "seed": seed,
                "policy": short(policy),
                "recall": run.recall,
                "results": run.results,
            }
            for policy in ("prob", CREDIT)
            for run in [ready.run(policy, BUFFER, "rate", seed)]
        ]
    return rows


def tabulate(rows: Rows) -> Rows:
    """Average both policies, and their difference, over seeds."""
    by, of = ["input", "policy", "left", "right"], ["recall", "results"]
    means = mean_over_seeds([*rows, *differences(rows)], by, of)
    means.sort(key=lambda row: (LAWS.index(row["input"]), PANELS.index(row["policy"])))
    return [{**mean, "panel": f"{mean['policy']}, {mean['input']}"} for mean in means]


def differences(rows: Rows) -> list[Row]:
    """Return by how much GDJ is above PROB on the same streams."""
    cells: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in rows:
        cell = tuple(row[name] for name in ("input", "left", "right", "seed"))
        cells.setdefault(cell, {})[row["policy"]] = row
    return [
        {**cell["GDJ"], "policy": DIFFERENCE}
        | {name: cell["GDJ"][name] - cell["PROB"][name] for name in ("recall", "results")}
        for cell in cells.values()
    ]


def judge(rows: Rows) -> Sequence[Finding]:
    """Look where which policy is better."""

    def more(mine: Rows) -> tuple[bool, str]:
        curves = [
            [row["results"] for row in mine if row["policy"] == p and row["left"] == row["right"]]
            for p in ("PROB", "GDJ")
        ]
        text = ", ".join(f"{curve[0]:,.0f} to {curve[-1]:,.0f}" for curve in curves)
        return all(curve == sorted(curve) for curve in curves), f"{text} results of PROB and GDJ"

    def prob_first(mine: Rows) -> tuple[bool, str]:
        cells = [row for row in gaps(mine) if max(row["left"], row["right"]) <= SMALL]
        won = [row for row in cells if sure(row) < 0]
        return bool(won), f"PROB is better in {len(won)} of {len(cells)} cells"

    def gdj_later(mine: Rows) -> tuple[bool, str]:
        cells = [row for row in gaps(mine) if min(row["left"], row["right"]) >= LARGE]
        won = [row for row in cells if sure(row) > 0]
        everywhere = [row for row in gaps(mine) if sure(row) > 0]
        best = max(gaps(mine), key=lambda row: row["recall"])
        return len(won) == len(cells), (
            f"GDJ is better in {len(won)} of {len(cells)} such cells, and in {len(everywhere)} of"
            f" all {len(gaps(mine))}; its best is {best['recall']:+.3f} at skews {best['left']} and"
            f" {best['right']}"
        )

    return [
        per_input(
            "Both policies give more results as the second attribute gets more skewed.",
            rows, LAWS, more,
        ),
        per_input("For some small skews PROB is better.", rows, LAWS, prob_first),
        per_input(
            "For large skews GDJ is better.", rows, LAWS, gdj_later,
            "Rather the other way round: popularity never changes in these streams, so that PROB"
            " knows more, the more skewed they are. Flurries are what is left to GDJ where there is"
            " no skew; independent attributes do not have them either.",
        ),
    ]  # fmt: skip


def gaps(rows: Rows) -> list[Row]:
    """Return the rows with the differences."""
    return [row for row in rows if row["policy"] == DIFFERENCE]


def sure(gap: Row) -> int:
    """Return who is better, 1 for GDJ and -1 for PROB, or 0 if it may be chance.

    >>> sure({"recall": -0.02, "recall_std": 0.01, "runs": 4})
    -1
    """
    if abs(gap["recall"]) <= ERRORS * gap["recall_std"] / sqrt(gap["runs"]):
        return 0
    return 1 if gap["recall"] > 0 else -1


EXPERIMENT = Experiment(
    name="figure-8",
    title="Figure 8: skew",
    shows="Two joins of the same two streams at once, on a uniform attribute and on one whose skew"
    " goes from 0.1 to 1.5 in each stream; buffer of 20 %. In the paper both policies give more"
    " with more skew, PROB is better for some small skews, and GDJ for large ones. The colour is"
    " the recall, and in the last column that of GDJ less that of PROB.",
    points=points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure(
        "left", "right", "recall", "panel", "heat",
        titles={"left": "skew of the left stream", "right": "skew of the right stream"},
    ),
    judge=judge,
)  # fmt: skip
