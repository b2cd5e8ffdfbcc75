"""Real data: the same stock at the same price on two exchanges within ten seconds.

    python benchmarks/equity.py FOLDER

FOLDER holds ``us_equity_trades_2013-10-07_11.parquet`` (ts, symbol, price, size, exch). The two
busiest exchanges of the first day are joined on symbol and price. With an unlimited budget the
result must equal DuckDB's, row by row; then all policies are compared at four budgets.
"""

import argparse
from pathlib import Path

import duckdb

import recollect as rc

DAY = "select min(ts)::date from trades"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    path = parser.parse_args().folder / "us_equity_trades_2013-10-07_11.parquet"
    database = duckdb.connect()
    database.execute(f"create view trades as from '{path}'")
    busiest = database.sql(
        f"select exch from trades where ts::date = ({DAY})"
        " group by 1 order by count(*) desc limit 2"
    ).fetchall()
    sides = []
    for (exchange,) in busiest:
        query = f"from trades where ts::date = ({DAY}) and exch = '{exchange}' order by ts"
        sides.append(database.sql(query).to_arrow_table())
    left, right = sides
    print(f"exchanges {[name for (name,) in busiest]}: {len(left):,} and {len(right):,} trades")

    arguments = {"on": "symbol,price", "time": "ts", "window": "10s"}
    ours = rc.join(left, right, **arguments).table
    digest = "count(*), sum(hash({l}ts, {r}ts, {l}symbol, {l}price, {l}size, {r}size)::hugeint)"
    for name, table in (("l", left), ("r", right), ("ours", ours)):
        database.register(name, table)
    exact = database.execute(
        f"select {digest.format(l='l.', r='r.')} from l join r using (symbol, price)"
        " where abs(epoch_us(l.ts) - epoch_us(r.ts)) <= 10_000_000"
    ).fetchone()
    found = database.execute(f"select {digest.format(l='left_', r='right_')} from ours").fetchone()
    print(f"DuckDB {exact}\nours   {found}")
    assert exact == found

    comparison = rc.compare(
        left, right, **arguments, policies=rc.policy_names(), budgets=["5%", "10%", "20%", "40%"]
    )
    print(f"exact join: {comparison.survey.mean_alive:,.0f} tuples alive in the mean")
    for run in comparison.runs:
        rate = run.tuples_per_second / 1e6
        print(f"{run.policy:10} {run.budget:>4} {run.recall:7.2%} {rate:6.1f} M tuples/s")


if __name__ == "__main__":
    main()
