"""Figure 6: what HEEB thinks of a value by its distance from a random walk with drift."""

from itertools import pairwise

from recollect.forecast import DiscreteLaw, Survival, Walk
from recollect.forecast.precomputed import walk_curve
from recollect_papers.experiment import Experiment, Point, Rows, Scale, agreement
from recollect_papers.figure import Figure
from recollect_papers.replication import Finding

DRIFTS = (0, 2, 4)
ALPHA = 10
"""The paper sets it to the size of the cache, but does not say which."""
DISTANCES = range(-10, 31)


def points(scale: Scale) -> list[Point]:
    """Give one point per curve; both scales are the same."""
    return [{"drift": drift} for drift in DRIFTS]


def measure(drift: int) -> Rows:
    """Look the curve of a cache up."""
    law = Walk(DiscreteLaw.normal(1, mean=drift))
    scores = walk_curve(law, Survival("exp", ALPHA), caching=True).at(DISTANCES)
    return [
        {"drift": f"drift {drift}", "distance": distance, "h": float(score)}
        for distance, score in zip(DISTANCES, scores, strict=True)
    ]


def tabulate(rows: Rows) -> Rows:
    """Take the rows as they are."""
    return rows


def judge(rows: Rows) -> list[Finding]:
    """Look for where the curves are high."""
    curves = {drift: _curve(rows, drift) for drift in DRIFTS}
    still = curves[0]
    by_distance = [still[distance] for distance in sorted(still, key=abs)]
    ranked = all(one >= two - 1e-9 for one, two in pairwise(by_distance))
    right = {drift: _share_right(curve) for drift, curve in curves.items()}
    tops = {drift: _tops(curve) for drift, curve in curves.items()}
    multiples = {
        drift: bool(tops[drift]) and all(top % drift == 0 for top in tops[drift])
        for drift in (2, 4)
    }
    seen = "; ".join(f"drift {drift}: {_listed(tops[drift])}" for drift in (2, 4))
    return [
        agreement(
            "Without drift, values are ranked by their distance from the last one, as is optimal.",
            ranked,
            f"h falls from {still[0]:.3f} at 0 to {still[5]:.3f} at 5 and {still[-5]:.3f} at -5.",
        ),
        agreement(
            "The larger the drift, the more desirable are values to the right.",
            right[0] < right[2] < right[4],
            "Share of all h to the right of the last value: "
            + ", ".join(f"{right[drift]:.1%} for drift {drift}" for drift in DRIFTS)
            + ".",
        ),
        Finding(
            "Values a multiple of the drift away are preferred to their neighbours.",
            "yes" if all(multiples.values()) and len(tops[2]) > 1
            else "partly" if any(multiples.values()) else "no",
            f"Local maxima (α = {ALPHA}): {seen}.",
            "" if len(tops[2]) > 1 else
            "With steps that deviate by 1, visits at multiples of 2 run into one another after the"
            " first.",
        ),
    ]  # fmt: skip


def _curve(rows: Rows, drift: int) -> dict[int, float]:
    return {row["distance"]: row["h"] for row in rows if row["drift"] == f"drift {drift}"}


def _share_right(curve: dict[int, float]) -> float:
    return sum(h for distance, h in curve.items() if distance > 0) / sum(curve.values())


def _tops(curve: dict[int, float]) -> list[int]:
    inside = [distance for distance in curve if {distance - 1, distance + 1} <= curve.keys()]
    return [at for at in inside if curve[at] > max(curve[at - 1], curve[at + 1])]


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"


EXPERIMENT = Experiment(
    name="figure-6",
    title="Figure 6: h of a random walk with drift",
    shows="HEEB's score of a cached row by its distance from the last reference, for random walks"
    " that drift by 0, 2 and 4 per step, with steps of variance 1.",
    points=points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure("distance", "h", "drift", kind="steps",
                  titles={"distance": "distance from the last reference"}),
    judge=judge,
)  # fmt: skip
