"""Figures 10 and 11: page accesses and time over the size of the buffer."""

import numpy as np

from recollect_papers.experiment import Experiment, Row, Rows, agreement, pick
from recollect_papers.figure import Figure
from recollect_papers.replication import Finding
from recollect_papers.temporal.sweeps import LRU, ORDER, averaged, measure, paper_points, ratio

READS, SECONDS = "page reads", "seconds of processor time"
LEAST = 3.0
"""How many times more LRU must cost for us to agree with "up to 3.8 times"."""
SMALL = 0.25
"""A buffer of this share of the index is not small any more."""
DISK = 0.005
"""Seconds that a disk with turning platters takes to read a page somewhere."""
FIGURE = Figure(
    "buffer_percent", "value", series="replacement", panels="measure", log="x", error="value_std",
    titles={"buffer_percent": "buffer, % of the index", "value": ""},
)  # fmt: skip


def tabulate(rows: Rows) -> Rows:
    """Put page reads and seconds below each other."""
    return [
        {
            "measure": name,
            "replacement": row["replacement"],
            "buffer": row["buffer"],
            "pages": row["pages"],
            "buffer_percent": 100 * row["pages"] / row["index_pages"],
            "value": row[column],
            "value_std": row[f"{column}_std"],
            "runs": row["runs"],
        }
        for name, column in ((READS, "page_reads"), (SECONDS, "seconds"))
        for row in averaged(rows)
    ]


def judge(rows: Rows) -> list[Finding]:
    """Compare page reads and times."""
    reads = [row for row in rows if row["measure"] == READS]
    seconds = [row for row in rows if row["measure"] == SECONDS]
    return [_fewer_reads(reads), _small_buffers(reads), _never_more(reads), _time(reads, seconds)]


def _ratios(rows: Rows) -> dict[float, float]:
    buffers = dict.fromkeys(row["buffer"] for row in rows)
    return {buffer: ratio(rows, "value", buffer) for buffer in buffers}


def _best(rows: Rows) -> tuple[float, Row]:
    """Where order-based replacement gains most: how much, and its row."""
    ratios = _ratios(rows)
    best = max(ratios, key=lambda buffer: ratios[buffer])
    [row] = [row for row in rows if row["buffer"] == best and row["replacement"] == ORDER]
    return ratios[best], row


def _fewer_reads(reads: Rows) -> Finding:
    most, at = _best(reads)
    lru = pick(reads, "value", buffer=at["buffer"], replacement=LRU)
    return agreement(
        "Order-based replacement needs up to 3.8 times fewer page accesses than LRU.",
        most >= LEAST,
        f"{most:.1f} times fewer with a buffer of {at['pages']:.0f} pages, which is"
        f" {at['buffer_percent']:.1f} % of the index: {at['value']:,.0f} instead of {lru:,.0f}.",
        "We do not know why.",
    )


def _small_buffers(reads: Rows) -> Finding:
    ratios = _ratios(reads)
    most, at = _best(reads)
    smallest = min(reads, key=lambda row: row["buffer"])
    claim = "The gain is largest with small buffers."
    measured = (
        f"{most:.1f} times with {at['buffer_percent']:.1f} % of the index,"
        f" {ratios[max(ratios)]:.1f} times with the largest buffer, and"
        f" {ratios[smallest['buffer']]:.1f} times with the smallest,"
        f" {smallest['buffer_percent']:.1f} %."
    )
    if at["buffer"] == smallest["buffer"]:
        return Finding(claim, "yes", measured)
    return Finding(
        claim,
        "partly" if at["buffer_percent"] < 100 * SMALL else "no",
        measured,
        "When the buffer is much smaller than what the sweep wants at one moment, most pages are"
        " read again and again, whichever of them is kept.",
    )


def _never_more(reads: Rows) -> Finding:
    ratios = _ratios(reads)
    worst = min(ratios, key=lambda buffer: ratios[buffer])
    return agreement(
        "Order-based replacement is never worse than LRU.",
        ratios[worst] >= 1,
        f"Over {len(ratios)} sizes of the buffer LRU needs at least {ratios[worst]:.2f} times as"
        " many page reads.",
        "We do not know why.",
    )


def _time(reads: Rows, seconds: Rows) -> Finding:
    most, at = _best(seconds)
    per_read, rest = np.polyfit(_values(reads), _values(seconds), 1)
    buffers = dict.fromkeys(row["buffer"] for row in reads)
    modelled = max(
        (rest + DISK * pick(reads, "value", buffer=buffer, replacement=LRU))
        / (rest + DISK * pick(reads, "value", buffer=buffer, replacement=ORDER))
        for buffer in buffers
    )
    return agreement(
        "Order-based replacement takes up to 3.8 times less time than LRU.",
        most >= LEAST,
        f"At best {most:.1f} times less ({at['value']:.2f} s, with a buffer of"
        f" {at['buffer_percent']:.1f} % of the index).",
        "The paper reads from a disk, past the cache of the operating system; here pages come from"
        f" that cache. By a line through all sweeps, a page read takes {1e6 * per_read:.0f} µs, and"
        f" everything else {rest:.2f} s. If a page read took {1000 * DISK:.0f} ms, as on the disks"
        f" of that time, it would be {modelled:.1f} times less.",
    )


def _values(rows: Rows) -> list[float]:
    ordered = sorted(rows, key=lambda row: (row["buffer"], row["replacement"]))
    return [row["value"] for row in ordered]


def _experiment(number: int, relation: str, what: str) -> Experiment:
    return Experiment(
        name=f"figure-{number}",
        title=f"Figure {number}: page accesses and time over the buffer size, {relation.upper()}",
        shows="The smaller the buffer, the more it saves to replace pages in the order of time and"
        f" not by LRU. The relation has 65,536 tuples, {what}; it is in a two-dimensional index on"
        " disk, from which five aggregates are computed. Here one sweep computes all five, where"
        " the paper adds up five sweeps that read the same pages. All pages count, also those of"
        " directories. Time is processor time.",
        points=paper_points(relation),
        measure=measure,
        tabulate=tabulate,
        figure=FIGURE,
        judge=judge,
    )


FIGURE_10 = _experiment(10, "ds1", "spread evenly over time")
FIGURE_11 = _experiment(11, "ds2", "crowded around a quarter of the time range")
