"""The small files and the names that the pages of the documentation take to be there."""

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recollect.streams import UniformIntervals, ZipfStream

SECOND = pa.timestamp("us", "UTC")


def write_files(folder: Path) -> None:
    """Put them into a folder."""
    stamps = pa.array([1_000_000 * second for second in range(60)], SECOND)
    numbers = list(range(60))
    thirds = dict.fromkeys(("symbol", "key", "price", "ask", "city"), [1, 2, 3] * 20)
    market = pa.table({"ts": stamps, "id": numbers, **thirds})
    for name in ("trades", "quotes", "r", "s", "t"):
        pq.write_table(market, folder / f"{name}.parquet")
    for name, seed in (("left", 1), ("right", 2)):
        pq.write_table(ZipfStream(1_000, keys=100, seed=seed).table(), folder / f"{name}.parquet")
    orders = pa.table({"order_id": numbers, "customer_id": thirds["symbol"]})
    pq.write_table(orders, folder / "orders.parquet")
    pq.write_table(flights(), folder / "flights.parquet")
    pq.write_table(pa.table({"ad_id": thirds["symbol"]}), folder / "clicks.parquet")
    for name, time in (("views", "ts"), ("clicks", "clicked")):
        (folder / name).mkdir()
        ads = pa.table({time: stamps, "ad_id": pa.array(thirds["symbol"], pa.int64())})
        pq.write_table(ads, folder / name / "0.parquet")
    write_shop(folder)


def flights() -> pa.Table:
    """Some flights."""
    times = UniformIntervals(60, seed=1).table()
    return pa.table(
        {
            "departure": times["start"], "arrival": times["end"],
            "fare": list(range(100, 160)), "distance": list(range(480, 540)),
            "origin": ["JFK", "LGA", "EWR"] * 20,
        }
    )  # fmt: skip


def write_shop(folder: Path) -> None:
    """The customers, as a database of either kind."""
    import duckdb

    for path, connect in (("shop.db", sqlite3.connect), ("shop.duckdb", duckdb.connect)):
        database: Any = connect(str(folder / path))
        database.execute("CREATE TABLE customers (id BIGINT, name TEXT)")
        database.execute("INSERT INTO customers VALUES (1, 'Ada'), (2, 'Grace')")
        database.commit()
        database.close()


def names_of(page: str) -> dict[str, Any]:
    """What the Python of a page takes to be there."""
    trades = pq.read_table("trades.parquet").to_batches()[0]
    orders = pq.read_table("orders.parquet").to_batches()
    fares = np.array([[1, 5], [9, 7], [100, 120], [1, 2]])
    return {
        "README.md": {"incoming": [(trades, trades)]},
        "docs/intervals.md": {"new_flights": flights(), "cancelled": flights()[:5]},
        "docs/intervals_disk.md": {
            "batches": [fares], "more": fares - 1, "some": fares, "old": fares - 1, "new": fares,
        },
        "docs/lookup.md": {"incoming": orders, "send": len},
        "docs/workloads.md": {"arriving": [(name, trades) for name in "RST"]},
    }.get(page, {})  # fmt: skip


def frames_of(page: str, spark: Any) -> dict[str, Any]:
    """The DataFrames that a page takes to be there."""
    views = spark.readStream.schema("ts TIMESTAMP, ad_id BIGINT").parquet("views/")
    clicks = spark.read.parquet("clicks/").withColumnRenamed("clicked", "ts")
    return {
        "README.md": {"views": views, "clicks": views},
        "docs/counting.md": {"requests": clicks.withColumnRenamed("ad_id", "user")},
        "docs/intervals.md": {"flights": spark.read.parquet("flights.parquet")},
        "docs/lookup.md": {"orders": spark.read.parquet("orders.parquet")},
        "docs/profile.md": {"clicks": clicks.selectExpr("*", "unix_micros(ts) AS click_id")},
    }.get(page, {})
