"""Figure 3, left: three rules for earning and losing credit."""

from collections.abc import Sequence

from recollect_papers.claims import above
from recollect_papers.experiment import Experiment, Point, Rows, Scale, mean_over_seeds
from recollect_papers.figure import Figure
from recollect_papers.gdj.claims import line, per_input, percent
from recollect_papers.gdj.comparing import compare
from recollect_papers.gdj.inputs import STOCK, SYNTHETIC, WEATHER, gdj, sources
from recollect_papers.replication import Finding

NAMES = (STOCK, WEATHER, SYNTHETIC)
METHODS = ("method 1", "method 2", "method 3")
SIMILAR = 0.1
"""Recalls that differ by no more than this share are similar."""
FASTER = 1.5
"""Much faster is at least so many times as fast."""


def points(scale: Scale) -> Sequence[Point]:
    """One per input and seed."""
    return [
        {
            "source": source,
            "policies": [f"{gdj(source['name'])},method={number}" for number in (1, 2, 3)],
            "buffers": [10.0, 20.0, 30.0, 40.0, 60.0, 80.0] if scale.full else [10.0, 20.0, 40.0],
        }
        for source in sources(scale, *NAMES)
    ]


def tabulate(rows: Rows) -> Rows:
    """Average the recall over seeds; of the times the shortest, as others share the machine."""
    by = ["input", "method", "buffer"]
    rows = [{**row, "method": f"method {row['policy'][-1]}"} for row in rows]
    means = mean_over_seeds(rows, by, ["recall"])
    for mean in means:
        alike = [row for row in rows if all(row[name] == mean[name] for name in by)]
        mean["tuples_per_second"] = max(row["tuples"] / row["seconds"] for row in alike)
    return means


def judge(rows: Rows) -> Sequence[Finding]:
    """Compare methods 2 and 3 with method 1."""

    def similar(mine: Rows) -> tuple[bool, str]:
        one, two = (recalls(mine, method) for method in METHODS[:2])
        off = max((b / a - 1 for a, b in zip(one, two, strict=True)), key=abs)
        word = "less" if off < 0 else "more"
        return abs(off) <= SIMILAR, f"method 2 finds up to {percent(abs(off), 1)} {word}"

    def faster(mine: Rows) -> tuple[bool, str]:
        # The time for one tuple, in the mean over the buffer sizes.
        first, second = (
            sum(1 / row["tuples_per_second"] for row in mine if row["method"] == method)
            for method in METHODS[:2]
        )
        return second / first >= FASTER, f"{second / first:.1f} times as fast"

    def none_better(mine: Rows) -> tuple[bool, str]:
        better = [
            f"{method} at {row['buffer']:.0f} %"
            for row in mine
            if row["method"] == METHODS[0]
            for method in METHODS[1:]
            if above(line(mine, method=method, buffer=row["buffer"]), row)
        ]
        same = recalls(mine, METHODS[0]) == recalls(mine, METHODS[2])
        text = f"{', '.join(better) or 'none'} finds more"
        return not better, text + (", method 3 exactly as much" if same else "")

    return [
        per_input("Method 1 gives results similar to those of method 2.", rows, NAMES, similar),
        per_input(
            "Method 1 is much faster than method 2.", rows, (STOCK, SYNTHETIC), faster,
            "We do not know; the runs are short, and other programs may have disturbed them.",
        ),
        per_input(
            "Method 1 is the best choice: no method finds more.", rows, NAMES, none_better
        ),
    ]  # fmt: skip


def recalls(rows: Rows, method: str) -> list[float]:
    """Return the recalls of a method, by buffer size."""
    return [row["recall"] for row in rows if row["method"] == method]


EXPERIMENT = Experiment(
    name="figure-3-methods",
    title="Figure 3 (left): methods of GDJ",
    shows="Method 1 adds 1 to the credit for each match, method 2 adds the rank of the tuple among"
    " all credits, method 3 adds 1 and takes what was added from all tuples alike, which changes no"
    " order and therefore no result. The paper finds methods 1 and 2 similar on its stock data and"
    " takes method 1, because it is faster; so do we in all other figures.",
    points=points,
    measure=compare,
    tabulate=tabulate,
    figure=Figure(
        "buffer", "recall", "method", "input", error="recall_std",
        titles={"buffer": "buffer, % of what the exact join holds"},
    ),
    judge=judge,
)  # fmt: skip
