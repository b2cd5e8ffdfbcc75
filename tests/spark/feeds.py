"""Streams for tests: small files that Spark reads one after the other, and queries run to the end."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
"""The first second of the streams, in microseconds since 1970."""
STAMP = pa.timestamp("us", "UTC")


def events(
    side: str, times: Iterable[float | None], keys: Iterable[Any], **more: Iterable[Any]
) -> pa.Table:
    """Events of a side: ``k``, and with its name their numbers and times, as in ``l`` and ``lt``.

    Times are given in seconds since START.
    """
    micros = [None if time is None else START + round(time * SECOND) for time in times]
    columns = {
        side: pa.array(range(len(micros)), pa.int64()),
        side + "t": pa.array(micros, STAMP),
        "k": pa.array(list(keys)),
    }
    return pa.table(columns | {name: pa.array(list(values)) for name, values in more.items()})


def write(folder: Path, parts: Sequence[pa.Table], first: int = 0) -> Path:
    """One file per part; as a stream they are read in this order."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(parts, first):
        file = folder / f"{number:04}.parquet"
        pq.write_table(part, file)
        os.utime(file, (10**9 + number, 10**9 + number))
    return folder


def stream(spark: SparkSession, folder: Path, files: int = 1) -> DataFrame:
    """The files of a folder as a stream, so many of them in a micro-batch."""
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", files).parquet(str(folder))


class Run(NamedTuple):
    """What a query did."""

    rows: Counter
    """How often each row came out."""
    progress: list[Any]
    """One entry per micro-batch."""

    def numbers(self, name: str = "bounded_join") -> list[dict[str, int]]:
        """What the join observed in each micro-batch that had rows."""
        found = [batch["observedMetrics"].get(f"recollect.{name}") for batch in self.progress]
        return [row.asDict() for row in found if row is not None]

    def total(self, field: str, name: str = "bounded_join") -> int:
        """The sum of one of the numbers over all micro-batches."""
        return sum(numbers[field] or 0 for numbers in self.numbers(name))


def count(rows: Iterable[Any]) -> Counter:
    """How often each row is there."""
    return Counter(tuple(row) for row in rows)


def start(joined: DataFrame, folder: Path) -> StreamingQuery:
    """Start a query that writes files in a folder and keeps its checkpoint there, too."""
    writer = joined.writeStream.format("parquet").trigger(availableNow=True)
    return writer.option("checkpointLocation", str(folder / "checkpoint")).start(
        str(folder / "out")
    )


def written(spark: SparkSession, folder: Path) -> Counter:
    """The rows that a query has written."""
    return count(spark.read.parquet(str(folder / "out")).collect())


def run(joined: DataFrame, folder: Path) -> Run:
    """Run a query until it has read all there is."""
    query = start(joined, folder)
    query.awaitTermination()
    return Run(written(joined.sparkSession, folder), list(query.recentProgress))
