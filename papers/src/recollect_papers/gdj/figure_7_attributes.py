"""Figure 7, right: joins of two streams on one to four attributes at once."""

from collections.abc import Sequence

from recollect_papers.claims import above
from recollect_papers.experiment import Experiment, Point, Row, Rows, Scale, mean_over_seeds
from recollect_papers.figure import Figure
from recollect_papers.gdj.attributes import CREDIT, LAWS, attribute_streams
from recollect_papers.gdj.claims import line, per_input
from recollect_papers.gdj.comparing import short
from recollect_papers.gdj.joined import BUFFER, on_all, prepared
from recollect_papers.replication import Finding

SKEWS = (0.25, 0.5, 0.75, 1.0)
COUNTS = (1, 2, 3, 4)
POLICIES = ("GDJ", "PROB", "FIFO")


def points(scale: Scale) -> Sequence[Point]:
    """One per law, seed and number of attributes."""
    return [
        {"law": law, "count": count, "seed": seed}
        for law in LAWS
        for count in COUNTS
        for seed in scale.seeds(10 if scale.full else 3)
    ]


def measure(law: str, count: int, seed: int) -> Rows:
    """Return the recall of all joins together, skewed in one stream and uniform in the other."""
    streams = attribute_streams(law, (SKEWS[:count], (0.0,) * count), seed)
    keys = [f"key_{i + 1}" for i in range(count)]
    ready = prepared(streams, {key: on_all("RS", [key]) for key in keys})
    return [
        {"input": law, "attributes": count, "policy": short(policy), "recall": run.recall}
        for policy in (CREDIT, "prob", "fifo")
        for run in [ready.run(policy, BUFFER, "rate", seed)]
    ]


def tabulate(rows: Rows) -> Rows:
    """Average over seeds."""
    return mean_over_seeds(rows, ["input", "attributes", "policy"], ["recall"])


def judge(rows: Rows) -> Sequence[Finding]:
    """Look who is best, and who gains by more attributes."""

    def best(mine: Rows) -> tuple[bool, str]:
        wins = [
            count
            for count in COUNTS
            if all(above(of(mine, "GDJ", count), of(mine, p, count)) for p in ("PROB", "FIFO"))
        ]
        told = [
            f"{p} {of(mine, p, COUNTS[0])['recall']:.3f} to {of(mine, p, COUNTS[-1])['recall']:.3f}"
            for p in POLICIES
        ]
        return wins == list(
            COUNTS
        ), f"best in {len(wins)} of {len(COUNTS)} cases, {', '.join(told)}"

    def gains(mine: Rows) -> tuple[bool, str]:
        curve = [of(mine, "GDJ", count)["recall"] for count in COUNTS]
        return curve == sorted(curve), " → ".join(f"{recall:.3f}" for recall in curve)

    return [
        per_input(
            "GDJ finds more than PROB and FIFO for any number of attributes.", rows, LAWS, best,
            "The skew of an attribute never changes, and PROB knows it. GDJ can win by flurries"
            " only, which independent attributes do not have; and a tuple with several attributes"
            " is kept or forgotten as a whole, while their flurries are at different times.",
        ),
        per_input(
            "GDJ gets better as the number of attributes grows.", rows, LAWS, gains,
            "The flurries of a second attribute disturb those of the first; from then on the"
            " growing skew helps more.",
        ),
    ]  # fmt: skip


def of(rows: Rows, policy: str, count: int) -> Row:
    """Return the row of a policy and number of attributes."""
    return line(rows, policy=policy, attributes=count)


EXPERIMENT = Experiment(
    name="figure-7-attributes",
    title="Figure 7 (attributes)",
    shows="One to four joins of the same two streams, each on an attribute of its own, more skewed"
    " from one to the next in one stream and uniform in the other; buffer of 20 %. In the paper GDJ"
    " is best, and gets better with more attributes. Its generator is that with Pareto gaps;"
    " independent attributes are drawn beside.",
    points=points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure(
        "attributes", "recall", "policy", "input", error="recall_std",
        titles={"attributes": "number of attributes"},
    ),
    judge=judge,
)  # fmt: skip
