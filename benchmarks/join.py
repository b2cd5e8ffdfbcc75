"""The join against DuckDB (work W1), and its cost as the buffer grows (work W2).

    python benchmarks/join.py [w1] [w2] [memory] [start] [--out FOLDER]

W1: two streams of 1,000,000 tuples, one of each per time unit, Zipf 0.8 over 100,000 keys, each
tuple with probability 0.5 a repeat of one of the last 50 keys; window 10,000, unified budget 10 %.
Every policy counts its results with every match visited. DuckDB computes the exact count on one
thread in the fastest of the formulations tried. Both read the same Arrow tables in memory; rates
are the best of several runs, taken in turns in the same process.

W2: keys uniform over 50,000,000, window 1,000,000, budgets from 1,000 to 1,000,000 tuples.

memory: 5,000,000 tuples with about 100 bytes of payload each, joined by the command under a budget
of 64 MB: how much more resident memory does it take at its peak than with 2,000 tuples?

start: how long a fresh process needs until it has joined two small tables, with a warm cache of
compiled code and without any.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from platform import processor, python_version
from time import perf_counter

import duckdb
import numba
import numpy as np
import pyarrow as pa

import recollect as rc
from recollect.streams import LocalityStream, ZipfStream, open_sink
from tables import table

POLICIES = [
    "fifo", "rand", "lru", "clock", "prob", "life", "lfu", "gdj", "gdj:method=3", "gdj:method=2",
    "clock-exp", "age", "prob:counts=sketch", "life:counts=sketch",
]  # fmt: skip
GOALS = dict.fromkeys(["fifo", "rand", "lru", "clock"], 2.0) | dict.fromkeys(
    ["prob", "life", "lfu", "gdj", "gdj:method=3"], 1.0
)
LEAST = 0.3
ROUNDS = 3
WINDOW = 10_000

BUCKETS = """
    select count(*)
    from (select key, time, time // {w} as bucket from l) l
    join (
        select key, time, time // {w} + shift as bucket
        from r, (values (-1), (0), (1)) shifts(shift)
    ) r using (key, bucket)
    where abs(l.time - r.time) <= {w}
"""
UNION = " union all ".join(
    """
    select count(*) as n
    from (select key, time, time // {w} as bucket from l) l
    join (select key, time, time // {w} + SHIFT as bucket from r) r using (key, bucket)
    where abs(l.time - r.time) <= {w}""".replace("SHIFT", str(shift))
    for shift in (-1, 0, 1)
)
FORMULATIONS = {"shifted buckets": BUCKETS, "one join per shift": f"select sum(n) from ({UNION})"}


def w1() -> None:
    left, right = (LocalityStream(1_000_000, seed=seed).table() for seed in (1, 2))
    tuples = len(left) + len(right)
    database = duckdb.connect(config={"threads": 1})
    for name, stream in (("l", left), ("r", right)):
        database.register(f"arrow_{name}", stream)
        database.execute(f"create table {name} as select * from arrow_{name}")

    def peer(query: str) -> tuple[float, int]:
        started = perf_counter()
        (exact,) = database.execute(query.format(w=WINDOW)).fetchone()
        return perf_counter() - started, int(exact)

    def ours(policy: str) -> tuple[float, rc.Answer]:
        answer = rc.join(
            left, right, on="key", time="time", window=WINDOW,
            budget=budget, policy=policy, count_only=True,
        )  # fmt: skip
        return answer.stats.seconds, answer

    survey = rc.join(
        left, right, on="key", time="time", window=WINDOW, budget="10%", policy="fifo",
        exact=True, count_only=True,
    ).stats  # fmt: skip
    budget = survey.budget_tuples
    for policy in POLICIES:
        ours(policy)
    best_peer = {name: float("inf") for name in FORMULATIONS}
    best = dict.fromkeys(POLICIES, float("inf"))
    results: dict[str, rc.Answer] = {}
    for _ in range(ROUNDS):
        for name, query in FORMULATIONS.items():
            seconds, exact = peer(query)
            assert exact == survey.exact_results, (exact, survey.exact_results)
            best_peer[name] = min(best_peer[name], seconds)
        for policy in POLICIES:
            seconds, results[policy] = ours(policy)
            best[policy] = min(best[policy], seconds)
    fastest = min(best_peer, key=lambda name: best_peer[name])
    duck = tuples / best_peer[fastest]
    print(
        f"\nW1: {tuples:,} tuples, {survey.exact_results:,} exact results, budget {budget:,} tuples"
    )
    lines = [["", "results", "recall", "M tuples/s", "x DuckDB", "goal"]]
    name = f"DuckDB {duckdb.__version__}, 1 thread, {fastest}"
    lines.append([name, f"{survey.exact_results:,}", "100.0 %", f"{duck / 1e6:.2f}", "1.00", ""])
    for policy in POLICIES:
        found = results[policy].stats.results
        rate = tuples / best[policy]
        goal = GOALS.get(policy, LEAST)
        met = "met" if rate / duck >= goal else "MISSED"
        lines.append(
            [policy, f"{found:,}", f"{found / survey.exact_results:.1%}", f"{rate / 1e6:.2f}",
             f"{rate / duck:.2f}", f"≥ {goal} {met}"]
        )  # fmt: skip
    print(table(lines))


def w2(out: Path | None) -> None:
    left, right = (
        ZipfStream(1_000_000, keys=50_000_000, exponent=0, seed=seed).table() for seed in (1, 2)
    )
    budgets = [1_000, 10_000, 100_000, 1_000_000]
    rates: dict[str, list[float]] = {}
    for policy in POLICIES:
        rates[policy] = []
        for budget in budgets:
            runs = [
                rc.join(
                    left, right, on="key", time="time", window=1_000_000,
                    budget=budget, policy=policy, count_only=True,
                ).stats.tuples_per_second
                for _ in range(2)
            ]  # fmt: skip
            rates[policy].append(max(runs))
    print("\nW2: 2,000,000 tuples, keys uniform over 50,000,000, window 1,000,000; M tuples/s")
    lines = [["budget", *(f"{budget:,}" for budget in budgets), "falls by", "goal"]]
    for policy, row in rates.items():
        fall = row[0] / row[-1]
        met = "met" if fall <= 4 else "MISSED"
        lines.append(
            [policy, *(f"{rate / 1e6:.2f}" for rate in row), f"{fall:.1f} x", f"≤ 4 x {met}"]
        )
    print(table(lines))
    if out is not None:
        plot(budgets, rates, out / "w2.html")


def plot(budgets: list[int], rates: dict[str, list[float]], path: Path) -> None:
    import plotly.graph_objects as go

    figure = go.Figure()
    dashes = ["solid", "dash", "dot"]
    for i, (policy, row) in enumerate(rates.items()):
        line = {"dash": dashes[i // 5], "width": 2}
        figure.add_scatter(x=budgets, y=row, name=policy, mode="lines+markers", line=line)
    figure.update_xaxes(type="log", title="budget, tuples", dtick=1)
    figure.update_yaxes(type="log", title="tuples per second", dtick="D2")
    figure.update_layout(template="plotly_white", width=1000, height=560, margin_t=30)
    figure.update_layout(colorway=["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"])
    figure.write_html(path, config={"displayModeBar": False})
    print(f"plot: {path}")


MEMORY = """
import sys, threading, time, psutil
import recollect_command
process = psutil.Process()
peak = 0
def watch():
    global peak
    while True:
        peak = max(peak, process.memory_info().rss)
        time.sleep(0.002)
threading.Thread(target=watch, daemon=True).start()
try:
    recollect_command.main()
finally:
    print(peak / 1e6, file=sys.stderr)
"""


def payload_stream(path: Path, tuples: int, seed: int) -> str:
    stream = ZipfStream(tuples, keys=1_000_000, exponent=0.5, seed=seed)
    random = np.random.default_rng(seed)
    schema = stream.schema.append(pa.field("payload", pa.string()))
    with open_sink(path, schema) as sink:
        for batch in stream.batches():
            letters = random.integers(97, 123, (batch.num_rows, 80), dtype=np.uint8)
            text = pa.array(letters.view("S80").ravel().astype("U80"))
            sink.write(pa.record_batch([*batch.columns, text], schema=schema))
    return str(path)


def memory() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = [payload_stream(folder / f"{seed}.parquet", 2_500_000, seed) for seed in (1, 2)]
        small = [payload_stream(folder / f"{seed}.parquet", 1_000, seed) for seed in (3, 4)]

        def peak(paths: list[str], policy: str) -> tuple[float, dict]:
            words = [
                *[
                    "join",
                    "--on",
                    "key",
                    "--time",
                    "time",
                    "--window",
                    "1000000",
                    "--budget",
                    "64MB",
                    "--json",
                ]
            ]
            words += [*paths, "--policy", policy, "--out", str(folder / "out.parquet")]
            done = subprocess.run(
                [sys.executable, "-c", MEMORY, *words], check=True, capture_output=True, text=True
            )
            return float(done.stderr), json.loads(done.stdout)

        columns = "resident, 2,000 tuples", "5,000,000 tuples", "growth, MB", "goal", "peak tuples"
        lines = [["policy", *columns, "results"]]
        for policy in (
            "fifo",
            "rand",
            "lru",
            "clock",
            "gdj",
            "prob:counts=sketch",
            "life:counts=sketch",
        ):
            peak(small, policy)  # compiles
            least, _ = peak(small, policy)
            most, stats = peak(large, policy)
            met = "met" if most - least < 96 else "MISSED"
            lines.append(
                [policy, f"{least:.0f}", f"{most:.0f}", f"{most - least:.0f}", f"< 96 {met}",
                 f"{stats['peak_tuples']:,}", f"{stats['results']:,}"]
            )  # fmt: skip
        print(
            "\nMemory: 5,000,000 tuples, ~100 bytes each, --budget 64MB, results written to Parquet"
        )
        print(table(lines))


START = """
import pyarrow as pa, recollect as rc, sys
t = pa.table({"t": [1, 2], "k": [1, 1]})
rc.join(t, t, on="k", time="t", window=1, budget=10, policy=sys.argv[1])
"""


def start() -> None:
    lines = [["policy", "no cache, s", "goal", "warm cache, s", "goal"]]
    for policy in ("fifo", "gdj", "gdj:method=2", "prob", "age"):
        with tempfile.TemporaryDirectory() as folder:
            seconds = []
            for _ in range(2):
                started = perf_counter()
                subprocess.run(
                    [sys.executable, "-c", START, policy], check=True,
                    env=os.environ | {"NUMBA_CACHE_DIR": folder},
                )  # fmt: skip
                seconds.append(perf_counter() - started)
            cold, warm = seconds
            lines.append(
                [policy, f"{cold:.1f}", "< 60 " + ("met" if cold < 60 else "MISSED"),
                 f"{warm:.1f}", "< 3 " + ("met" if warm < 3 else "MISSED")]
            )  # fmt: skip
    print("\nStart of a fresh process")
    print(table(lines))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", default=["w1", "w2", "memory", "start"])
    parser.add_argument("--out", type=Path, help="folder for the plot of W2")
    arguments = parser.parse_args()
    print(
        f"{date.today()}, {os.cpu_count()} cores, {processor() or 'unknown processor'},"
        f" Python {python_version()}, recollect {rc.__version__}, numba {numba.__version__},"
        f" pyarrow {pa.__version__}, DuckDB {duckdb.__version__}"
    )
    actions = {"w1": w1, "w2": lambda: w2(arguments.out), "memory": memory, "start": start}
    for part in arguments.parts:
        actions[part]()


if __name__ == "__main__":
    main()
