"""Temporal aggregation in memory against DuckDB: five aggregates at every moment.

    python benchmarks/intervals.py [--tuples 1048576] [--naive 40000] [--rounds 3]

DS1 of the paper, 65,536 tuples per million of time. Both sides read the same table in memory and
make a table with the five aggregates of each interval; ours also merges intervals that are equal.
DuckDB uses all cores, ours one.

DuckDB computes COUNT, SUM and AVG by window sums over start and end events, and MIN and MAX by
cutting each interval into the nodes of a binary tree over the base intervals, whose values are then
handed down level by level, which was faster than asking all ancestors of each base interval. The
obvious join of tuples with base intervals is quadratic and shown for a smaller relation. Times are
the best of several rounds, taken in turns, and both answers are compared.
"""

import argparse
from collections.abc import Callable
from functools import partial
from time import perf_counter

import duckdb
import numpy as np
import pyarrow as pa

from recollect.intervals import aggregate
from recollect.streams import UniformIntervals

GOAL = 2.0

BASE = """
    create or replace temp table base as
    select time, row_number() over (order by time) - 1 as number
    from (select s as time from r union select e from r)
"""
# Sums of whole numbers are 128-bit in DuckDB, which is slower and not needed here.
SUMS = """
    create or replace temp table sums as
    select time, lead(time) over w as until,
        sum(came) over w :: bigint as count, sum(added) over w :: bigint as sum
    from (
        select time, sum(sign) :: bigint as came, sum(change) :: bigint as added
        from (
            select s as time, 1 as sign, v as change from r
            union all select e, -1, -v from r
        ) group by time
    )
    window w as (order by time)
"""
RANKS = """
    create or replace temp table ranks as
    select a.number :: integer as low, b.number :: integer as high, v
    from r join base a on a.time = r.s join base b on b.time = r.e
"""
# An interval has at most one node on each side of a level. One aggregation per level was faster
# than one over all.
NODES = """
    create or replace temp table nodes as
    with ends as (
        select (low + (1 << {level}) - 1) >> {level} as l, high >> {level} as h, v from ranks
    )
    select node, min(v) as least, max(v) as most
    from (
        select l as node, v from ends where l < h and l % 2 = 1
        union all select h - 1, v from ends where l < h and h % 2 = 1
    ) group by node
"""
# From the top of the tree to its leaves, each node takes over what its parent knows.
DOWN = """
    create or replace temp table extremes as
    select n.node, least(own.least, parent.least) as least, greatest(own.most, parent.most) as most
    from (select unnest(range(({count} >> {level}) + 1)) :: integer as node) n
    left join nodes own using (node)
    left join extremes parent on parent.node = n.node >> 1
"""
BOTH = """
    create or replace temp table answer as
    select time as start, until as end, count, sum, sum / count as avg, least as min, most as max
    from sums join base using (time) left join extremes on node = number where until is not null
"""
NAIVE = """
    create or replace temp table answer as
    select b.s as start, b.e as end, count(v) as count, sum(v) as sum, avg(v) as avg,
        min(v) as min, max(v) as max
    from (select time as s, lead(time) over (order by time) as e from base) b
    left join r on r.s <= b.s and r.e >= b.e
    where b.e is not null
    group by b.s, b.e
"""


def ds1(tuples: int) -> pa.Table:
    return UniformIntervals(tuples, time_range=tuples * 1_000_000 // 65_536, seed=1).table()


def extremes(database: duckdb.DuckDBPyConnection) -> None:
    database.execute(BASE)
    database.execute(RANKS)
    (count,) = database.execute("select count(*) from base").fetchone() or (0,)
    database.execute(
        "create or replace temp table extremes (node integer, least integer, most integer)"
    )
    for level in reversed(range(count.bit_length())):
        database.execute(NODES.format(level=level))
        database.execute(DOWN.format(level=level, count=count))


def timed(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def best(works: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    for work in works.values():
        work()
    found = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            found[name] = min(found[name], timed(work))
    return found


def check(database: duckdb.DuckDBPyConnection, table: pa.Table) -> None:
    """Both must have computed the same."""
    names = ["count", "sum", "avg", "min", "max"]
    ours = aggregate(table, "start", "end", "value")
    theirs = database.sql("select * from answer order by start").to_arrow_table()
    starts = ours.table["start"].to_numpy()
    place = np.searchsorted(starts, theirs["start"].to_numpy(), side="right") - 1
    for name in names:
        mine = ours.table[name].to_numpy(zero_copy_only=False)[place]
        yours = theirs[name].to_numpy(zero_copy_only=False)
        assert np.array_equal(mine, yours, equal_nan=True), name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuples", type=int, default=1_048_576)
    parser.add_argument("--naive", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    database = duckdb.connect()
    lines = [["tuples", "", "COUNT SUM AVG", "MIN MAX", "all five", "x DuckDB"]]
    for tuples, naive in ((given.naive, True), (given.tuples, False)):
        table = ds1(tuples)
        database.register("given", table)
        database.execute(
            "create or replace table r as"
            ' select start as s, "end" as e, value :: integer as v from given'
        )

        def theirs(*parts: str) -> None:
            if "extremes" in parts:
                extremes(database)
            if "sums" in parts:
                database.execute(SUMS)
            if len(parts) == 2:
                database.execute(BOTH)

        def ours(agg: str, table: pa.Table = table) -> pa.Table:
            return aggregate(table, "start", "end", "value", agg=agg).table

        times = best(
            {
                "sums": partial(theirs, "sums"),
                "extremes": partial(theirs, "extremes"),
                "all": partial(theirs, "sums", "extremes"),
                "our sums": partial(ours, "count,sum,avg"),
                "our extremes": partial(ours, "min,max"),
                "our all": partial(ours, "count,sum,avg,min,max"),
            },
            given.rounds,
        )
        check(database, table)
        name = f"DuckDB {duckdb.__version__}"
        if naive:
            database.execute(BASE)
            seconds = timed(partial(database.execute, NAIVE))
            lines.append([f"{tuples:,}", f"{name}, range join", "", "", f"{seconds:.3f} s",
                          f"{times['all'] / seconds:.2f}"])  # fmt: skip
        columns = [[times[key] for key in ("sums", "extremes", "all")],
                   [times[f"our {key}"] for key in ("sums", "extremes", "all")]]  # fmt: skip
        for label, seconds_ in zip(
            (f"{name}, events and nodes", "recollect"), columns, strict=True
        ):
            lines.append([f"{tuples:,}", label, *(f"{value:.3f} s" for value in seconds_),
                          f"{times['all'] / seconds_[-1]:.2f}"])  # fmt: skip
        ratio = times["all"] / times["our all"]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rows = [
        "| " + " | ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    rows.insert(1, "|" + "|".join("-" * (w + 1) + ":" for w in widths) + "|")
    print("\n".join(rows))
    print(f"goal: at least {GOAL} x DuckDB with {given.tuples:,} tuples: {ratio:.2f},",
          "met" if ratio >= GOAL else "MISSED")  # fmt: skip


if __name__ == "__main__":
    main()
