"""The bounded join on Spark against Spark's own stream-stream join, in one run.

    python benchmarks/spark_join.py [--rows 4000000] [--batch 100000] [--out FOLDER] [--only NAME …]

Two streams with the same number of rows each (key, time stamp, id, value), 2,337 rows per second of
event time in all, window 300 s, keys Zipf 0.5 over 1,500,000 of which every second one repeats one
of the last 50,000. They come from Parquet files, one of each stream per micro-batch, and go to
a no-op sink; 2 shuffle partitions on 2 cores, watermark 1 s. Each contender has a Java process of
its own, one after the other. The rate is that of the micro-batches after the window has filled:
their input rows over their durations, as Spark reports them. Memory is the resident set of the
Java process and all Python workers, sampled.

What a RocksDB store reports while it runs is mostly values that were overwritten and not yet
cleared away. So the last micro-batch comes after a restart in which the store compacts what it
has: its files then hold the live state and nothing else, which is what the table calls state. A
HDFS-backed store reports what it holds in memory.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import date
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

RATE = 2_337
WINDOW = 300
KEYS = 1_500_000
RECENT = 50_000
IN_WINDOW = RATE * WINDOW
"""Rows of both streams in a window."""
SCHEMA = "key long, ts timestamp, {side}_id long, {side}_value double"
STORES = "org.apache.spark.sql.execution.streaming.state."
ROCKS = {
    "spark.sql.streaming.stateStore.providerClass": STORES + "RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
COMPACT = {
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "false",
    "spark.sql.streaming.stateStore.rocksdb.compactOnCommit": "true",
}
HDFS = {"spark.sql.streaming.stateStore.providerClass": STORES + "HDFSBackedStateStoreProvider"}
FORMAT = "spark.sql.streaming.join.stateFormatVersion"
CONTENDERS: dict[str, dict[str, Any]] = {
    "exact, RocksDB": {"config": ROCKS},
    "exact, RocksDB, format 4": {"config": {**ROCKS, FORMAT: "4"}},
    "exact, HDFS-backed": {"config": HDFS},
    "exact, HDFS-backed, format 4": {"config": {**HDFS, FORMAT: "4"}},
    "bounded, no limit": {"config": ROCKS, "budget": None},
    "bounded, 20 %": {"config": ROCKS, "budget": IN_WINDOW // 5},
    "bounded, 10 %": {"config": ROCKS, "budget": IN_WINDOW // 10},
    "bounded, 20 %, HDFS-backed": {"config": HDFS, "budget": IN_WINDOW // 5},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--batch", type=int, default=100_000)
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--only", nargs="*", default=list(CONTENDERS), choices=list(CONTENDERS))
    parser.add_argument("--contender", help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contender:
        result = run(arguments.contender, arguments.data)
        (arguments.data / "result.json").write_text(json.dumps(result))
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="recollect-benchmark-") as folder:
        generate(Path(folder), arguments.rows, arguments.batch)
        results = {}
        for name in arguments.only:
            print(f"{name} …", file=sys.stderr, flush=True)
            results[name] = in_own_process(name, Path(folder))
            (arguments.out / "spark_join.json").write_text(json.dumps(results))
    report(results, arguments.rows, arguments.batch)
    plot(results, arguments.out / "spark_memory.html")


def generate(folder: Path, rows: int, batch: int) -> None:
    """Write both streams as Parquet files, one per micro-batch."""
    weights = 1 / np.sqrt(np.arange(1, KEYS + 1))
    cumulative = np.cumsum(weights / weights.sum())
    per_file = batch // 2
    for stream, side in enumerate(("left", "right")):
        random = np.random.default_rng(stream)
        (folder / side).mkdir()
        count = rows // 2
        keys = np.searchsorted(cumulative, random.random(count))
        repeats = np.flatnonzero(random.random(count) < 0.5)
        repeats = repeats[repeats >= RECENT]
        keys[repeats] = keys[repeats - random.integers(1, RECENT, len(repeats))]
        times = 10**12 + np.arange(count) * (2 * 10**6 // RATE)
        for number, start in enumerate(range(0, count, per_file)):
            part = slice(start, start + per_file)
            table = pa.table(
                {
                    "key": keys[part],
                    "ts": pa.array(times[part]).cast(pa.timestamp("us", "UTC")),
                    f"{side}_id": np.arange(count)[part],
                    f"{side}_value": random.random(len(keys[part])),
                }
            )
            path = folder / side / f"{number:06}.parquet"
            pq.write_table(table, path)
            os.utime(path, (10**9 + number, 10**9 + number))  # Spark reads files by age


def in_own_process(name: str, data: Path) -> dict[str, Any]:
    """Run a contender and sample the memory of its processes."""
    command = [sys.executable, __file__, "--contender", name, "--data", str(data)]
    process = subprocess.Popen(command, start_new_session=True)
    memory: list[tuple[float, int, int]] = []
    sampler = threading.Thread(target=sample, args=(process.pid, memory))
    sampler.start()
    process.wait()
    sampler.join()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # RocksDB may keep Java from ending
    if process.returncode:
        sys.exit(f"{name} failed")
    return json.loads((data / "result.json").read_text()) | {"memory": memory}


def sample(pid: int, memory: list[tuple[float, int, int]]) -> None:
    """Note the resident sets of Java and of the Python workers twice a second."""
    started = time.time()
    while psutil.pid_exists(pid):
        java = python = 0
        with contextlib.suppress(psutil.Error):
            parent = psutil.Process(pid)
            if parent.status() == psutil.STATUS_ZOMBIE:
                return
            for child in parent.children(recursive=True):
                with contextlib.suppress(psutil.Error):  # it has just ended
                    held = child.memory_full_info().pss
                    if "java" in child.name():
                        java += held
                    else:
                        python += held
        memory.append((round(time.time() - started, 1), java, python))
        time.sleep(0.5)


def run(name: str, data: Path) -> dict[str, Any]:
    """Run one contender in this process."""
    from recollect.spark import LiveNumbers, bounded_join, exact_join, session

    contender = CONTENDERS[name]
    spark = session(
        name,
        "local[2]",
        {"spark.sql.shuffle.partitions": 2, "spark.driver.memory": "8g", **contender["config"]},
    )
    folder = Path(tempfile.mkdtemp(prefix="recollect-benchmark-"))
    files = {side: sorted((data / side).iterdir()) for side in ("left", "right")}
    for side, paths in files.items():
        (folder / side).mkdir()
        for path in paths[:-1]:
            os.link(path, folder / side / path.name)
    left, right = (
        spark.readStream.schema(SCHEMA.format(side=side))
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / side))
        for side in files
    )
    words = {"on": "key", "time": "ts", "window": f"{WINDOW}s", "lateness": "1s"}
    if "budget" in contender:
        joined = bounded_join(left, right, budget=contender["budget"], **words)
    else:
        joined = exact_join(left, right, **words)
    records: list[dict[str, Any]] = []
    live = LiveNumbers(records.append)
    spark.streams.addListener(live)

    def process() -> list[Any]:
        """Join what is there and return what Spark says of each micro-batch with rows in it."""
        query = (
            joined.writeStream.format("noop")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        live.wait(query)
        return [progress for progress in query.recentProgress if progress.numInputRows]

    batches = [{"rows": each.numInputRows, "ms": each.batchDuration} for each in process()]
    for option, value in COMPACT.items():
        spark.conf.set(option, value)
    for side, paths in files.items():
        os.link(paths[-1], folder / side / paths[-1].name)
    (last,) = process()
    state = sum(
        op.customMetrics.get("rocksdbSstFileSize", op.memoryUsedBytes) for op in last.stateOperators
    )
    spark.stop()
    shutil.rmtree(folder)
    return {"batches": batches, "numbers": records, "state": state}


def steady(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The micro-batches after the window has filled."""
    batches = result["batches"]
    seen = 0
    for place, batch in enumerate(batches):
        if seen >= min(IN_WINDOW, sum(b["rows"] for b in batches) // 2):
            return batches[place:]
        seen += batch["rows"]
    return batches


def rate_of(result: dict[str, Any]) -> float:
    """Rows per second."""
    batches = steady(result)
    return sum(b["rows"] for b in batches) / sum(b["ms"] for b in batches) * 1000


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def report(results: dict[str, Any], rows: int, batch: int) -> None:
    import pyspark

    print(
        f"{rows:,} rows, {batch:,} per micro-batch, PySpark {pyspark.__version__},"
        f" Python {python_version()}, {os.cpu_count()} cores, {date.today()}\n"
    )
    print("| run | rows/s | state | Java | Python | results |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, result in results.items():
        java, python = (max(sample[i] for sample in result["memory"]) for i in (1, 2))
        found = sum(record["results"] for record in result["numbers"])
        results_found = f"{found:,}" if result["numbers"] else ""
        state = result["state"] / 1e6
        print(
            f"| {name} | {rate_of(result):,.0f} | {state:,.1f} MB | {java / 1e9:.2f} GB"
            f" | {python / 1e9:.2f} GB | {results_found} |"
        )
    goals(results)
    work(results)


def goals(results: dict[str, Any]) -> None:
    """The ratios that count."""

    def best(part: str) -> tuple[float, float]:
        runs = [r for name, r in results.items() if name.startswith(part)]
        rates = [rate_of(r) for r in runs]
        states = [r["state"] for r in runs]
        return (max(rates), min(states)) if runs else (float("nan"), float("nan"))

    rocks, rocks_state = best("exact, RocksDB")
    hdfs, _ = best("exact, HDFS")
    print()
    for name in ("bounded, no limit", "bounded, 20 %"):
        if name in results:
            rate = rate_of(results[name])
            state = results[name]["state"]
            print(
                f"{name}: {rate / rocks:.2f} x the faster RocksDB join (goal 3),"
                f" {rate / hdfs:.2f} x the faster HDFS-backed one (goal 1.5),"
                f" 1/{rocks_state / state:.1f} of the smaller RocksDB state (goal 1/5 at 20 %)"
            )


def work(results: dict[str, Any]) -> None:
    """Where the workers' time goes, and what they write."""
    print("\n| run | engine, ms/batch | overhead, ms/batch | ratio | state written, MB/batch |")
    print("|---|---:|---:|---:|---:|")
    for name, result in results.items():
        records = [record for record in result["numbers"] if record["input_rows"]]
        records = records[-len(steady(result)) :]
        if records:
            engine, overhead = (
                mean([record[field] for record in records]) / 1000
                for field in ("engine_micros", "overhead_micros")
            )
            written = mean([record["state_bytes"] for record in records]) / 1e6
            print(
                f"| {name} | {engine:.0f} | {overhead:.0f} | {overhead / engine:.2f}"
                f" | {written:.2f} |"
            )


def plot(results: dict[str, Any], path: Path) -> None:
    """Memory over time, as a page."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, result in results.items():
        seconds = [sample[0] for sample in result["memory"]]
        total = [(sample[1] + sample[2]) / 1e9 for sample in result["memory"]]
        style = {"dash": "dot"} if name.startswith("exact") else {"width": 3}
        figure.add_scatter(x=seconds, y=total, name=name, mode="lines", line=style)
    figure.update_xaxes(title="seconds since the start of the process")
    figure.update_yaxes(title="resident memory, GB (Java and Python)", rangemode="tozero")
    figure.update_layout(template="plotly_white", width=1000, height=560, margin_t=30)
    figure.write_html(path, config={"displayModeBar": False})


if __name__ == "__main__":
    main()
