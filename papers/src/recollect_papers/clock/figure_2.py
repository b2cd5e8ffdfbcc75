"""Figure 2: how many tuples exact answers need over time."""

from statistics import median

import numpy as np

from recollect.join.engine import new_trace
from recollect.join.whole import quiet
from recollect.workload.measures import PERIODS
from recollect_papers.claims import verdict_of
from recollect_papers.clock.queries import (
    QUERIES,
    SRBENCH,
    VISTA,
    prepare,
    present,
    sources,
)
from recollect_papers.experiment import Experiment, Point, Rows, Scale
from recollect_papers.figure import Figure
from recollect_papers.replication import Finding

MUCH = 1.5
"""How many times the median the most must be to speak of fluctuation."""
WARM_UP = 100 / 3


def points(scale: Scale) -> list[Point]:
    """Return one point for each query: a mean over seeds would hide what fluctuates."""
    return [
        source
        for source in sources(scale)
        if source.get("seed", scale.first_seed) == scale.first_seed
        and QUERIES[source["query"]].like
    ]


def measure(query: str, tuples: int | None = None, seed: int = 0, data: str | None = None) -> Rows:
    """Return how many tuples are held at the end of each hundredth of the time."""
    prepared = prepare(query, tuples, seed, data)
    engine = prepared.start(prepared.inputs, "fifo", "unlimited", "unified", seed).engine
    times, held = [], []
    for feed in prepared.inputs.feeds(quiet, "memory"):
        trace = new_trace(len(feed.order), len(prepared.join_names))
        engine.count(feed, trace)
        times.append(feed.time[feed.order])
        held.append(trace.held)
    period = prepared.extent.period(np.concatenate(times))
    last = np.searchsorted(period, np.arange(PERIODS), "right") - 1
    return [
        {"query": query, "time": period, "tuples": int(count)}
        for period, count in enumerate(np.concatenate(held)[last], start=1)
    ]


def judge(rows: Rows) -> list[Finding]:
    """Compare the most with what is usual."""
    return [
        _fluctuates(
            "SRBench: the memory that exact answers need fluctuates, though the window limits it.",
            rows,
            SRBENCH,
            "Nearly every sensor reports once within a window, so it always holds about as many"
            " tuples as there are sensors.",
        ),
        _fluctuates(
            "ViSTA-TV: the memory that exact answers need fluctuates, though facts expire.",
            rows,
            VISTA,
            "Our viewers are made so: each of the 9,000 always watches something, and each channel"
            " always shows something. Nearly all bicycles are always parked somewhere.",
        ),
    ]


def _fluctuates(claim: str, rows: Rows, like: str, why: str) -> Finding:
    held, parts = [], []
    for query in present(rows, like):
        need = [row["tuples"] for row in rows if row["query"] == query and row["time"] > WARM_UP]
        usual = median(need)
        held.append(max(need) >= MUCH * usual)
        parts.append(f"{query}: usually {usual:,.0f} tuples, at most {max(need):,}")
    verdict = verdict_of(held)
    return Finding(claim, verdict, "; ".join(parts) + ".", "" if verdict == "yes" else why)


EXPERIMENT = Experiment(
    name="figure-2",
    title="Figure 2: memory need over time",
    shows="How much the exact answers need goes up and down, whatever the context of the query, so"
    " that a cache of a fixed size will be too small at times. Here: the tuples held at the end of"
    " each hundredth of the time. Generated streams: wind, 603,642 reports at the pace of the"
    " paper, and viewers, 1,887,256 events in three days (60,000 and 200,000 at the small scale)."
    " Real ones, if given: sensors (nine hours of LinkedSensorData at that pace, from a speed of 5"
    " on, because 10 is too rare), stations (a month of 100 weather stations, within 20 minutes),"
    " bicycles (a year of trips, and bicycles parked where they start).",
    points=points,
    measure=measure,
    tabulate=lambda rows: rows,
    figure=Figure(
        "time", "tuples", panels="query", kind="steps", titles={"time": "time, % of the whole"}
    ),
    judge=judge,
)
