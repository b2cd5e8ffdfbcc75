"""Temporal aggregation on disk: what a buffer that knows the order of time saves.

    python benchmarks/intervals_disk.py [--tuples 65536,1048576] [--html FILE]
    python benchmarks/intervals_disk.py --scale [--tuples 16777216]

The relations DS1 and DS2 of the paper, 65,536 tuples per million of time, are put into an index and
all five aggregates computed from it in one sweep, with a buffer of 1 % to 50 % of the index: page
reads with order-based replacement and with LRU. All pages count, those of the directories and of
the index of times too. Order-based must never read more, and 3 times less at the best point.

``--scale`` makes an index of many tuples and sweeps over it with a buffer of 64 MB, in a process of
its own whose memory is measured.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

from recollect.intervals import IntervalFile
from recollect.intervals.aggregate import TemporalAggregate
from recollect.intervals.page import PAGE_BYTES
from recollect.streams import NormalIntervals, UniformIntervals
from recollect.streams.generator import Generator

DENSITY = 65_536 / 1_000_000
SHARES = (0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
GOAL = 3.0
MOST_MEMORY = 400e6
POOL = 64 << 20
RELATIONS: dict[str, Callable[..., Generator]] = {"DS1": UniformIntervals, "DS2": NormalIntervals}


class Point(NamedTuple):
    """Page reads with one size of the buffer."""

    share: float
    pages: int
    order: int
    lru: int


def relation(name: str, tuples: int) -> Generator:
    return RELATIONS[name](tuples, time_range=round(tuples / DENSITY))


def answer(path: Path, pages: int, replacement: str) -> tuple[int, int, float]:
    """Page reads, constant intervals and seconds of a sweep over an index."""
    run = TemporalAggregate(path, value="value", buffer_pages=pages, replacement=replacement)
    intervals = sum(len(rows.start) for rows in run)
    return run.stats.page_reads, intervals, run.stats.seconds


def measured(name: str, tuples: int, folder: str) -> Iterator[Point]:
    path = Path(folder) / f"{name}-{tuples}"
    started = perf_counter()
    IntervalFile.load(path, relation(name, tuples), "start", "end", "value").close()
    index = path.stat().st_size // PAGE_BYTES
    print(
        f"\n{name}, {tuples:,} tuples: {index:,} pages, loaded in {perf_counter() - started:.1f} s"
    )
    print("buffer   pages  reads: order      lru  ratio  seconds: order   lru")
    for share in SHARES:
        pages = max(1, round(share * index))
        order, intervals, fast = answer(path, pages, "order")
        lru, same, slow = answer(path, pages, "lru")
        assert intervals == same
        reads = f"{order:13,} {lru:8,} {lru / order:6.2f}"
        print(f"{share:6.1%} {pages:7,} {reads} {fast:15.1f} {slow:5.1f}", flush=True)
        yield Point(share, pages, order, lru)


def draw(results: dict[str, list[Point]], path: Path) -> None:
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=-(-len(results) // 2), cols=2, subplot_titles=list(results), shared_yaxes=True,
        horizontal_spacing=0.04, vertical_spacing=0.14,
    )  # fmt: skip
    for place, points in enumerate(results.values()):
        for name, colour in (("order", "#0072b2"), ("lru", "#d55e00")):
            figure.add_scatter(
                x=[100 * point.share for point in points],
                y=[getattr(point, name) for point in points],
                name={"order": "order-based", "lru": "least recently used"}[name],
                line_color=colour, mode="lines+markers", legendgroup=name, showlegend=not place,
                row=place // 2 + 1, col=place % 2 + 1,
            )  # fmt: skip
    ticks = [1, 2, 5, 10, 20, 50]
    figure.update_xaxes(type="log", title="buffer, % of the index", tickvals=ticks)
    figure.update_yaxes(type="log", dtick=1)
    figure.update_yaxes(title="page reads", col=1)
    figure.update_layout(
        title="Page reads of a sweep with five aggregates", template="plotly_white",
        height=120 + 330 * (-(-len(results) // 2)), legend={"orientation": "h", "y": -0.12},
    )  # fmt: skip
    figure.write_html(path, config={"displayModeBar": False})
    print(f"\nfigure: {path}")


def compare(sizes: list[int], html: Path | None) -> None:
    results: dict[str, list[Point]] = {}
    with TemporaryDirectory() as folder:
        for tuples in sizes:
            for name in RELATIONS:
                results[f"{name}, {tuples:,} tuples"] = list(measured(name, tuples, folder))
    if html is not None:
        draw(results, html)
    print()
    for title, points in results.items():
        best = max(points, key=lambda point: point.lru / point.order)
        ratio = best.lru / best.order
        print(f"{title}: {ratio:.1f} times fewer reads with a buffer of {best.share:.1%}")
        assert ratio >= GOAL
        assert all(point.order <= point.lru for point in points)


def scale(tuples: int) -> None:
    from resource import RUSAGE_SELF, getrusage

    def most_memory() -> float:
        return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    with TemporaryDirectory() as folder:
        path, started = Path(folder) / "index", perf_counter()
        pool = POOL // PAGE_BYTES
        source = relation("DS1", tuples)
        IntervalFile.load(path, source, "start", "end", "value", pages=pool).close()
        print(
            f"DS1, {tuples:,} tuples, {path.stat().st_size / 1e6:,.0f} MB loaded in"
            f" {perf_counter() - started:.0f} s, {most_memory() / 1e6:.0f} MB of memory",
            flush=True,
        )
        reads, intervals, seconds = answer(path, pool, "order")
        print(
            f"{intervals:,} intervals in {seconds:.0f} s, {reads:,} page reads,"
            f" {most_memory() / 1e6:.0f} MB of memory at most"
        )
        assert most_memory() < MOST_MEMORY


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tuples")
    parser.add_argument("--html", type=Path)
    parser.add_argument("--scale", action="store_true")
    options = parser.parse_args()
    sizes = options.tuples or ("16777216" if options.scale else "65536,1048576")
    if options.scale:
        scale(int(sizes))
    else:
        compare([int(size) for size in sizes.split(",")], options.html)


if __name__ == "__main__":
    main()
