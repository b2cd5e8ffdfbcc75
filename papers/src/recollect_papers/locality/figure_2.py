"""Figure 2: how much the locality model leaves to popularity, by how far it looks back."""

from collections.abc import Sequence

from recollect_papers.experiment import Experiment, Rows, mean_over_seeds, pick
from recollect_papers.figure import Figure
from recollect_papers.locality.arrivals import PERMUTED, STREAM
from recollect_papers.locality.by_stream import by_stream, percent, streams_of
from recollect_papers.locality.profiles import (
    AS_THEY_COME,
    AT_RANDOM,
    NUMBERS_PERMUTED,
    H,
    measure,
    points,
    selected,
)
from recollect_papers.replication import Finding

LOW, HIGH = 0.5, 0.9
"""What of a stream is "low", and what of its permutation is "close to 1"."""
SOON, MOST = 80, 0.9
"""By this h, so much of the fall is to be over."""
SAME = 0.1
TRADES = "trades"
PAPER_B = 0.1


def tabulate(rows: Rows) -> Rows:
    """Return b by stream, fit and h."""
    return mean_over_seeds(selected(rows, "b"), ["stream", "fit", "h"], ["b"])


def judge(rows: Rows) -> Sequence[Finding]:
    """Look at where each curve ends, and at where most of its fall is behind."""
    streams = streams_of(rows)
    ends = {name: pick(rows, "b", stream=name, fit=STREAM, h=H) for name in streams}
    soon = {name: (1 - _b_at(rows, name, SOON)) / (1 - ends[name]) for name in streams}
    permuted = {name: _least(rows, name, PERMUTED) for name in streams}
    return [
        by_stream(
            "The further back the model looks, the less is left to popularity, and an h of 50 to"
            " 80 is enough.",
            {name: ends[name] < LOW and soon[name] > MOST for name in streams},
            f"b at h = {H}, and the part of its fall that is over at {SOON}: "
            + ", ".join(f"{name} {ends[name]:.2f}, {percent(soon[name])}" for name in streams)
            + ".",
            "what there is of correlation reaches further back.",
        ),
        by_stream(
            "Of the permuted stream, b stays close to 1.",
            {name: least > HIGH for name, least in permuted.items()},
            "Least b: " + ", ".join(f"{name} {b:.3f}" for name, b in permuted.items()) + ".",
            "in a short stream some keys come together by chance.",
        ),
        _of_trades(ends),
        _of_numbers(rows, streams),
    ]


def _of_trades(ends: dict[str, float]) -> Finding:
    claim = f"Of the stock trades, b converges to {PAPER_B}."
    if TRADES not in ends:
        return Finding(claim, "open", "The trades were not given.")
    b = ends[TRADES]
    near = abs(b - PAPER_B) < PAPER_B / 2
    measured = f"b = {b:.3f} at h = {H}, of four other stocks; a key is a stock and a price."
    return Finding(claim, "yes" if near else "no", measured, "" if near else "Other stocks.")


def _of_numbers(rows: Rows, streams: Sequence[str]) -> Finding:
    fits = (AS_THEY_COME, AT_RANDOM, NUMBERS_PERMUTED)
    found = {name: [pick(rows, "b", stream=name, fit=fit, h=H) for fit in fits] for name in streams}
    return by_stream(
        "Least squares on the keys as numbers measures how much of the locality is due to each"
        " cause.",
        {name: abs(own - other) < SAME for name, (own, other, _) in found.items()},
        f"b at h = {H} with keys numbered as they come, at random, and of the permuted stream: "
        + ", ".join(f"{n} {a:.2f}, {b:.2f}, {c:.2f}" for n, (a, b, c) in found.items())
        + ".",
        "b depends on how keys are numbered. A number close to the right one counts as nearly"
        " right, so keys that get numbers as they come look like copies where they only change"
        " slowly. The paper does not say how it numbered them. The library's fit, of the first two"
        " curves, tells keys apart and nothing else.",
    )


def _b_at(rows: Rows, stream: str, h: int) -> float:
    mine = [row for row in rows if row["stream"] == stream and row["fit"] == STREAM]
    return max((row for row in mine if row["h"] <= h), key=lambda row: row["h"])["b"]


def _least(rows: Rows, stream: str, fit: str) -> float:
    return min(row["b"] for row in rows if row["stream"] == stream and row["fit"] == fit)


EXPERIMENT = Experiment(
    name="figure-2",
    title="Figure 2: b over h",
    shows="A tuple is a copy of one of the last h with a probability of 1 - b, else an independent"
    " draw. The fall of b says how much of the locality is short-term correlation. The paper fits"
    " the keys as numbers; the fit of the first two curves only tells keys apart.",
    points=points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure("h", "b", "fit", "stream", log="x"),
    judge=judge,
)
