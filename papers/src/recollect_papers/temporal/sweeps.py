"""Sweeps over a relation on disk through buffers of several sizes: what all figures are made of.

The paper adds up the cost of five sweeps, one for each aggregate function. Ours computes all five
in one sweep, which reads what any of the five would read; so all its numbers are for one sweep.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

from recollect.intervals import IntervalFile
from recollect.intervals.aggregate import TemporalAggregate
from recollect.intervals.disk import PAGE_BYTES
from recollect_papers import catalogue
from recollect_papers.experiment import Point, Row, Rows, Scale, mean_over_seeds

ORDER, LRU = "order", "lru"
SMALLEST = 65_536
"""Tuples of the relation of 1 MB."""
BUFFERS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 5.0, 10.0)
"""Sizes of the buffer, in square roots of the number of pages; a step of the sweep wants about two
of them."""


def points(
    relation: str, tuples: int | None, buffers: Sequence[float], seeds: Sequence[int], repeats: int
) -> list[Point]:
    """Return a point for each buffer and seed."""
    return [
        {"relation": relation, "tuples": tuples, "buffer": buffer, "seed": seed, "repeats": repeats}
        for buffer in buffers
        for seed in seeds
    ]


def paper_points(relation: str) -> Callable[[Scale], list[Point]]:
    """Return what the figure of a relation of 1 MB is made of."""

    def at(scale: Scale) -> list[Point]:
        # "We execute each function more than three times."
        seeds, repeats = (3, 4) if scale.full else (1, 2)
        return points(relation, SMALLEST, BUFFERS, scale.seeds(seeds), repeats)

    return at


def measure(
    relation: str,
    tuples: int | None,
    buffer: float,
    seed: int,
    repeats: int,
    data: str | None = None,
) -> Rows:
    """Sweep with either replacement.

    Parameters
    ----------
    relation
        A workload of the catalogue.
    tuples
        How many; all, if left out.
    buffer
        The size of the buffer, in square roots of the number of pages.
    seed
        Which relation.
    repeats
        The time is that of the fastest of so many sweeps. It is processor time: pages come from
        the cache of the operating system, so nothing waits for a disk, and other work on the
        machine does not count.
    data
        The folder of the real data.
    """
    made = catalogue.load(relation, tuples=tuples, seed=seed, data=data)
    with TemporaryDirectory() as folder:
        path = Path(folder, "index")
        IntervalFile.load(path, made.streams["tuples"], **made.query).close()
        index = path.stat().st_size // PAGE_BYTES
        pages = max(1, round(buffer * sqrt(index)))
        # In turns, so that whatever slows the machine down slows both.
        sweeps = [
            {kind: _sweep(path, made.query["value"], pages, kind) for kind in (ORDER, LRU)}
            for _ in range(repeats)
        ]
    return [
        {
            "relation": relation,
            "tuples": sweeps[0][kind].tuples,
            "buffer": buffer,
            "seed": seed,
            "pages": pages,
            "index_pages": index,
            "replacement": kind,
            "page_reads": sweeps[0][kind].page_reads,
            "seconds": min(sweep[kind].seconds for sweep in sweeps),
        }
        for kind in (ORDER, LRU)
    ]


class _Sweep(NamedTuple):
    tuples: int
    page_reads: int
    seconds: float


def _sweep(path: Path, value: str, pages: int, replacement: str) -> _Sweep:
    begun = process_time()
    run = TemporalAggregate(path, value=value, buffer_pages=pages, replacement=replacement)
    for _ in run:
        pass
    return _Sweep(run.stats.tuples, run.stats.page_reads, process_time() - begun)


def averaged(rows: Rows) -> list[Row]:
    """Return the means over the seeds, in order of the buffers."""
    by = ["relation", "tuples", "buffer", "replacement"]
    means = mean_over_seeds(rows, by, ["pages", "index_pages", "page_reads", "seconds"])
    return sorted(means, key=lambda row: row["buffer"])


def ratio(rows: Rows, column: str, buffer: float) -> float:
    """Return how many times more LRU costs.

    >>> rows = [{"buffer": 1.0, "replacement": "order", "page_reads": 20},
    ...         {"buffer": 1.0, "replacement": "lru", "page_reads": 50}]
    >>> ratio(rows, "page_reads", 1.0)
    2.5
    """
    cost = {
        kind: fmean(
            row[column] for row in rows if row["buffer"] == buffer and row["replacement"] == kind
        )
        for kind in (ORDER, LRU)
    }
    return cost[LRU] / cost[ORDER]
