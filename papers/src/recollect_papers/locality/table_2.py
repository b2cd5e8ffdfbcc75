"""Table 2: the entropy of a stream, of its permutation, and of keys that are equally popular."""

from collections.abc import Sequence

from recollect_papers.experiment import (
    Experiment,
    Point,
    Rows,
    Scale,
    agreement,
    mean_over_seeds,
    pick,
)
from recollect_papers.figure import Figure
from recollect_papers.locality.arrivals import GENERATED, PERMUTED, STREAM
from recollect_papers.locality.by_stream import by_stream, streams_of
from recollect_papers.locality.profiles import measure, points, selected
from recollect_papers.replication import Finding

UNIFORM = "uniform"
MUCH = 0.8
"""An entropy below this part of another is much smaller; in the paper it is 0.61."""
PRECISION = 0.001


def with_uniform(scale: Scale) -> list[Point]:
    """Return the points of figure 1 and equally popular keys, as many as there were stocks."""
    [seed] = scale.seeds(1)
    tuples = 1_000_000 if scale.full else 100_000
    return [{"stream": UNIFORM, "tuples": tuples, "seed": seed, "data": None}, *points(scale)]


def tabulate(rows: Rows) -> Rows:
    """Return the entropies by stream and order."""
    return mean_over_seeds(selected(rows, "entropy"), ["stream", "order"], ["entropy"])


def judge(rows: Rows) -> Sequence[Finding]:
    """Compare each stream with its permutation."""
    both = {
        stream: tuple(
            pick(rows, "entropy", stream=stream, order=order) for order in (STREAM, PERMUTED)
        )
        for stream in streams_of(rows)
    }
    uniform = both.pop(UNIFORM)
    own, permuted = both[GENERATED]
    shown = ", ".join(f"{name} {own:.2f} and {other:.2f}" for name, (own, other) in both.items())
    return [
        agreement(
            "Independent keys that are equally popular have the highest entropy (6.19), the"
            " permuted stream less (5.48), the stream least (3.32).",
            uniform[0] > permuted > own,
            f"Of 500 keys each: {uniform[0]:.2f}, {permuted:.2f}, {own:.2f}; log 500 = 6.21.",
        ),
        by_stream(
            "A stream never has more entropy than its permutation (Lemma 4).",
            {name: own < other + PRECISION for name, (own, other) in both.items()},
            f"Of streams as they come, and permuted: {shown}.",
            "the model was fitted to chance.",
        ),
        by_stream(
            "The entropy of the stream is much smaller (0.61 times that of its permutation).",
            {name: own < MUCH * other for name, (own, other) in both.items()},
            "Ratios: " + ", ".join(f"{n} {own / other:.2f}" for n, (own, other) in both.items())
            + ".",
            "few tuples are copies of one of the last 100, and the model knows of no others.",
        ),
    ]  # fmt: skip


EXPERIMENT = Experiment(
    name="table-2",
    title="Table 2: entropy",
    shows="What is unknown of the next tuple, in natural units: given popularity and the last"
    " tuples, under the locality model. Short-term correlation lowers it.",
    points=with_uniform,
    measure=measure,
    tabulate=tabulate,
    figure=Figure(
        "stream", "entropy", "order", kind="bars", error="entropy_std",
        titles={"entropy": "entropy of a tuple, nats"},
    ),
    judge=judge,
)  # fmt: skip
