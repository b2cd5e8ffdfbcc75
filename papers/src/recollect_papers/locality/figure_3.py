"""Figure 3: what each policy keeps of a join, over the size of buffer and window."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from recollect_papers.experiment import Experiment, Rows, mean_over_seeds
from recollect_papers.figure import Figure
from recollect_papers.locality.arrivals import PERMUTED
from recollect_papers.locality.by_stream import by_stream, percent, streams_of
from recollect_papers.locality.joins import POLICIES, WINDOWS, measure, over_buffer, over_window
from recollect_papers.replication import Finding

FULL = "FULL"
SMALL_CHANGE, CLOSE = 0.1, 0.05
"""Of recall."""
LARGE = 1.5


def recalls(rows: Rows) -> Rows:
    """Return the recall by stream, policy and budget."""
    return mean_over_seeds(rows, ["stream", "policy", "budget"], ["recall"])


def results(rows: Rows) -> Rows:
    """Return the results by stream, policy and window, and those of FULL."""
    found = mean_over_seeds(rows, ["stream", "policy", "window"], ["results", "recall", "exact"])
    full = [
        {**row, "policy": FULL, "results": row["exact"], "results_std": row["exact_std"],
         "recall": 1.0, "recall_std": 0.0}
        for row in found if row["policy"] == POLICIES[0]
    ]  # fmt: skip
    return [
        {name: value for name, value in row.items() if not name.startswith("exact")}
        for row in [*full, *found]
    ]


Curves = Mapping[str, Mapping[str, np.ndarray]]
"""By stream and policy: a number per budget or window."""


def curves(rows: Rows, column: str, along: str) -> Curves:
    """Return a column as arrays in ascending order of another one."""
    ordered = sorted(rows, key=lambda row: row[along])
    return {
        stream: {
            policy: np.array(
                [r[column] for r in ordered if r["stream"] == stream and r["policy"] == policy]
            )
            for policy in dict.fromkeys(row["policy"] for row in rows)
        }
        for stream in streams_of(rows)
    }


def _orders(streams: Iterable[str]) -> tuple[list[str], list[str]]:
    """Tell the streams as they come from the permuted ones."""
    permuted = [stream for stream in streams if stream.endswith(PERMUTED)]
    return [stream for stream in streams if stream not in permuted], permuted


def judge_buffer(rows: Rows) -> Sequence[Finding]:
    """Compare LBA with the others, in streams as they come and permuted."""
    recall, spread = curves(rows, "recall", "budget"), curves(rows, "recall_std", "budget")
    budgets = sorted({row["budget"] for row in rows})
    own, permuted = _orders(recall)
    return [
        _ahead_of("prob", "PROB", own, recall, spread, "popularity is all there is to know."),
        _ahead_of(
            "rand", "RAND", own, recall, spread,
            "what was popular in the past is not what is popular now, so that PROB is worse than"
            " forgetting at random; LBA repairs most of that, but also takes popularity to last."
            " Where keys are permuted, so that it does, both are better than RAND (below).",
        ),
        _by_much(own, recall, budgets),
        by_stream(
            "LBA is quite close to ELBA.",
            {name: bool(_gap(recall[name], "lba", "elba") < CLOSE) for name in own},
            "Largest difference of recall: "
            + ", ".join(f"{name} {_gap(recall[name], 'lba', 'elba'):.3f}" for name in own) + ".",
            "ELBA counts the lifetime that a tuple has left, and windows are long.",
        ),
        by_stream(
            "What LBA has over PROB is due to correlation over short times: without it, both are"
            " the same, and better than RAND.",
            {name: _same_without(recall[name]) for name in permuted},
            "With permuted keys, largest difference of LBA and PROB, and recall of PROB and RAND"
            f" at {budgets[1]} %: "
            + "; ".join(
                f"{name} {_gap(recall[name], 'lba', 'prob'):.3f}, {recall[name]['prob'][1]:.3f}"
                f" and {recall[name]['rand'][1]:.3f}" for name in permuted
            ) + ".",
            "We do not know.",
        ),
        _best(own, recall, budgets),
    ]  # fmt: skip


def _ahead_of(
    policy: str, name: str, own: Sequence[str], recall: Curves, spread: Curves, why: str
) -> Finding:
    """Say where LBA is above another policy, by more than noise where memory is scarce."""
    less = {stream: recall[stream]["lba"] - recall[stream][policy] for stream in own}
    noise = {stream: np.maximum(spread[stream]["lba"], spread[stream][policy]) for stream in own}
    return by_stream(
        f"The locality-aware algorithms outperform {name} in all experiments.",
        {stream: bool((less[stream] >= -noise[stream]).all() and less[stream].mean() > 0)
         for stream in own},
        f"Recall of LBA less that of {name}: "
        + ", ".join(f"{s} {gain.min():+.3f} to {gain.max():+.3f}" for s, gain in less.items())
        + ".",
        why,
    )  # fmt: skip


def _by_much(own: Sequence[str], recall: Curves, budgets: Sequence[int]) -> Finding:
    gains = {stream: recall[stream]["lba"] / recall[stream]["prob"] for stream in own}
    return by_stream(
        "The locality-aware algorithms outperform PROB by a large margin, at some sizes with close"
        " to 100 % more results.",
        {stream: bool(gain.max() > LARGE) for stream, gain in gains.items()},
        "Most that LBA has over PROB: "
        + ", ".join(
            f"{stream} {percent(gain.max() - 1)} at {budgets[int(gain.argmax())]} %"
            for stream, gain in gains.items()
        )
        + ".",
        "the popularity of its keys is the same all the time and in both streams, so there"
        " popularity is by far the greater part of what can be known.",
    )


def _best(own: Sequence[str], recall: Curves, budgets: Sequence[int]) -> Finding:
    known = ("lba", "prob", "life", "lru", "rand")
    winners = {
        stream: [max(known, key=lambda policy: recall[stream][policy][n])
                 for n in range(len(budgets) - 1)]
        for stream in own
    }  # fmt: skip
    return by_stream(
        "The locality-aware algorithms are superior to the other existing ones.",
        {stream: all(name == "lba" for name in names) for stream, names in winners.items()},
        f"Best of LBA, PROB, LIFE, LRU and RAND at {budgets[0]} to {budgets[-2]} %: "
        + ", ".join(f"{s} {'/'.join(dict.fromkeys(names))}" for s, names in winners.items())
        + ".",
        "where popularity does not last, to keep what matched last (LRU) is better. The paper did"
        " not try that.",
    )


def _gap(recall: Mapping[str, np.ndarray], one: str, other: str) -> float:
    return float(np.abs(recall[one] - recall[other]).max())


def _same_without(recall: Mapping[str, np.ndarray]) -> bool:
    scarce = slice(0, -1)  # at 100 % hardly anything is forgotten
    return bool(
        _gap(recall, "lba", "prob") < CLOSE / 5
        and (recall["prob"][scarce] > recall["rand"][scarce]).all()
    )


def judge_window(rows: Rows) -> Sequence[Finding]:
    """Follow the shares of FULL over the window."""
    recall = curves(rows, "recall", "window")
    own, permuted = _orders(recall)
    gains = {stream: recall[stream]["lba"] / recall[stream]["prob"] for stream in own}
    change = {
        stream: {policy: float(np.ptp(line)) for policy, line in found.items()}
        for stream, found in recall.items()
    }
    return [
        by_stream(
            "LBA finds more than PROB at every window.",
            {stream: bool((gain > 1).all()) for stream, gain in gains.items()},
            "LBA over PROB: "
            + ", ".join(f"{s} {gain.min():.3f} to {gain.max():.3f}" for s, gain in gains.items())
            + ".",
            "the difference is smaller than chance.",
        ),
        by_stream(
            "The share of the FULL results is almost constant for windows of any size.",
            {stream: max(change[stream].values()) < SMALL_CHANGE for stream in own},
            f"Largest change of recall: {_changes(change, own)}. With permuted keys:"
            f" {_changes(change, permuted)}.",
            "as far as keys are correlated over short times, short windows hold other matches than"
            " long ones. With permuted keys the share changes less.",
        ),
    ]


def _changes(change: Mapping[str, Mapping[str, float]], streams: Sequence[str]) -> str:
    most = {stream: max(change[stream], key=lambda policy: change[stream][policy])
            for stream in streams}  # fmt: skip
    return "; ".join(f"{s} {change[s][policy]:.3f} ({policy})" for s, policy in most.items())


EXPERIMENTS = (
    Experiment(
        name="figure-3ab",
        title="Figure 3 (a, b): recall over the size of the buffer",
        shows="The locality-aware algorithms keep more of the join than popularity (PROB) and"
        " chance (RAND). The buffer is a share of what the exact join holds in the mean; windows"
        f" are {WINDOWS['locality'][1]} tuples, {WINDOWS['stock'][1]} seconds of trades at two"
        f" exchanges, {WINDOWS['weather'][1]} days of dew points at two airports. T = W is"
        " the paper's choice of the time that LBA looks ahead; the library takes the time that"
        " tuples are kept.",
        points=over_buffer,
        measure=measure,
        tabulate=recalls,
        figure=Figure(
            "budget", "recall", "policy", "stream", error="recall_std",
            titles={"budget": "buffer, % of what the exact join holds"},
        ),
        judge=judge_buffer,
    ),
    Experiment(
        name="figure-3c",
        title="Figure 3 (c): results over the window",
        shows="With a buffer of half of what the exact join holds, results grow with the window"
        " (tuples, seconds, days) as those of the exact join do.",
        points=over_window,
        measure=measure,
        tabulate=results,
        figure=Figure(
            "window", "results", "policy", "stream", error="results_std",
            titles={"window": "window: tuples, seconds, days"},
        ),
        judge=judge_window,
    ),
)  # fmt: skip
