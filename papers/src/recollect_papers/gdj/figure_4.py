"""Figure 4: recall over the size of the buffer."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from recollect_papers.claims import above
from recollect_papers.experiment import Experiment, Point, Row, Rows, Scale, mean_over_seeds
from recollect_papers.figure import Figure
from recollect_papers.gdj.claims import UNKNOWN, line, per_input
from recollect_papers.gdj.comparing import compare, named
from recollect_papers.gdj.inputs import (
    LONG,
    SHARED,
    SHUFFLED,
    STOCK,
    SYNTHETIC,
    WEATHER,
    gdj,
    sources,
)
from recollect_papers.replication import Finding

PAPER = (STOCK, WEATHER, SYNTHETIC)
TESTS = (SHUFFLED, LONG, SHARED)
POLICIES = ("GDJ", "PROB", "AGE", "RAND", "LRU")
FULL = 100.0
NEARLY_ALL = 0.995
LINEAR = 0.1
"""A curve is linear if it is nowhere further than this from a straight line."""


def points(scale: Scale) -> Sequence[Point]:
    """One per input, seed and a few buffer sizes."""
    parts = [[10.0, 20.0, 50.0, 80.0, FULL]]
    if scale.full:
        parts = [[10.0, 20.0, 30.0, 40.0, 50.0], [60.0, 70.0, 80.0, 90.0, FULL]]
    return [
        {
            "source": source,
            "policies": [gdj(source["name"]), "prob", "age", "rand", "lru"],
            "buffers": part,
        }
        for source in sources(scale, *PAPER, *TESTS)
        for part in parts
    ]


def tabulate(rows: Rows) -> Rows:
    """Average over seeds."""
    return mean_over_seeds(named(rows), ["input", "policy", "buffer"], ["recall"])


def judge(rows: Rows) -> Sequence[Finding]:
    """Compare GDJ with the others, and the curves with straight lines."""
    return [
        per_input("The larger the buffer, the more is found.", rows, PAPER, grows),
        per_input(
            "GDJ finds more than PROB at every buffer size.", rows, PAPER, beats("PROB"),
            why_not(rows),
        ),
        per_input(
            "What GDJ gains over PROB comes from correlations over short times, which a random"
            " order of the keys destroys (section 2).",
            rows, (WEATHER, SHUFFLED), from_correlation,
        ),
        per_input(
            "GDJ finds more than AGE at every buffer size.", rows, PAPER, beats("AGE")
        ),
        per_input(
            "AGE grows linearly with the buffer, as random eviction does.", rows, PAPER, linear,
            "Where AGE finds more than its share, RAND does, too: equal keys come soon after each"
            " other, so that even a short stay is worth more than its share.",
        ),
        per_input(
            "With as much memory as is needed in the mean, the weather join is complete.",
            rows, [WEATHER], complete,
        ),
        per_input(
            "With as much memory as is needed in the mean, the stock join is not complete, because"
            " its rate varies.",
            rows, [STOCK], incomplete,
        ),
    ]  # fmt: skip


def grows(rows: Rows) -> tuple[bool, str]:
    """Whether no policy finds less with more memory."""
    curves = {p: [row for row in rows if row["policy"] == p] for p in POLICIES}
    falls = [p for p, curve in curves.items() if any(above(a, b) for a, b in pairwise(curve))]
    first, last = curves["GDJ"][0], curves["GDJ"][-1]
    text = f"GDJ from {first['recall']:.2f} to {last['recall']:.2f}"
    return not falls, text + (f", but not {', '.join(falls)}" if falls else "")


def beats(other: str) -> Callable[[Rows], tuple[bool, str]]:
    """Whether GDJ is above another policy wherever there is something to forget."""

    def test(rows: Rows) -> tuple[bool, str]:
        sizes = [size for size in dict.fromkeys(r["buffer"] for r in rows) if size < FULL]
        wins = [s for s in sizes if above(at(rows, "GDJ", s), at(rows, other, s))]
        return wins == sizes, (
            f"above at {len(wins)} of {len(sizes)} sizes, {both(rows, 'GDJ', other)} at 20 %"
        )

    return test


def from_correlation(rows: Rows) -> tuple[bool, str]:
    """Whether GDJ is above PROB in the order of time, and not in random order."""
    gdj_wins = above(at(rows, "GDJ"), at(rows, "PROB"))
    return gdj_wins == (rows[0]["input"] == WEATHER), both(rows, "GDJ", "PROB")


def why_not(rows: Rows) -> str:
    """Return what the streams with long gaps and shared flurries say of GDJ and PROB."""
    cases = {name: [row for row in rows if row["input"] == name] for name in (LONG, SHARED)}
    wins = {name: above(at(mine, "GDJ"), at(mine, "PROB")) for name, mine in cases.items()}
    texts = {name: both(mine, "GDJ", "PROB") for name, mine in cases.items()}
    if wins[SHARED] and not wins[LONG]:
        return (
            "The flurries of a key in one synthetic stream say nothing of the other stream, while"
            " its popularity does, and never changes. Longer gaps do not change that"
            f" ({texts[LONG]} at 20 %), but with the same gaps and flurries at the same time in"
            f" both streams GDJ wins ({texts[SHARED]})."
        )
    return UNKNOWN


def linear(rows: Rows) -> tuple[bool, str]:
    """Whether AGE finds what its share of the memory is."""
    off = max(abs(row["recall"] - row["buffer"] / 100) for row in rows if row["policy"] == "AGE")
    return off <= LINEAR, f"off by up to {off:.2f}; {both(rows, 'AGE', 'RAND')} at 20 %"


def complete(rows: Rows) -> tuple[bool, str]:
    """Whether everything is found with as much memory as is needed in the mean."""
    found = at(rows, "GDJ", FULL)["recall"]
    return found >= NEARLY_ALL, f"GDJ {found:.3f}"


def incomplete(rows: Rows) -> tuple[bool, str]:
    """Whether not everything is."""
    held, text = complete(rows)
    return not held, text


def at(rows: Rows, policy: str, size: float = 20.0) -> Row:
    """Return the row of a policy and buffer size."""
    return line(rows, policy=policy, buffer=size)


def both(rows: Rows, one: str, other: str) -> str:
    """Return what two policies find with a buffer of 20 %."""
    return f"{one} {at(rows, one)['recall']:.2f}, {other} {at(rows, other)['recall']:.2f}"


EXPERIMENT = Experiment(
    name="figure-4",
    title="Figure 4: buffer size",
    shows="Recall over the size of the buffer. In the paper GDJ is above PROB and AGE on stock,"
    " weather and synthetic data at all sizes. LRU, which the paper does not run, is drawn beside"
    " them. Three more inputs test where the advantage of GDJ comes from: the weather in random"
    " order, synthetic streams with long gaps between flurries of the same key, and such streams"
    " with shared flurries, at the same time in both. AGE learns its k_opt while it runs; in the"
    " paper it was computed before.",
    points=points,
    measure=compare,
    tabulate=tabulate,
    figure=Figure(
        "buffer", "recall", "policy", "input", error="recall_std",
        titles={"buffer": "buffer, % of what the exact join holds"},
    ),
    judge=judge,
)  # fmt: skip
