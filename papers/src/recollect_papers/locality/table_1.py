"""Table 1: how many entries Lossy Counting may need, by how skewed popularity is."""

from collections.abc import Sequence

from recollect.counting import LossyCounter
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
from recollect_papers.locality.arrivals import arrivals
from recollect_papers.replication import Finding
from recollect_papers.theory import independent_bound, zipf_bound

EPSILON = 0.001
PRINTED = {1.1: 3869, 1.3: 2409, 1.5: 2089}
"""The bounds in the paper."""
PRECISION = 0.001
OLD, NEW, MOST = "7/ε", "Theorem 2", "measured"


def points(scale: Scale) -> list[Point]:
    """Return a point for each exponent and seed."""
    tuples, seeds = (1_000_000, 5) if scale.full else (200_000, 3)
    return [
        {"z": z, "tuples": tuples, "seed": seed} for z in PRINTED for seed in scale.seeds(seeds)
    ]


def measure(z: float, tuples: int, seed: int) -> Rows:
    """Count a Zipfian stream of 100,000 keys."""
    counter = LossyCounter(EPSILON)
    counter.add(arrivals(f"zipf-{z}", tuples, seed, None))
    entries = {OLD: independent_bound(EPSILON), NEW: zipf_bound(EPSILON, z)}
    entries[MOST] = counter.entries_peak
    return [{"z": z, "bound": name, "entries": number} for name, number in entries.items()]


def tabulate(rows: Rows) -> Rows:
    """Return both bounds and what was needed."""
    return mean_over_seeds(rows, ["z", "bound"], ["entries"])


def judge(rows: Rows) -> Sequence[Finding]:
    """Compare the bounds with those printed, and the entries with the bounds."""
    old, new, most = (
        {z: pick(rows, "entries", z=z, bound=bound) for z in PRINTED} for bound in (OLD, NEW, MOST)
    )
    return [
        agreement(
            "For z = 1.1, 1.3 and 1.5 and ε = 0.001 the bound is 3869, 2409 and 2089 instead of"
            " 7000.",
            all(abs(new[z] / printed - 1) < PRECISION and round(old[z]) == 7000
                for z, printed in PRINTED.items()),
            f"{_listed(new)} instead of {old[1.1]:.0f}.",
            "Theorem 2 gives other numbers.",
        ),
        agreement(
            "The more skewed popularity is, the fewer entries are needed, and never more than the"
            " bound.",
            most[1.1] > most[1.3] > most[1.5] and all(most[z] < new[z] for z in PRINTED),
            f"Needed at most, mean over seeds: {_listed(most)}.",
            "See the table.",
        ),
    ]  # fmt: skip


def _listed(entries: dict[float, float]) -> str:
    return ", ".join(f"{number:.0f}" for number in entries.values())


EXPERIMENT = Experiment(
    name="table-1",
    title="Table 1: bounds on the entries of Lossy Counting",
    shows="For independent Zipfian keys the new bound is far below 7/ε, and falls with the skew.",
    points=points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure("z", "entries", "bound", kind="bars"),
    judge=judge,
)
