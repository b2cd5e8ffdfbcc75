"""Workloads of many streams: speed, the DC/IC experiment and shedding.

    python benchmarks/workload.py [speed] [dcic] [shedding] [attributes] [--seeds N]

speed: the join of three streams of W1-like data (LocalityStream, window 10,000, 10 % of what the
exact join holds) against the join of two on the engine for two streams, tuples per second.

dcic: two joins share a buffer (GreedyDual-Join paper, section 5.3.3), one budget for all or one for
each stream, over several seeds.

shedding: an arrival is dropped with probability p before the buffer (section 5.4). At
p = 1 − B/(λW): how many arrivals are evicted, and for how many of the 50 most frequent keys the
mean share over all seeds lies within 3 standard errors of the exact one. Then the curve of results
and distortion over p.

attributes: joins of two streams on one to four attributes (section 5.3.4).
"""

import argparse
from itertools import product
from statistics import mean, stdev
from time import perf_counter

import numpy as np

import recollect as rc
from recollect.streams import LocalityStream, ZipfStream, catalogue
from recollect.workload import Prepared, Stream, Workload

ROUNDS = 3
POLICIES = ["fifo", "rand", "lru", "clock", "lfu", "gdj", "prob", "life"]


def table(lines: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rows = [
        "| " + " | ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    rows.insert(1, "|" + "|".join("-" * (w + 1) + ":" for w in widths) + "|")
    return "\n".join(rows)


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


def shedding(seeds: int, tuples: int = 60_000, window: int = 5_000) -> None:
    streams = {
        name: ZipfStream(tuples, keys=500, exponent=0.8, seed=seed)
        for seed, name in enumerate("RS", start=1)
    }

    def prepared(shed: float | str) -> Prepared:
        return Prepared(
            Workload(
                {n: Stream(s, time="time", window=window, shed=shed) for n, s in streams.items()},
                {"join": "R.key = S.key"},
            )
        )

    at_rate = prepared("rate")
    exact = at_rate.measures.histogram(at_rate.measures.exact)
    exact /= exact.sum()
    top = np.argsort(-exact)[:50]
    lines = [["B", "policy", "dropped", "evicted: mean", "most", "keys within 3 standard errors"]]
    for budget, policy in product((1_000, 2_000, 5_000), ("fifo", "gdj")):
        shares, evicted, dropped = [], [], []
        for seed in range(seeds):
            engine, _, shed, _ = at_rate.engine(policy, budget, seed=seed)
            histogram = at_rate.measures.histogram(engine.ledger.found)
            shares.append(histogram[top] / histogram.sum())
            evicted.append(int(engine.ledger.evicted.sum()) / (2 * tuples))
            dropped.append(shed / (2 * tuples))
        error = np.std(shares, axis=0, ddof=1) / np.sqrt(seeds)
        within = np.abs(np.mean(shares, axis=0) - exact[top]) <= 3 * error
        lines.append(
            [f"{budget:,}", policy, f"{mean(dropped):.1%}", f"{mean(evicted):.2%}",
             f"{max(evicted):.2%}", f"{within.sum()} of 50"]
        )  # fmt: skip
    print(table(lines))
    print()
    lines = [["p", "policy", "results", "SSE", "KL", "evicted"]]
    for p in (0.0, 0.2, 0.4, 0.6, 0.8):
        ready = prepared(p)
        for policy in ("fifo", "prob", "gdj"):
            run = ready.run(policy, 2_000)
            lines.append(
                [f"{p}", policy, f"{run.results:,}", f"{run.sse:.2e}", f"{run.kl:.4f}",
                 f"{run.evicted / run.tuples_in:.1%}"]
            )  # fmt: skip
    print(table(lines))


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="speed, dcic, shedding, attributes; all if none")
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    for part in arguments.parts or ["speed", "dcic", "shedding", "attributes"]:
        started = perf_counter()
        print(f"\n## {part}\n")
        if part == "speed":
            speed()
        else:
            {"dcic": dcic, "shedding": shedding, "attributes": attributes}[part](arguments.seeds)
        print(f"\n{perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
