"""One micro-batch of one shard, from packed rows to packed results and numbers."""

import gc
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Any, NamedTuple
from urllib.parse import quote

import pyarrow as pa

from recollect.join.kernel import BEFORE_ALL
from recollect.spark.keeping.header import Header, Vault, read_header, write_header
from recollect.spark.keeping.keeper import Keeper
from recollect.spark.keeping.shard import STREAMS, Job
from recollect.spark.live.numbers import Numbers
from recollect.spark.packing import from_bytes, micros_since, to_buffer

SETTLED = 3
"""After so many micro-batches a worker has made the objects it keeps for good."""
_seen = 0


class Moment(NamedTuple):
    """Which micro-batch this is."""

    query: str
    batch: int
    watermark: int
    """In units of the time columns; BEFORE_ALL if there is none."""


class Input(NamedTuple):
    """What packed rows bring for a shard."""

    shard: int
    batches: list[pa.RecordBatch | None]
    """By stream."""
    missing: int
    """Rows that were left out because their key or time is NULL."""
    micros: int
    """How long packing took."""


def read_input(rows: Iterable[Any]) -> Input:
    """Read packed rows in an order that does not depend on how they were shuffled."""
    shard = missing = micros = 0
    packed: list[list[tuple[int, Any]]] = [[] for _ in range(STREAMS)]
    for row in rows:
        shard = row.shard
        missing += row.missing
        micros += row.micros
        if row.packed is not None:
            packed[row.side].append((row.origin, row.packed))
    batches = []
    for parts in packed:
        parts.sort(key=lambda part: part[0])
        read = [from_bytes(data) for _, data in parts]
        batches.append(pa.concat_batches(read) if len(read) > 1 else read[0] if read else None)
    return Input(shard, batches, missing, micros)


def join_micro_batch(
    job: Job, rows: Iterable[Any], vault: Vault, moment: Moment
) -> Iterator[bytes | Numbers]:
    """Join what a micro-batch brings for a shard: packed results, and at last the numbers."""
    started = perf_counter()
    elsewhere = 0
    given = read_input(rows)
    header = read_header(vault, job)
    numbers = Numbers(null_keys=given.missing, rows_in=given.missing)
    if any(batch is not None for batch in given.batches):
        keeper = Keeper(
            job, given.shard, vault, header, f"{moment.query}-{quote(job.name, safe='')}"
        )
        before = keeper.shard.counts
        taken = keeper.shard.take(given.batches, *_late_before(header, moment))
        results = keeper.shard.results(taken)
        while True:
            began = perf_counter()
            batch = next(results, None)
            numbers.engine_micros += micros_since(began)
            if batch is None:
                break
            packed = to_buffer(batch).to_pybytes()
            handed_over = perf_counter()
            yield packed
            elsewhere += micros_since(handed_over)
        header = keeper.save(taken, moment.batch, moment.watermark)
        numbers.rebuilt, numbers.state_bytes = int(keeper.rebuilt), keeper.written
        counts = keeper.shard.counts
        numbers.add({name: count - before[name] for name, count in counts.items()})
    else:
        header.batch, header.watermark = moment.batch, moment.watermark
        numbers.state_bytes = write_header(vault, header)
    numbers.buffered, numbers.buffered_bytes = header.buffered, header.buffered_bytes
    here = micros_since(started) - elsewhere
    numbers.overhead_micros = given.micros + here - numbers.engine_micros
    _freeze_once()
    yield numbers


def _late_before(header: Header, moment: Moment) -> tuple[int, int]:
    """Before which times rows are late: in this micro-batch, and in the next ones.

    It is Spark's rule: what is not after the watermark of the micro-batch before is late. Every
    shard is called in every micro-batch with rows, so if one is missing, it had none, and the
    watermark has not moved since.
    """
    if moment.watermark == BEFORE_ALL:
        return BEFORE_ALL, BEFORE_ALL
    first = header.batch < 0
    before = 0 if first else moment.watermark
    if header.batch == moment.batch - 1 and not first:
        before = header.watermark
    return before + 1, moment.watermark + 1


def _freeze_once() -> None:
    """Take what a worker keeps for good out of Python's garbage collection."""
    global _seen
    _seen += 1
    if _seen == SETTLED:
        gc.collect()
        gc.freeze()
