"""Workloads of many streams: speed, the DC/IC experiment and shedding.

    python benchmarks/workload.py [speed] [dcic] [shedding] [attributes] [forecasts] [--seeds N]

speed: the join of three streams of W1-like data (LocalityStream, window 10,000, 10 % of what the
exact join holds) against the join of two, tuples per second.

dcic: two joins share a buffer (GreedyDual-Join paper, section 5.3.3), one budget for all or one for
each stream, over several seeds.

shedding: an arrival is dropped with probability p before the buffer (section 5.4). At
p = 1 − B/(λW), by rate and fixed: how many arrivals are evicted, and for how many of the 50 most
frequent keys the mean share over all seeds lies within 3 standard errors of the exact one. Then the
curve of results and distortion over p, as tables and as a figure in the folder --out.

attributes: joins of two streams on one to four attributes (section 5.3.4).

forecasts: joins on keys that move, where HEEB and HIST have something to predict.
"""

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import mean, stdev
from time import perf_counter
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
from plotly.subplots import make_subplots

import recollect as rc
from recollect.join.kernel import Feed, Trace
from recollect.join.whole import quiet
from recollect.streams import LocalityStream, TrendStream, WalkStream, ZipfStream
from recollect.workload import Prepared, Stream, Workload
from recollect_papers import catalogue
from tables import table

ROUNDS = 3
POLICIES = ["fifo", "rand", "lru", "clock", "lfu", "gdj", "prob", "life"]


