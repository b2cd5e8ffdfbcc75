"""Add customers of a database to a stream of orders through a cache of bounded size.

    python examples/enrich_from_database.py

The database is a new SQLite file; postgresql://… and duckdb:///… work the same.
"""

import sqlite3
from pathlib import Path

import recollect as rc
from recollect.streams import LocalityStream

CUSTOMERS = 5_000


def make_database(path: str) -> None:
    """Make the table of customers anew."""
    Path(path).unlink(missing_ok=True)
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
        database.executemany(
            "INSERT INTO customers VALUES (?, ?, ?)",
            ((number, f"customer {number}", f"city {number % 40}") for number in range(CUSTOMERS)),
        )
    database.close()


def main() -> None:
    """Compare policies, then enrich with the best."""
    make_database("shop.db")
    orders = LocalityStream(50_000, keys=CUSTOMERS, seed=1)
    words = {"table": "customers", "on": "key=id", "cache": 500}
    hits = {
        policy: rc.lookup(orders, "sqlite:///shop.db", **words, policy=policy).stats
        for policy in ("fifo", "lru", "sieve", "s3-fifo")
    }
    for policy, stats in hits.items():
        print(f"{policy:8} {stats.hit_rate:6.1%} of the orders needed no query")

    best = max(hits, key=lambda policy: hits[policy].hits)
    enriched = rc.lookup(orders, "sqlite:///shop.db", **words, policy=best).table
    print(f"with {best}:")
    print(enriched.slice(0, 3).to_pandas().to_string(index=False))


if __name__ == "__main__":
    main()
