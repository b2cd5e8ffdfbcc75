"""Figure 5: how many entries Lossy Counting will need, and what to know that is good for."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from recollect_papers.experiment import Experiment, Rows, mean_over_seeds, pick
from recollect_papers.figure import Figure
from recollect_papers.locality import memories, spaces
from recollect_papers.locality.arrivals import PERMUTED, STREAM
from recollect_papers.locality.by_stream import by_stream, percent, streams_of
from recollect_papers.locality.memories import BLIND, CHOSEN
from recollect_papers.locality.spaces import EPSILONS, ESTIMATED, EXPECTED, MEASURED, UNIFORM
from recollect_papers.replication import Finding

TIGHT = 0.2
"""How far off an estimate may be."""
FINE = 0.002
LESS, NOISE = 0.98, 1.1
"""How many times the entries "less" are: in the mean, and at any ε."""
FEWER = 0.5


def estimates(rows: Rows) -> Rows:
    """Return the entries of streams, measured and estimated, and those of their permutations."""
    by = ["stream", "epsilon", "entries_of"]
    own, permuted = (
        mean_over_seeds([row for row in rows if row["order"] == order], by, ["entries"])
        for order in (STREAM, PERMUTED)
    )
    return [
        {**row, "entries_permuted": other["entries"]}
        for row, other in zip(own, permuted, strict=True)
    ]


def judge_estimates(rows: Rows) -> Sequence[Finding]:
    """Compare estimates with what was needed."""
    streams = streams_of(rows)
    ours, theirs = (
        {name: _ratios(rows, name, what, "entries") for name in streams}
        for what in (ESTIMATED, EXPECTED)
    )
    without = [_ratios(rows, name, ESTIMATED, "entries_permuted") for name in streams]
    off = np.max([np.abs(ratios - 1) for ratios in without], axis=0)
    fine = np.array(EPSILONS) <= FINE
    return [
        by_stream(
            "The space estimated from the locality model tightly matches what is needed.",
            {name: bool((np.abs(ratios - 1) < TIGHT).all()) for name, ratios in ours.items()},
            f"Estimated over measured entries: {_spans(ours)}.",
            "the model does not know that keys are busy for a while. Afterwards their entries stay"
            " for long; and where few keys are busy at a time, few have entries. With the same"
            f" tuples in permuted order, the estimate is off by {percent(off[fine].max())} at most"
            f" up to ε = {FINE}; with larger ε by {percent(off[~fine].max())}, as it takes the"
            " entries of one bucket for independent, though they cannot be more than its tuples.",
        ),
        by_stream(
            "To estimate it, one counts the keys that the model expects at least once in a bucket.",
            {name: bool((np.abs(ratios - 1) < TIGHT).all()) for name, ratios in theirs.items()},
            f"Such keys over measured entries: {_spans(theirs)}.",
            "most entries in a bucket are of rare keys, of which less than one is expected each."
            " The library estimates the probability that each key has an entry instead.",
        ),
    ]


def _ratios(rows: Rows, stream: str, what: str, column: str) -> NDArray[np.float64]:
    return np.array(
        [
            pick(rows, column, stream=stream, epsilon=epsilon, entries_of=what)
            / pick(rows, column, stream=stream, epsilon=epsilon, entries_of=MEASURED)
            for epsilon in EPSILONS
        ]
    )


def _spans(ratios: Mapping[str, NDArray[np.float64]]) -> str:
    return "; ".join(f"{name} {of.min():.2f} to {of.max():.2f}" for name, of in ratios.items())


def needs(rows: Rows) -> Rows:
    """Return the entries that were needed for each stream, its permutation and uniform keys."""
    measured = [row for row in rows if row["entries_of"] == MEASURED]
    return mean_over_seeds(measured, ["stream", "order", "epsilon"], ["entries"])


def judge_needs(rows: Rows) -> Sequence[Finding]:
    """Say where less entropy means less space."""
    skewed, correlated = (
        {
            name: np.array(
                [
                    pick(rows, "entries", stream=name, order=less, epsilon=epsilon)
                    / pick(rows, "entries", stream=name, order=more, epsilon=epsilon)
                    for epsilon in EPSILONS
                ]
            )
            for name in streams_of(rows)
        }
        for less, more in ((PERMUTED, UNIFORM), (STREAM, PERMUTED))
    )
    return [
        by_stream(
            "A stream of skewed popularity, whose entropy is smaller, needs less space than one of"
            " equally popular keys.",
            {name: _less(ratios) for name, ratios in skewed.items()},
            f"Entries of the permuted stream over those of equally popular keys: {_spans(skewed)}.",
            "with large ε, both need little more than one bucket of tuples.",
        ),
        by_stream(
            "A stream with short-term correlation, whose entropy is smaller still, needs less space"
            " than its permutation.",
            {name: _less(ratios) for name, ratios in correlated.items()},
            f"Entries of the stream over those of its permutation: {_spans(correlated)}.",
            "entropy does not decide. If popularity lasts, every key in the long run has an entry"
            " for the same part of the time, however its tuples are correlated. If it does not,"
            " keys that were busy once keep their entries after that.",
        ),
    ]  # fmt: skip


def _less(ratios: NDArray[np.float64]) -> bool:
    """Whether less is needed in the mean, and never more but for chance."""
    return bool(ratios.mean() < LESS and ratios.max() < NOISE)


def false_positives(rows: Rows) -> Rows:
    """Return the means by stream, memory and way."""
    return mean_over_seeds(
        rows,
        ["stream", "memory", "way"],
        ["false_share", "false", "answers", "epsilon", "entries"],
    )


def judge_memory(rows: Rows) -> Sequence[Finding]:
    """Compare both ways at each memory."""
    shares = {
        name: {
            way: [row["false_share"] for row in rows if (row["stream"], row["way"]) == (name, way)]
            for way in (CHOSEN, BLIND)
        }
        for name in streams_of(rows)
    }
    return [
        by_stream(
            "The ε chosen for the memory gives far fewer false positives than 7/B.",
            {name: _far_fewer(of[CHOSEN], of[BLIND]) for name, of in shares.items()},
            "False positives among the answers, with little and with much memory: "
            + "; ".join(
                f"{name} {percent(of[CHOSEN][0])} instead of {percent(of[BLIND][0])},"
                f" {percent(of[CHOSEN][-1])} instead of {percent(of[BLIND][-1])}"
                for name, of in shares.items()
            )
            + ".",
            "See the figure.",
        ),
        by_stream(
            "What is gained over 7/B grows with the memory.",
            {name: _gap(of, -1) > _gap(of, 0) for name, of in shares.items()},
            "Difference of the shares, with little and with much memory: "
            + "; ".join(
                f"{s} {percent(_gap(of, 0))}, {percent(_gap(of, -1))}" for s, of in shares.items()
            )
            + ".",
            "with 7/B, too, ε falls with the memory, so there is less and less to gain.",
        ),
    ]


def _gap(shares: Mapping[str, Sequence[float]], place: int) -> float:
    return shares[BLIND][place] - shares[CHOSEN][place]


def _far_fewer(own: Sequence[float], other: Sequence[float]) -> bool:
    never_more = all(one <= two for one, two in zip(own, other, strict=True))
    return never_more and sum(own) < FEWER * sum(other)


EXPERIMENTS = (
    Experiment(
        name="figure-5a",
        title="Figure 5 (a): entries of Lossy Counting, estimated and needed",
        shows="From the locality model it can be told how many entries will be needed.",
        points=spaces.points,
        measure=spaces.measure,
        tabulate=estimates,
        figure=Figure(
            "epsilon", "entries", "entries_of", "stream", log="xy", titles={"epsilon": "ε"}
        ),
        judge=judge_estimates,
    ),
    Experiment(
        name="figure-5b",
        title="Figure 5 (b): false positives over memory",
        shows="A smaller ε leaves fewer keys in the answer that are less frequent than asked for."
        " The smallest that the memory allows is chosen by the estimate, against ε = 7/B, the bound"
        " for independent tuples.",
        points=memories.points,
        measure=memories.measure,
        tabulate=false_positives,
        figure=Figure(
            "memory", "false_share", "way", "stream",
            titles={"false_share": "false positives among answers", "memory": "memory, entries"},
        ),
        judge=judge_memory,
    ),
    Experiment(
        name="figure-5c",
        title="Figure 5 (c): entries of Lossy Counting by entropy",
        shows="A stream with less entropy (table 2) can be summarised in less space.",
        points=spaces.points,
        measure=spaces.measure,
        tabulate=needs,
        figure=Figure("epsilon", "entries", "order", "stream", log="xy", titles={"epsilon": "ε"}),
        judge=judge_needs,
    ),
)  # fmt: skip
