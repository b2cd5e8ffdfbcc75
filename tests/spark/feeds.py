"""Streams for tests: small files that Spark reads in order, and the join of them without Spark."""

import itertools
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from recollect.hashing import code_of_columns
from recollect.join.budget import parse_budget
from recollect.join.kernel import PEAK
from recollect.join.query import SIDES, Query, bind
from recollect.policies import parse_policy
from recollect.spark.keeping.shard import Job, Shard
from recollect.spark.packing import shards_of, without_missing

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
"""The first second of the streams, in microseconds since 1970."""
STAMP = pa.timestamp("us", "UTC")
STORE = "spark.sql.streaming.stateStore.providerClass"
PROVIDER = "org.apache.spark.sql.execution.streaming.state.{}StateStoreProvider"

Parts = Sequence[pa.Table]
"""What the micro-batches of a stream bring."""


# -- making streams ------------------------------------------------------------------------------


def events(
    side: str,
    times: Iterable[float | None],
    keys: Iterable[Any],
    payload: Iterable[str] | None = None,
) -> pa.Table:
    """Events of a side: ``k``, and with its name their numbers and times, as in ``l`` and ``lt``.

    Times are given in seconds since START. Payload becomes another column, as in ``lp``.
    """
    micros = [None if time is None else START + round(time * SECOND) for time in times]
    columns = {
        side: pa.array(range(len(micros)), pa.int64()),
        side + "t": pa.array(micros, STAMP),
        "k": pa.array(list(keys), pa.int64()),
    }
    if payload is not None:
        columns[side + "p"] = pa.array(list(payload), pa.string())
    return pa.table(columns)


def random_events(
    side: str,
    seed: int,
    rows: int = 150,
    keys: int = 8,
    jitter: float = 0,
    late: float = 0,
    hot: float = 0,
    missing: float = 0,
    payload: int = 0,
) -> pa.Table:
    """Two events a second.

    Parameters
    ----------
    side, seed, rows, keys
        Whose events, and of which random numbers; how many rows and different keys.
    jitter
        How many seconds out of order rows may be.
    late
        How many seconds every tenth row is late on top of that.
    hot
        The share of rows that have key 1.
    missing
        The share of keys, and that of times, that are NULL.
    payload
        The largest number of bytes in the column for payload, if there is to be one.
    """
    random = np.random.default_rng([seed, ord(side)])
    times = np.arange(rows) / 2 + random.uniform(0, jitter, rows) if jitter else np.arange(rows) / 2
    times = np.where(random.random(rows) < 0.1, np.maximum(times - late, 0), times)
    numbers = np.where(random.random(rows) < hot, 1, random.integers(0, keys, rows))
    no_time, no_key = (random.random(rows) < missing for _ in range(2))
    return events(
        side,
        [None if no else time for time, no in zip(times.tolist(), no_time, strict=True)],
        [None if no else key for key, no in zip(numbers.tolist(), no_key, strict=True)],
        ["x" * int(size) for size in random.integers(0, payload, rows)] if payload else None,
    )


def cut(table: pa.Table, parts: int) -> Parts:
    """A table in equal parts."""
    edges = np.linspace(0, table.num_rows, parts + 1).astype(int)
    return [table.slice(a, b - a) for a, b in itertools.pairwise(edges)]


