"""A streaming join on Spark inside a budget, with live numbers, and how much of it is missing.

    pip install '.[spark]'
    python examples/spark_stream.py

Reads two folders of Parquet files as streams. They are generated here; Kafka works the same.
"""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recollect.spark import JsonLines, LiveNumbers, bounded_join, exact_join, quality, session
from recollect.streams import LocalityStream

STREAMS = {"views": "seen", "clicks": "clicked"}
"""The streams and their time columns; a Parquet file cannot have two columns of one name."""
QUERY = {"on": "ad", "time": "seen=clicked", "window": "10 seconds"}


def write_folder(folder: Path, time: str, seed: int, files: int = 2, tuples: int = 10_000) -> None:
    """Write a stream with a tuple every 10 ms, a file for each half."""
    folder.mkdir(exist_ok=True)
    stream = pa.Table.from_batches(LocalityStream(tuples, keys=2_000, seed=seed).batches())
    stamps = pc.multiply(stream["time"], 10).cast(pa.timestamp("ms", "UTC"))
    table = pa.table({time: stamps, "ad": stream["key"]})
    for number in range(files):
        part = table.slice(number * tuples // files, tuples // files)
        file = folder / f"{number}.parquet"
        pq.write_table(part, file)
        os.utime(file, (number, number))  # Spark reads the oldest file first


def main() -> None:
    """Run the stream to its end and compare with the exact join."""
    here = Path.cwd()
    for seed, (name, time) in enumerate(STREAMS.items(), start=1):
        write_folder(here / name, time, seed)

    spark = session("ads", messages=here / "spark.err")
    live = LiveNumbers(JsonLines(here / "live.jsonl"), print_batch)
    spark.streams.addListener(live)
    views, clicks = (
        spark.readStream.schema(f"{time} TIMESTAMP, ad BIGINT")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(here / name))
        for name, time in STREAMS.items()
    )
    joined = bounded_join(
        views, clicks, **QUERY, budget=400, policy="prob", shards=2, lateness="1 second"
    )
    query = (
        joined.writeStream.format("parquet")
        .option("checkpointLocation", str(here / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(here / "joined"))
    )
    query.awaitTermination()
    live.wait(query)
    spark.streams.removeListener(live)

    exact = exact_join(*(spark.read.parquet(str(here / name)) for name in STREAMS), **QUERY)
    found = quality(spark.read.parquet(str(here / "joined")), exact, key="ad")
    print(f"{found.results:,} of {found.exact_results:,} exact results ({found.recall:.1%})")


def print_batch(record: dict) -> None:
    """Show what happened in a micro-batch."""
    names = ("batch", "rows_in", "results", "buffered", "evicted", "late")
    print(", ".join(f"{name} {record[name]:,}" for name in names))


if __name__ == "__main__":
    main()