def speed(tuples: int = 300_000, window: int = 10_000) -> None:
    streams = [LocalityStream(tuples, seed=seed).table() for seed in (1, 2, 3)]
    names = "RST"
    on_all = Workload(
        {n: Stream(s, time="time", window=window) for n, s in zip(names, streams, strict=True)},
        {"all": "R.key = S.key = T.key"},
    )
    prepared = Prepared(on_all)
    lines = [["policy", "two streams, M/s", "three streams, M/s", "ratio"]]
    for policy in POLICIES:
        two, three = 0.0, 0.0
        for _ in range(ROUNDS):
            answer = rc.join(
                *streams[:2], on="key", time="time", window=window, budget=2 * window // 10,
                policy=policy, count_only=True,
            )  # fmt: skip
            two = max(two, answer.stats.tuples_per_second)
            three = max(three, prepared.run(policy, 3 * window // 10).tuples_per_second)
        lines.append([policy, f"{two / 1e6:.2f}", f"{three / 1e6:.2f}", f"{three / two:.2f}"])
    print(table(lines))


def dcic(seeds: int) -> None:
    results: dict[tuple[str, str], list[int]] = {}
    for seed in range(seeds):
        made = catalogue.load("gdj-unified", seed=seed)
        workload = Workload(
            {
                name: Stream(stream, time="time", window=100)
                for name, stream in made.streams.items()
            },
            {left[:2]: f"{left}.key = {right}.key" for left, right in made.facts["joins"]},
        )
        prepared = Prepared(workload)
        for policy in ("rand", "fifo", "prob", "gdj", "gdj:percentile=0.998", "clock"):
            for division in ("unified", "rate"):
                run = prepared.run(policy, "20%", division, seed)
                results.setdefault((policy, division), []).append(run.results)
    lines = [["policy", "unified", "proportional", "unified − proportional"]]
    for policy in dict.fromkeys(policy for policy, _ in results):
        unified, split = results[policy, "unified"], results[policy, "rate"]
        gain = [one - two for one, two in zip(unified, split, strict=True)]
        lines.append(
            [policy, *(f"{mean(x):,.0f} ± {stdev(x):,.0f}" for x in (unified, split, gain))]
        )
    print(table(lines))


KEYS = 500


def independent(shed: float | str, tuples: int = 60_000, window: int = 5_000) -> Workload:
    """Two streams of independent keys; 2 window tuples would be alive."""
    streams = {
        name: ZipfStream(tuples, keys=KEYS, exponent=0.8, seed=seed)
        for seed, name in enumerate("RS", start=1)
    }
    return Workload(
        {n: Stream(s, time="time", window=window, shed=shed) for n, s in streams.items()},
        {"join": "R.key = S.key"},
    )


def with_itself(shed: float | str, tuples: int = 300_000, window: int = 10_000) -> Workload:
    """A stream that repeats what came lately, and meets itself; as many would be alive."""
    stream = LocalityStream(tuples, keys=2_000, exponent=0.8, repeat=0.7, depth=50, seed=1)
    return Workload(
        {"R": Stream(stream, time="time", window=window, shed=shed)}, {"join": "R.key = R.key"}
    )


ALIVE = 10_000
DROPPED = (0.0, 0.2, 0.4, 0.6, 0.8)
CURVES = {"independent keys, two streams": independent, "locality, with itself": with_itself}
SHED_POLICIES = ("fifo", "prob", "gdj", "clock")


class Seen:
    """What the arrivals of a run found, and how many tuples were held after each."""

    def __init__(self) -> None:
        self.found = np.zeros(KEYS, np.int64)
        self.held: list[np.ndarray] = []

    def add(self, feed: Feed, trace: Trace) -> None:
        """Enter what some arrivals have found."""
        keys = feed.keys[feed.order, 0]
        self.found += np.bincount(keys, trace.found[:, 0], KEYS).astype(np.int64)
        self.held.append(trace.held)


def seen(ready: Prepared, budget: Any, seed: int = 0) -> tuple[Seen, Any]:
    run = ready.start(ready.inputs, "fifo", budget, "unified", seed)
    run.tally = Seen()
    for feed in ready.inputs.feeds(quiet, ""):
        run.take(feed)
    return run.tally, run


def unbiased(seeds: int) -> str:
    """What is dropped and evicted at p = 1 − B/(λW), and how far the shares of keys are off."""
    lines = [["B", "shed", "dropped", "while full", "held", "evicted: mean", "most", "results",
              "keys within 3 standard errors"]]  # fmt: skip
    exact = seen(Prepared(independent(0.0)), "unlimited")[0].found
    exact = exact / exact.sum()
    top = np.argsort(-exact)[:50]
    for budget, shed in product((1_000, 2_000, 5_000), ("rate", "fixed")):
        ready = Prepared(independent("rate" if shed == "rate" else 1 - budget / ALIVE))
        shares, counts = [], []
        for seed in range(seeds):
            tally, run = seen(ready, budget, seed)
            histogram = tally.found
            shares.append(histogram[top] / histogram.sum())
            held = np.concatenate(tally.held)[2 * ALIVE :].mean()
            ledger, arrivals = run.engine.ledger, ready.exact.tuples_in
            gone = (run.dropped, ledger.shed.sum(), ledger.evicted.sum())
            counts.append((*(count / arrivals for count in gone), held, histogram.sum()))
        error = np.std(shares, axis=0, ddof=1) / np.sqrt(seeds)
        within = np.abs(np.mean(shares, axis=0) - exact[top]) <= 3 * error
        dropped, full, evicted, held, found = np.mean(counts, axis=0)
        lines.append(
            [f"{budget:,}", shed, f"{dropped:.1%}", f"{full:.2%}", f"{held:,.0f}",
             f"{evicted:.2%}", f"{np.max(counts, axis=0)[2]:.2%}", f"{found:,.0f}",
             f"{within.sum()} of 50"]
        )  # fmt: skip
    return table(lines)


def curves(seeds: int) -> dict[tuple[str, str], list[tuple[float, float, float]]]:
    """By input and policy: results, SSE and KL for each p; means over seeds."""
    points: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for (title, make), p in product(CURVES.items(), DROPPED):
        ready = Prepared(make(p))
        for policy in SHED_POLICIES:
            runs = [ready.run(policy, ALIVE // 5, seed=seed) for seed in range(seeds)]
            means = (mean(getattr(run, name) for run in runs) for name in ("results", "sse", "kl"))
            points.setdefault((title, policy), []).append(tuple(means))
    return points


def figure(points: dict[tuple[str, str], list[tuple[float, float, float]]]) -> go.Figure:
    """Distortion over results, a line per policy from p = 0.8 on the left to 0 on the right."""
    plot = make_subplots(1, 2, subplot_titles=list(CURVES), horizontal_spacing=0.08)
    colors = dict(zip(SHED_POLICIES, ["#0072b2", "#d55e00", "#009e73", "#cc79a7"], strict=True))
    for (title, policy), line in points.items():
        results, errors, _ = zip(*line, strict=True)
        plot.add_scatter(
            x=[count / 1e6 for count in results], y=errors, name=policy, mode="lines+markers+text",
            text=[f"{p:g}" if policy == "fifo" or p < DROPPED[-1] else "" for p in DROPPED],
            textposition="bottom center" if policy == "fifo" else "top center", textfont_size=10,
            line_color=colors[policy], col=1 + list(CURVES).index(title), row=1,
            showlegend=title == next(iter(CURVES)),
        )  # fmt: skip
    plot.update_xaxes(title="results, millions", rangemode="tozero")
    plot.update_yaxes(type="log", dtick=1, exponentformat="power")
    plot.update_yaxes(title="distortion, SSE", col=1)
    plot.update_layout(template="plotly_white", width=1000, height=480, margin_t=40)
    return plot


def shedding(seeds: int, out: Path) -> None:
    print(unbiased(seeds))
    points = curves(min(seeds, 5))
    for title in CURVES:
        lines = [["p", *(f"{policy}: {what}" for policy in SHED_POLICIES
                         for what in ("results", "SSE", "KL"))]]  # fmt: skip
        for place, p in enumerate(DROPPED):
            row = [points[title, policy][place] for policy in SHED_POLICIES]
            cells = [(f"{found / 1e6:.2f}M", f"{sse:.1e}", f"{kl:.4f}") for found, sse, kl in row]
            lines.append([f"{p:g}", *(cell for triple in cells for cell in triple)])
        print(f"\n{title}\n\n{table(lines)}")
    out.mkdir(parents=True, exist_ok=True)
    figure(points).write_html(out / "shedding.html", config={"displayModeBar": False})


def attributes(seeds: int) -> None:
    lines = [["joins", "fifo", "prob", "gdj"]]
    for count in (1, 2, 3, 4):
        recalls: dict[str, list[float]] = {}
        for seed in range(seeds):
            made = catalogue.load("gdj-attributes", seed=seed)
            keys = made.facts["joins"][:count]
            workload = Workload(
                {n: Stream(s, time="time", window=100) for n, s in made.streams.items()},
                {key: f"R.{key} = S.{key}" for key in keys},
            )
            ready = Prepared(workload)
            for policy in lines[0][1:]:
                recalls.setdefault(policy, []).append(ready.run(policy, "20%").recall)
        lines.append([str(count), *(f"{mean(recalls[policy]):.3f}" for policy in lines[0][1:])])
    print(table(lines))


TUPLES, SPAN = 3_000, 60
FORETELLING = ["rand", "clock", "prob", "hist", "heeb:sample=32", "heeb"]


def rising(lag: int, deviation: float, seed: int) -> TrendStream:
    return TrendStream(TUPLES, lag=lag, deviation=deviation, bound=20, seed=seed)


def zipfian(seed: int) -> ZipfStream:
    return ZipfStream(TUPLES, keys=200, exponent=0.8, seed=seed)


def three_trends(seed: int) -> tuple[dict[str, Any], dict[str, str]]:
    given = (("R", 0, 3.0), ("S", 5, 5.0), ("T", 20, 4.0))
    streams = {name: rising(lag, sd, 10 * seed + lag) for name, lag, sd in given}
    return streams, {"all": "R.key = S.key = T.key"}


def three_walks(seed: int) -> tuple[dict[str, Any], dict[str, str]]:
    random = np.random.default_rng(seed)
    base = WalkStream(TUPLES, seed=seed).table()
    near = (base["key"].to_numpy() + random.integers(-2, 3, TUPLES) for _ in "RST")
    streams = {
        name: pa.table({"time": base["time"], "key": keys})
        for name, keys in zip("RST", near, strict=True)
    }
    return streams, {"all": "R.key = S.key = T.key"}


def two_joins(seed: int) -> tuple[dict[str, Any], dict[str, str]]:
    """One with laws and one without share a buffer."""
    streams = {"R": rising(0, 3.0, 2 * seed), "S": rising(1, 5.0, 2 * seed + 1)}
    streams |= {"T": zipfian(2 * seed), "U": zipfian(2 * seed + 1)}
    return streams, {"rising": "R.key = S.key", "popular": "T.key = U.key"}


def two_conditions(seed: int) -> tuple[dict[str, Any], dict[str, str]]:
    """The same on two columns of the same streams."""
    four = two_joins(seed)[0]
    streams = {
        name: four[name].table().append_column("popular", four[other].table()["key"])
        for name, other in ("RT", "SU")
    }
    return streams, {"rising": "R.key = S.key", "popular": "R.popular = S.popular"}


def forecasts(seeds: int) -> None:
    made = {
        "three trends": three_trends,
        "three walks": three_walks,
        "two joins, one buffer": two_joins,
        "two conditions, same streams": two_conditions,
    }
    lines = [["workload", *FORETELLING]]
    for title, make in made.items():
        recalls: dict[str, list[float]] = {}
        for seed in range(seeds):
            streams, joins = make(seed)
            ready = Prepared(
                Workload(
                    {n: Stream(s, time="time", window=SPAN) for n, s in streams.items()}, joins
                )
            )
            for policy in FORETELLING:
                recalls.setdefault(policy, []).append(ready.run(policy, 30, seed=seed).recall)
        lines.append([title, *(f"{mean(recalls[policy]):.3f}" for policy in FORETELLING)])
    print(table(lines))


PARTS: dict[str, Callable[[int], None]] = {
    "dcic": dcic,
    "attributes": attributes,
    "forecasts": forecasts,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = ["speed", "shedding", *PARTS]
    parser.add_argument("parts", nargs="*", help=", ".join(names) + "; all if none")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("out"))
    arguments = parser.parse_args()
    for part in arguments.parts or names:
        started = perf_counter()
        print(f"\n## {part}\n")
        if part == "speed":
            speed()
        elif part == "shedding":
            shedding(arguments.seeds, arguments.out)
        else:
            PARTS[part](arguments.seeds)
        print(f"\n{perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
