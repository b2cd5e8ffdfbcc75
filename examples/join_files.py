"""Join two files inside a fixed amount of memory, and see what it cost.

    python examples/join_files.py

Writes two Parquet files of page views and clicks first; put your own in their place.
"""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import recollect as rc
from recollect.streams import LocalityStream


def write_stream(path: str, seed: int, tuples: int = 50_000) -> None:
    """Write a stream with a tuple every 10 ms; half of them repeat one of the last 50 keys."""
    stream = pa.Table.from_batches(LocalityStream(tuples, keys=5_000, seed=seed).batches())
    stamps = pc.multiply(stream["time"], 10).cast(pa.timestamp("ms"))
    pq.write_table(pa.table({"ts": stamps, "ad": stream["key"]}), path)


def main() -> None:
    """Join with 20 % of the memory that the exact join needs."""
    write_stream("views.parquet", seed=1)
    write_stream("clicks.parquet", seed=2)

    answer = rc.join(
        "views.parquet", "clicks.parquet", on="ad", time="ts", window="20s",
        budget="20%", policy="prob", exact=True,
    )  # fmt: skip
    stats = answer.stats
    print(answer.table.slice(0, 3).to_pandas().to_string(index=False))
    print(
        f"{stats.results:,} of {stats.exact_results:,} results ({stats.recall:.1%}) with never more"
        f" than {stats.peak_tuples:,} tuples in memory"
    )
    pq.write_table(answer.table, "joined.parquet")


if __name__ == "__main__":
    main()
