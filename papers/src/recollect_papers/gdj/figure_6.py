"""Figure 6: two joins share one buffer, or each stream has its part of it."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.join.whole import quiet
from recollect_papers import catalogue
from recollect_papers.claims import above
from recollect_papers.experiment import (
    Experiment,
    Point,
    Row,
    Rows,
    Scale,
    mean_over_seeds,
)
from recollect_papers.figure import Figure
from recollect_papers.gdj.claims import line, per_input, percent
from recollect_papers.gdj.comparing import short
from recollect_papers.gdj.inputs import SHARED, SYNTHETIC, TUPLES, dealt, gdj, with_long_gaps
from recollect_papers.gdj.joined import BUFFER, WINDOW, on_all, prepared
from recollect_papers.replication import Finding

DIVISIONS = {"rate": "PROP", "unified": "UNIFIED"}
NAMES = (SYNTHETIC, SHARED)
SAME = 0.02
"""Results that differ by no more than this share are the same."""


def points(scale: Scale) -> Sequence[Point]:
    """One per input and seed."""
    return [
        {"name": name, "seed": seed}
        for name in NAMES
        for seed in scale.seeds(10 if scale.full else 3)
    ]


def measure(name: str, seed: int) -> Rows:
    """Return the results of both joins together, by policy and division of the buffer.

    With shared flurries the directly correlated pair has them, and the other has the same gaps.
    """
    made = catalogue.load("gdj-unified", tuples=TUPLES, seed=seed)
    streams = dict(made.streams)
    if name == SHARED:
        streams = {n: with_long_gaps(s) for n, s in streams.items()}
        streams |= dealt(["dc_R", "dc_S"], seed)
    ready = prepared(streams, {pair[0][:2]: on_all(pair, ["key"]) for pair in made.facts["joins"]})
    feeds = list(ready.inputs.feeds(quiet, "rates"))
    spread = rate_spread(
        np.concatenate([feed.time[feed.order] for feed in feeds]),
        np.concatenate([feed.stream[feed.order] for feed in feeds]),
    )
    return [
        {
            "input": name,
            "policy": short(policy),
            "division": called,
            "results": run.results,
            "recall": run.recall,
            "rate_spread": spread,
        }
        for policy in ("rand", "prob", gdj(name))
        for division, called in DIVISIONS.items()
        for run in [ready.run(policy, BUFFER, division, seed)]
    ]


def rate_spread(times: NDArray[np.int64], streams: NDArray[np.int32]) -> float:
    """Return how much the rates of the streams vary from window to window.

    The standard deviation over the mean, averaged over the streams.

    >>> times = np.arange(2 * WINDOW + 1)
    >>> rate_spread(times, times % 4), rate_spread(times, times // WINDOW % 2)
    (0.0, 1.0)
    """
    windows = int(times[-1]) // WINDOW  # the last one may be cut off
    rates = [
        np.bincount(times[streams == stream] // WINDOW, minlength=windows)[:windows]
        for stream in np.unique(streams)
    ]
    return float(np.mean([np.std(rate) / np.mean(rate) for rate in rates]))


def tabulate(rows: Rows) -> Rows:
    """Average over seeds."""
    of = ["results", "recall", "rate_spread"]
    return mean_over_seeds(rows, ["input", "policy", "division"], of)


def judge(rows: Rows) -> Sequence[Finding]:
    """Compare one buffer with a divided one."""

    def same(mine: Rows) -> tuple[bool, str]:
        one, parts = bar(mine, "UNIFIED", "RAND"), bar(mine, "PROP", "RAND")
        off = one["results"] / parts["results"] - 1
        word = "more" if off > 0 else "less"
        return abs(off) <= SAME, f"UNIFIED-RAND finds {percent(abs(off), 1)} {word} than PROP-RAND"

    def better(policy: str) -> Callable[[Rows], tuple[bool, str]]:
        def test(mine: Rows) -> tuple[bool, str]:
            one, parts = bar(mine, "UNIFIED", "GDJ"), bar(mine, "PROP", policy)
            return above(one, parts, "results"), (
                f"UNIFIED-GDJ {one['results']:,.0f}, PROP-{policy} {parts['results']:,.0f}"
                f" ± {parts['results_std']:,.0f}"
            )

        return test

    return [
        per_input(
            "RAND finds the same, whether the buffer is divided or not.", rows, NAMES, same,
            varying(rows),
        ),
        per_input(
            "One buffer under GDJ finds more than one in parts under PROB.",
            rows, NAMES, better("PROB"),
            "As in figure 4: where popularity never changes, PROB knows more than credits tell, and"
            " that is more than one buffer gains.",
        ),
        per_input(
            "GDJ gives one buffer to the join that is more productive, and so finds more than with"
            " parts.",
            rows, NAMES, better("GDJ"),
        ),
    ]  # fmt: skip


def varying(rows: Rows) -> str:
    """Return how much the rates vary, which only one buffer can follow."""
    spreads = {row["input"]: row["rate_spread"] for row in rows}
    text = ", ".join(f"{name} {percent(spread)}" for name, spread in spreads.items())
    return f"One buffer follows rates that vary from window to window, fixed parts do not ({text})."


def bar(rows: Rows, division: str, policy: str) -> Row:
    """Return the row of a bar."""
    return line(rows, division=division, policy=policy)


EXPERIMENT = Experiment(
    name="figure-6",
    title="Figure 6: one buffer for all",
    shows="Two joins at once, one of streams with the same popular keys and one of streams with"
    " opposite ones. In the paper RAND finds the same in one buffer (UNIFIED) and in parts by rate"
    " (PROP), and GDJ with one buffer finds far more than PROB with parts. The paper does not run"
    " PROB with one buffer, nor GDJ with parts. Where the first pair has shared flurries (see"
    " figure 4), the second has the same long gaps. Buffer of 20 %.",
    points=points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure("policy", "results", "division", "input", "bars", error="results_std"),
    judge=judge,
)  # fmt: skip
