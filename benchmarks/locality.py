"""What a policy gains that knows the locality of the streams.

    python benchmarks/locality.py [--tuples N] [--opt] [--out FOLDER]

Two streams by the locality model: with probability 0.7 a tuple repeats one of the last 50 keys of
its stream, else it is drawn from 500 keys, Zipf 0.75. Window 1,000, the budget split in two.
``horizon=1000`` is the choice of T in the paper: the window. FOLDER gets the table and the figure.

--opt adds the offline optimum: minutes for streams of 20,000 tuples, so make these short.
"""

import argparse
from pathlib import Path

import plotly.graph_objects as go
from plotly.colors import qualitative
from plotly.subplots import make_subplots

import recollect as rc
from recollect.optimum import best_runs
from recollect.streams import LocalityStream

POLICIES = ["rand", "lru", "prob", "lba", "elba", "lba:horizon=1000", "elba:horizon=1000"]
LINES = dict.fromkeys(["rand", "lru", "prob", "lba", "elba", "opt"], "solid") | {
    "lba:horizon=1000": "dot",
    "elba:horizon=1000": "dot",
}
BUDGETS = ["2%", "5%", "10%", "20%", "40%"]
QUERY = {"on": "key", "time": "time", "window": 1000, "split": True}


def measure(tuples: int, opt: bool) -> dict[str, list[float]]:
    """The recall of each policy at each budget, in per cent."""
    streams = [
        LocalityStream(tuples, keys=500, exponent=0.75, repeat=0.7, depth=50, seed=seed)
        for seed in (1, 2)
    ]
    runs = rc.compare(*streams, policies=POLICIES, budgets=BUDGETS, **QUERY).runs
    recalls: dict[str, list[float]] = {}
    for run in [*runs, *(best_runs(*streams, budgets=BUDGETS, **QUERY) if opt else [])]:
        recalls.setdefault(run.policy, []).append(100 * run.recall)
    return recalls


def table(recalls: dict[str, list[float]]) -> str:
    lines = ["| policy | " + " | ".join(BUDGETS) + " |", "|---" + "|---:" * len(BUDGETS) + "|"]
    for policy, shares in recalls.items():
        cells = " | ".join(f"{share:.2f} %" for share in shares)
        lines.append(f"| `{policy}` | {cells} |")
    return "\n".join(lines)


def figure(recalls: dict[str, list[float]]) -> go.Figure:
    """Recall over the budget, and once more as the distance from PROB's."""
    plot = make_subplots(1, 2, subplot_titles=["recall, %", "points above prob"])
    budgets = [float(budget.rstrip("%")) for budget in BUDGETS]
    for (name, dash), color in zip(LINES.items(), qualitative.Plotly, strict=False):
        if name not in recalls:
            continue
        line = {"x": budgets, "name": name, "line": {"color": color, "dash": dash}}
        plot.add_scatter(y=recalls[name], **line, col=1, row=1)
        if "lba" in name or name == "prob":
            above = [a - b for a, b in zip(recalls[name], recalls["prob"], strict=True)]
            plot.add_scatter(y=above, **line, showlegend=False, col=2, row=1)
    plot.update_layout(template="plotly_white", width=1000, height=440, margin_t=40)
    plot.update_xaxes(title="budget", type="log", tickvals=budgets, ticktext=BUDGETS)
    return plot


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tuples", type=int, default=200_000, help="length of each stream")
    parser.add_argument("--opt", action="store_true", help="with the offline optimum")
    parser.add_argument("--out", type=Path, default=Path("out"))
    arguments = parser.parse_args()
    recalls = measure(arguments.tuples, arguments.opt)
    print(table(recalls))
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "locality.md").write_text(table(recalls) + "\n", encoding="utf-8")
    figure(recalls).write_html(arguments.out / "locality.html", config={"displayModeBar": False})


if __name__ == "__main__":
    main()
