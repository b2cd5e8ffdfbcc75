"""Figure 3, right: how much credit a newcomer is given."""

from collections.abc import Sequence

from recollect_papers.claims import above
from recollect_papers.experiment import Experiment, Point, Rows, Scale, mean_over_seeds
from recollect_papers.figure import Figure
from recollect_papers.gdj.claims import UNKNOWN, line, per_input, percent
from recollect_papers.gdj.comparing import compare
from recollect_papers.gdj.inputs import INPUTS, SHARED, STOCK, SYNTHETIC, WEATHER, sources
from recollect_papers.replication import Finding

PAPER = (STOCK, WEATHER, SYNTHETIC)
PERCENTILES = (
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.836, 0.9, 0.95, 0.98, 0.995, 0.998, 1.0
)  # fmt: skip
FEW = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 0.836, 0.9, 0.995, 0.998, 1.0)
LEAST, MOST = 0.8, 0.998
"""Where the best percentiles of the paper lie."""
MUCH = 0.1
"""A percentile matters much if the worst one loses more than this share."""


def points(scale: Scale) -> Sequence[Point]:
    """One per input and seed."""
    policies = [f"gdj:percentile={p}" for p in (PERCENTILES if scale.full else FEW)]
    return [
        {"source": source, "policies": policies, "buffers": [20.0]}
        for source in sources(scale, *PAPER, SHARED)
    ]


def tabulate(rows: Rows) -> Rows:
    """Average over seeds."""
    rows = [{**row, "percentile": float(row["policy"].partition("=")[2])} for row in rows]
    return mean_over_seeds(rows, ["input", "percentile"], ["recall"])


def judge(rows: Rows) -> Sequence[Finding]:
    """Find the best percentile of each input, and what it gains."""

    def high(mine: Rows) -> tuple[bool, str]:
        best = max(mine, key=lambda row: row["recall"])
        inside = [row for row in mine if LEAST <= row["percentile"] <= MOST]
        good = max(inside, key=lambda row: row["recall"])
        paper = line(mine, percentile=INPUTS[mine[0]["input"]].paper)
        return not above(best, good), (
            f"best at {best['percentile']} with recall {best['recall']:.3f}, the paper's"
            f" {paper['percentile']} gives {paper['recall']:.3f}"
        )

    def matters(mine: Rows) -> tuple[bool, str]:
        best, worst = (pick(mine, key=lambda row: row["recall"]) for pick in (max, min))
        lost = 1 - worst["recall"] / best["recall"]
        return lost > MUCH, f"the worst, {worst['percentile']}, loses {percent(lost)} of the best"

    return [
        per_input(
            "The best initial credit lies between the percentiles 0.8 and 0.998.",
            rows, PAPER, high,
            doubt(rows),
        ),
        per_input(
            "How much is found depends significantly on the initial credit.", rows, PAPER, matters
        ),
    ]  # fmt: skip


def doubt(rows: Rows) -> str:
    """Return what the highest credit costs on synthetic streams and with shared flurries."""
    lost = {}
    for name in (SYNTHETIC, SHARED):
        mine = [row for row in rows if row["input"] == name]
        best = max(row["recall"] for row in mine)
        lost[name] = 1 - line(mine, percentile=1.0)["recall"] / best
    if lost[SYNTHETIC] <= lost[SHARED]:
        return UNKNOWN
    return (
        "Where popularity never changes, it pays to doubt newcomers: old credits tell more than"
        f" youth. The highest credit loses {percent(lost[SYNTHETIC])} on the synthetic streams, but"
        f" only {percent(lost[SHARED])} with shared flurries, where keys are busy in both at once."
    )


EXPERIMENT = Experiment(
    name="figure-3-credit",
    title="Figure 3 (right): initial credit of GDJ",
    shows="A newcomer starts at a percentile of the credits in the buffer. The paper finds the best"
    " one at 0.995 on stock data, at 0.836 on weather data and at 0.998 on synthetic data. Buffer"
    " of 20 %.",
    points=points,
    measure=compare,
    tabulate=tabulate,
    figure=Figure(
        "percentile", "recall", "input", error="recall_std",
        titles={"percentile": "percentile of the initial credit"},
    ),
    judge=judge,
)  # fmt: skip
