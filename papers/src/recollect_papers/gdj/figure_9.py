"""Figure 9: results and squared errors over the probability of being dropped."""

from collections.abc import Callable, Sequence

from recollect_papers.experiment import Experiment, Row, Rows
from recollect_papers.figure import Figure
from recollect_papers.gdj.claims import line, per_input
from recollect_papers.gdj.sampling import (
    DROPS,
    FIT,
    LIKE,
    NAMES,
    POLICIES,
    means,
    measure,
    points,
    trade,
)
from recollect_papers.replication import Finding

MEASURES = ("recall", "SSE")


def tabulate(rows: Rows) -> Rows:
    """Give each measure a row, so that it has a panel."""
    averages = means(rows)
    return [
        {name: row[name] for name in ("input", "policy", "drop", "runs")}
        | {"panel": f"{row['input']}: {measured}", "measured": measured}
        | {"value": row[measured], "value_std": row[f"{measured}_std"]}
        for measured in MEASURES
        for row in averages
    ]


def side_by_side(rows: Rows) -> list[Row]:
    """Put the measures of a policy and probability into one row again."""
    joined: dict[tuple[object, ...], Row] = {}
    for row in rows:
        by = {name: row[name] for name in ("input", "policy", "drop")}
        key = tuple(by.values())
        joined[key] = {**joined.get(key, by), row["measured"]: row["value"]}
    return list(joined.values())


def judge(rows: Rows) -> Sequence[Finding]:
    """Look how drops change both, and what GDJ gains."""
    wide = side_by_side(rows)

    def most(policy: str) -> Callable[[Rows], tuple[bool, str]]:
        def test(mine: Rows) -> tuple[bool, str]:
            held = all(
                line(mine, policy=policy, drop=DROPS[0])[measured]
                > line(mine, policy=policy, drop=FIT)[measured]
                for measured in MEASURES
            )
            return held, f"SSE of {change(mine, policy)}, {change(mine, 'FIFO')}"

        return test

    def like_fifo(mine: Rows) -> tuple[bool, str]:
        found = {p: line(mine, policy=p, drop=FIT)["recall"] for p in POLICIES}
        off = max(abs(found[p] / found["FIFO"] - 1) for p in ("GDJ", "PROB"))
        return off <= LIKE, "recall of " + ", ".join(f"{p} {r:.3f}" for p, r in found.items())

    return [
        *(
            per_input(
                f"Without drops {policy} finds most and distorts most; with 80 % both are smaller.",
                wide, NAMES, most(policy),
                "With 80 % of the tuples dropped, few results are left, and chance distorts those"
                f" of {policy} as it does those of FIFO, which prefers no key. Without drops"
                f" {policy} distorts so little that this is more.",
            )
            for policy in ("PROB", "GDJ")
        ),
        per_input(
            "With drops of 80 % the policies behave like FIFO.", wide, NAMES, like_fifo
        ),
        *trade(wide, "SSE"),
    ]  # fmt: skip


def change(rows: Rows, policy: str) -> str:
    """Return the errors of a policy without drops and with the most."""
    few, many = (line(rows, policy=policy, drop=drop)["SSE"] for drop in (DROPS[0], FIT))
    return f"{policy} {few:.2g} → {many:.2g}"


EXPERIMENT = Experiment(
    name="figure-9",
    title="Figure 9: sampling, squared errors",
    shows="Before a buffer of 20 % each tuple is dropped with probability p. The paper plots the"
    " output and its distortion, the squared errors (SSE) of the shares of the keys, of PROB and"
    " GDJ on stock and weather data: both fall as p rises, and GDJ gives more for less distortion."
    " FIFO, and streams with shared flurries (figure 4), are drawn, too.",
    points=points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure(
        "drop", "value", "policy", "panel", error="value_std",
        titles={"drop": "probability of being dropped", "value": "recall, or SSE"},
    ),
    judge=judge,
)  # fmt: skip
