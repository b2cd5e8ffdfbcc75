"""Temporal aggregation on disk: an index much larger than its buffer.

    python benchmarks/intervals_disk.py [--tuples 16777216]

Makes an index of DS1 of the paper, 65,536 tuples per million of time, and computes all five
aggregates in one sweep with a buffer of 64 MB, in a process whose memory is measured. What
order-based replacement saves against LRU is in ``recollect papers temporal``.
"""

import argparse
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter

from recollect.intervals import IntervalFile
from recollect.intervals.aggregate import TemporalAggregate
from recollect.intervals.disk import PAGE_BYTES
from recollect_papers import catalogue

MOST_MEMORY = 400e6
POOL = (64 << 20) // PAGE_BYTES


def most_memory() -> float:
    return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def scale(tuples: int) -> None:
    made = catalogue.load("ds1", tuples=tuples)
    with TemporaryDirectory() as folder:
        path, started = Path(folder) / "index", perf_counter()
        IntervalFile.load(path, made.streams["tuples"], **made.query, pages=POOL).close()
        print(
            f"DS1, {tuples:,} tuples, {path.stat().st_size / 1e6:,.0f} MB loaded in"
            f" {perf_counter() - started:.0f} s, {most_memory() / 1e6:.0f} MB of memory",
            flush=True,
        )
        run = TemporalAggregate(path, value=made.query["value"], buffer_pages=POOL)
        intervals = sum(len(rows.start) for rows in run)
        print(
            f"{intervals:,} intervals in {run.stats.seconds:.0f} s, {run.stats.page_reads:,} page"
            f" reads, {most_memory() / 1e6:.0f} MB of memory at most"
        )
        assert most_memory() < MOST_MEMORY


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tuples", type=int, default=1 << 24)
    scale(parser.parse_args().tuples)


if __name__ == "__main__":
    main()
