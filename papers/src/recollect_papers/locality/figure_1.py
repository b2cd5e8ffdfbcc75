"""Figure 1: what is popular, and how soon it comes again."""

from collections.abc import Sequence

from recollect_papers.experiment import Experiment, Rows, mean_over_seeds, pick
from recollect_papers.figure import Figure
from recollect_papers.locality.arrivals import PERMUTED, STREAM
from recollect_papers.locality.by_stream import by_stream, percent, streams_of
from recollect_papers.locality.profiles import NEAR, measure, points, selected
from recollect_papers.replication import Finding

STRAIGHT = 0.05
"""A line whose slope is known this well, relatively, is called straight."""
MANY, MORE = 0.4, 1.5
"""The share of tuples that are near the one before, and how many times that when permuted."""


def popularity(rows: Rows) -> Rows:
    """Return the share of each rank, with the slope of the line through all of them."""
    slopes = mean_over_seeds(selected(rows, "slope"), ["stream"], ["slope", "error"])
    shares = mean_over_seeds(selected(rows, "share"), ["stream", "rank"], ["share"])
    return [
        row | {name: pick(slopes, name, stream=row["stream"]) for name in ("slope", "error")}
        for row in shares
    ]


def judge_popularity(rows: Rows) -> Sequence[Finding]:
    """Compare the error of each slope with the slope."""
    first = {stream: _first(rows, stream) for stream in streams_of(rows)}
    return [
        by_stream(
            "Popularity over rank is a straight line on logarithmic axes, as Zipf's law has it.",
            {name: row["error"] < STRAIGHT * row["slope"] for name, row in first.items()},
            "Slopes: "
            + ", ".join(f"{n} {row['slope']:.2f} ± {row['error']:.2f}" for n, row in first.items())
            + ".",
            f"a line leaves more than {percent(STRAIGHT)} of its slope open, because the first keys"
            " are more alike, and the last ones rarer, than a power law has it.",
        )
    ]


def _first(rows: Rows, stream: str) -> dict[str, float]:
    return next(dict(row) for row in rows if row["stream"] == stream)


def distances(rows: Rows) -> Rows:
    """Return the distributions, with the share of all tuples that are near the one before."""
    near = mean_over_seeds(selected(rows, "near"), ["stream", "order"], ["share"])
    shares = mean_over_seeds(selected(rows, "distance"), ["stream", "order", "distance"], ["share"])
    return [
        row | {"near": pick(near, "share", stream=row["stream"], order=row["order"])}
        for row in shares
    ]


def judge_distances(rows: Rows) -> Sequence[Finding]:
    """Compare how many tuples are near the one before, as they come and permuted."""
    near = {
        stream: tuple(
            pick(rows, "near", stream=stream, order=order, distance=1)
            for order in (STREAM, PERMUTED)
        )
        for stream in streams_of(rows)
    }
    return [
        by_stream(
            "Distances in a stream and in its permutation are quite different: more than 40 % of"
            " the tuples have a short one, which popularity alone does not explain.",
            {name: own > MANY and own > MORE * other for name, (own, other) in near.items()},
            f"Tuples with their key among the last {NEAR}, as they come and permuted: "
            + ", ".join(
                f"{n} {percent(own)} and {percent(other)}" for n, (own, other) in near.items()
            )
            + ".",
            "keys come again sooner than popularity explains, but later than that.",
        )
    ]


EXPERIMENTS = (
    Experiment(
        name="figure-1ac",
        title="Figure 1 (a, c): popularity",
        shows="Few keys make up much of a stream: popularity falls with rank as a power law."
        " locality is generated; trades are stocks and prices, retail articles, oltp and orm pages"
        " and objects of databases, weather dew points.",
        points=points,
        measure=measure,
        tabulate=popularity,
        figure=Figure(
            "rank", "share", panels="stream", kind="steps", log="xy",
            titles={"share": "share of the tuples"},
        ),
        judge=judge_popularity,
    ),
    Experiment(
        name="figure-1bd",
        title="Figure 1 (b, d): inter-arrival distances",
        shows="How many tuples after its last appearance a key comes again, against the same"
        " tuples in random order: what is left is due to correlation over short times.",
        points=points,
        measure=measure,
        tabulate=distances,
        figure=Figure(
            "distance", "share", "order", "stream", kind="steps", log="x",
            titles={"share": "share of the repeats", "distance": "inter-arrival distance, tuples"},
        ),
        judge=judge_distances,
    ),
)  # fmt: skip
