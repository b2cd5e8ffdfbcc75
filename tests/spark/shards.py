"""Shards, jobs and micro-batches to try them on; nothing here needs a Spark session."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from recollect.join.budget import parse_budget
from recollect.join.kernel import BEFORE_ALL
from recollect.join.query import Query, bind
from recollect.policies import parse_policy
from recollect.spark.keeping.header import read_header
from recollect.spark.keeping.keeper import Keeper
from recollect.spark.keeping.shard import Job, Shard

SCHEMAS = tuple(
    pa.schema([("t", pa.int64()), ("k", pa.int64()), (name, pa.int64()), ("text", pa.string())])
    for name in ("left", "right")
)
Row = tuple[int, int, int, int]
"""Stream, time, key and a number that no other row of its stream has."""


def job_of(
    policy="clock",
    window=20,
    budget=None,
    shards=1,
    seed=7,
    lateness=0,
    schemas=SCHEMAS,
    on="k",
) -> Job:
    """A join of rows as :func:`batch_of` makes them."""
    return Job(
        bound=bind(Query.parse(on=on, time="t", window=window), *schemas),
        policy=parse_policy(policy),
        budget=parse_budget(budget, elsewhere=True),
        shards=shards,
        seed=seed,
        unordered=True,
        lateness=lateness,
    )


def contents_of(shard: Shard) -> dict[str, np.ndarray]:
    """The arrays of a shard's engine, without the numbers of rows and what is left in free places.

    That a key is in the hash table is part of it, but not where.
    """
    arrays = {name: np.array(array) for name, array in shard.engine.arrays().items()}
    slots, groups = arrays["slots"], arrays["groups"]
    live = np.concatenate([shard.engine.rows_of(stream)[0] for stream in (0, 1)])
    free = np.setdiff1d(np.arange(len(slots)), live)
    unused = np.setdiff1d(np.arange(len(groups)), slots["group"][live])
    next_unused = groups["first"][unused, 0]
    slots["row"] = 0
    slots[free] = 0
    arrays["next"][free] = 0
    groups[unused] = 0
    groups["first"][unused, 0] = next_unused
    arrays["table"].sort()
    return arrays


def text_of(stream: int, number: int) -> str:
    """What stands in the payload of a row, of varying length."""
    return f"{stream}:{number}:" + "x" * (number * 7 % 23)


def batch_of(rows: Sequence[Row], stream: int) -> pa.RecordBatch | None:
    """The rows of one stream, or None if there are none."""
    own = [(time, key, number) for side, time, key, number in rows if side == stream]
    if not own:
        return None
    times, keys, numbers = (list(column) for column in zip(*own, strict=True))
    texts = [text_of(stream, number) for number in numbers]
    columns = zip((times, keys, numbers, texts), SCHEMAS[stream].types, strict=True)
    return pa.record_batch(
        [pa.array(column, kind) for column, kind in columns], schema=SCHEMAS[stream]
    )


def batches_of(rows: Sequence[Row]) -> list[pa.RecordBatch | None]:
    """The rows by stream."""
    return [batch_of(rows, stream) for stream in (0, 1)]


def pairs_in(results: Iterator[pa.RecordBatch]) -> list[tuple[int, int]]:
    """The numbers of the rows in results, after a look at the rest of their columns."""
    pairs = []
    for batch in results:
        for row in batch.to_pylist():
            assert row["left_k"] == row["right_k"]
            assert row["left_text"] == text_of(0, row["left"])
            assert row["right_text"] == text_of(1, row["right"])
            pairs.append((row["left"], row["right"]))
    return pairs


def feed(
    shard: Shard, rows: Sequence[Row], oldest: int = BEFORE_ALL, oldest_next: int = BEFORE_ALL
) -> list[tuple[int, int]]:
    """Let a shard join a micro-batch."""
    return pairs_in(shard.results(shard.take(batches_of(rows), oldest, oldest_next)))


def stream(
    seed: int, batches: int, rows: int, keys: int = 40, disorder: int = 15, step: float = 1.0
) -> list[list[Row]]:
    """Micro-batches that overlap in time by ``disorder``, in no order inside."""
    random = np.random.default_rng(seed)
    made = []
    number = 0
    for at in range(batches):
        batch: list[Row] = []
        for _ in range(rows):
            time = int(at * rows * step) + int(random.integers(-disorder, int(rows * step) + 1))
            key = int(keys * random.random() ** 2)
            batch.append((int(random.integers(0, 2)), time, key, number))
            number += 1
        made.append(batch)
    return made


def keep(job: Job, vault, rows: Sequence[Row], at: int, oldest=BEFORE_ALL, oldest_next=BEFORE_ALL):
    """Open a shard from a vault, let it join a micro-batch, save it; the keeper and the results."""
    keeper = Keeper(job, 0, vault, read_header(vault, job), "query")
    taken = keeper.shard.take(batches_of(rows), oldest, oldest_next)
    pairs = pairs_in(keeper.shard.results(taken))
    keeper.save(taken, at, oldest_next)
    return keeper, pairs