def write(folder: Path, parts: Parts, first: int = 0) -> Path:
    """One file per part; as a stream they are read in this order."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(parts, first):
        file = folder / f"{number:04}.parquet"
        pq.write_table(part, file)
        os.utime(file, (10**9 + number, 10**9 + number))
    return folder


def stream(spark: SparkSession, folder: Path) -> DataFrame:
    """The files of a folder as a stream, one in each micro-batch."""
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def streams(spark: SparkSession, folder: Path, left: Parts, right: Parts) -> list[DataFrame]:
    """Both streams, written to a folder."""
    return [
        stream(spark, write(folder / side, parts))
        for side, parts in zip(SIDES, (left, right), strict=True)
    ]


# -- running queries -----------------------------------------------------------------------------


class Run(NamedTuple):
    """What a query did."""

    rows: Counter
    """How often each row came out."""
    progress: list[Any]
    """One entry per micro-batch."""

    def numbers(self, name: str = "bounded_join") -> list[dict[str, int]]:
        """What the join observed in each micro-batch that had rows."""
        found = [batch["observedMetrics"].get(f"recollect.{name}") for batch in self.progress]
        return [row.asDict() for row in found if row is not None and row.rows_in is not None]

    def total(self, field: str, name: str = "bounded_join") -> int:
        """The sum of one of the numbers over all micro-batches."""
        return sum(numbers[field] for numbers in self.numbers(name))


def start(joined: DataFrame, folder: Path) -> StreamingQuery:
    """Start a query that writes files in a folder and keeps its checkpoint there, too."""
    writer = joined.writeStream.format("parquet").trigger(availableNow=True)
    return writer.option("checkpointLocation", str(folder / "checkpoint")).start(
        str(folder / "out")
    )


def written(spark: SparkSession, folder: Path) -> Counter:
    """The rows that a query has written."""
    return count(spark.read.parquet(str(folder / "out")))


def count(frame: DataFrame) -> Counter:
    """How often each row is there."""
    return Counter(map(tuple, frame.collect()))


def run(joined: DataFrame, folder: Path) -> Run:
    """Run a query until it has read all there is."""
    query = start(joined, folder)
    query.awaitTermination()
    return Run(written(joined.sparkSession, folder), list(query.recentProgress))


# -- the same without Spark ----------------------------------------------------------------------


class Local(NamedTuple):
    """What the shards of a join did without Spark."""

    pairs: Counter
    """By the numbers of both events."""
    totals: Counter
    """What all shards counted."""
    buffered: list[int]
    """What they remembered after each micro-batch."""
    peaks: list[int]
    """By shard: the most that it ever remembered."""


def job(
    left: Parts,
    right: Parts,
    window: Any,
    budget: Any = None,
    policy: Any = "clock",
    shards: int = 2,
    seed: int = 0,
    lateness: float = 5,
    unordered: bool = True,
) -> Job:
    """The bounded join of events ``l`` and ``r``."""
    schemas = [
        pa.schema([field.with_name(f"{side}_{field.name}") for field in parts[0].schema])
        for side, parts in zip(SIDES, (left, right), strict=True)
    ]
    return Job(
        bound=bind(Query.parse("left_k=right_k", "left_lt=right_rt", window), *schemas),
        policy=parse_policy(policy),
        budget=parse_budget(budget),
        shards=shards,
        seed=seed,
        unordered=unordered,
        lateness=round(lateness * SECOND),
    )


def batches_of(made: Job, parts: Iterable[pa.Table]) -> list[pa.RecordBatch]:
    """A micro-batch as shards take it."""
    batches = []
    for side, (part, schema) in enumerate(zip(parts, made.bound.schemas, strict=True)):
        columns = [column.combine_chunks() for column in part.columns]
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
        batches.append(without_missing(made.bound, side, batch))
    return batches


def pairs_of(results: Iterable[pa.RecordBatch]) -> Counter:
    """The numbers of the events in results."""
    pairs: Counter = Counter()
    for batch in results:
        pairs.update(zip(*batch.select(["left_l", "right_r"]).to_pydict().values(), strict=True))
    return pairs


def watermarks(left: Parts, right: Parts, lateness: float) -> list[int]:
    """The watermark in each micro-batch: Spark's rule, in whole milliseconds."""
    found, newest = [0], [0, 0]
    for parts in zip(left, right, strict=True):
        for side, part in enumerate(parts):
            times = part.column(1).drop_null().cast(pa.int64()).to_numpy()
            newest[side] = max([newest[side], *(times // 1000 - round(lateness * 1000))])
        found.append(max(found[-1], min(newest)))
    return [1000 * mark for mark in found]


def join_locally(left: Parts, right: Parts, window: Any, **words: Any) -> Local:
    """Run the shards one by one over the same micro-batches; the words are those of :func:`job`."""
    made = job(left, right, window, **words)
    marks = watermarks(left, right, made.lateness / SECOND)
    shards = [Shard(made, number) for number in range(made.shards)]
    pairs: Counter = Counter()
    buffered = []
    for number, parts in enumerate(zip(left, right, strict=True)):
        late = marks[max(0, number - 1)] + 1, marks[number] + 1
        batches = batches_of(made, parts)
        where = [
            shards_of(code_of_columns([batch.column(f"{side}_k")]), made.shards)
            for side, batch in zip(SIDES, batches, strict=True)
        ]
        for at, shard in enumerate(shards):
            mine = [b.filter(pa.array(w == at)) for b, w in zip(batches, where, strict=True)]
            if any(batch.num_rows for batch in mine):
                taken = shard.take([b if b.num_rows else None for b in mine], *late)
                pairs += pairs_of(shard.results(taken))
        buffered.append(sum(shard.buffered for shard in shards))
    totals: Counter = Counter()
    for shard in shards:
        totals.update(shard.counts)
    peaks = [int(shard.engine.ledger.totals[PEAK]) for shard in shards]
    return Local(pairs, totals, buffered, peaks)
