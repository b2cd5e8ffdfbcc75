"""The pictures of recall over the budget, or of hits over the size of a cache; and the tables."""

from pathlib import Path

import pyarrow as pa
import streams
from drawing import DARK, GREY, PANEL, SHADES, WIDTH, save
from matplotlib.figure import Figure

import recollect as rc
from recollect.lookup import cache_policy_names
from recollect.optimum import best_runs
from recollect.policies import policy_names

SHARES, ROWS = [2.5, 5, 10, 20, 40], [25, 50, 100, 200, 400]
PARTNERS = {"lba": "elba"}
"""What is drawn beside a policy on its page."""

Curves = dict[str, dict[str, list[float]]]
"""By stream and policy: the share that was found at each budget."""


def recalls() -> Curves:
    """Join three pairs of streams with every policy and budget."""
    found: Curves = {}
    budgets = [f"{share}%" for share in SHARES]
    for title, make, window in (
        ("popularity lasts", streams.lasting, 1_000),
        ("popularity passes", streams.passing, 1_000),
        ("keys move", streams.moving, 250),
    ):
        both = make(1), make(2)
        query = {"on": "key", "time": "time", "window": window, "budgets": budgets}
        ran = rc.compare(*both, policies=policy_names(), **query).runs
        for run in [*ran, *best_runs(*both, **query)]:
            found.setdefault(title, {}).setdefault(run.policy, []).append(run.recall)
    return found


def hit_rates() -> Curves:
    """Refer to the rows of three streams through caches of every policy and size."""
    found: Curves = {}
    rows = pa.table({"key": range(20_000)})
    for title, make in (
        ("popularity lasts", streams.lasting),
        ("popularity passes", streams.passing),
        ("scans", streams.scanned),
    ):
        for policy in cache_policy_names():
            ran = [rc.lookup(make(1), rows, on="key", cache=size, policy=policy) for size in ROWS]
            found.setdefault(title, {})[policy] = [answer.stats.hit_rate for answer in ran]
    return found


def draw_curves(page: str, cache: bool, found: Curves, out: Path) -> None:
    """Draw the policy in colour, the best possible dashed, the others in grey."""
    sizes, best = (ROWS, "lfd") if cache else (SHARES, "opt")
    figure = Figure(figsize=(WIDTH, PANEL), layout="constrained")
    panels = figure.subplots(1, len(found), sharey=True)
    shown = {page: "-", PARTNERS.get(page, page): "--"} | {page: "-"}
    for axes, (title, curves) in zip(panels, found.items(), strict=True):
        for policy, curve in sorted(curves.items(), key=lambda each: each[0] in shown):
            style = {"c": GREY, "lw": 1}
            if policy in shown:
                style = {"c": SHADES[-1], "lw": 2.4, "ls": shown[policy]}
            elif policy == best:
                style = {"c": DARK, "lw": 1, "ls": ":"}
            axes.plot(sizes, [100 * share for share in curve], **style)
        axes.set_title(title, loc="left")
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
        axes.minorticks_off()
        axes.set(ylim=(0, 100), xlabel="rows in the cache" if cache else "budget, %")
    panels[0].set_ylabel("hits, %" if cache else "recall, %")
    save(figure, out / f"{page}-recall.svg")


def print_table(found: Curves, size: int, titles: str) -> None:
    """Print one budget of the curves as Markdown."""
    print(f"| {titles} | " + " | ".join(found) + " |\n|---" + "|---:" * len(found) + "|")
    for policy in next(iter(found.values())):
        cells = (f"{100 * curves[policy][size]:.1f} %" for curves in found.values())
        print(f"| `{policy}` | " + " | ".join(cells) + " |")
    print()
