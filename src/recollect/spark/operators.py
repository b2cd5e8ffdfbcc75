"""The bounded join as Spark operators: stateful ones for streams, a plain one for tables."""

import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.serializers import CloudPickleSerializer
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from recollect.join.kernel import BEFORE_ALL
from recollect.join.query import SIDES
from recollect.spark.keeping.micro_batch import Moment, join_micro_batch
from recollect.spark.keeping.shard import Job, Shard
from recollect.spark.live.numbers import FIELDS, Numbers
from recollect.spark.packing import Stage, to_buffer

JOINED = "packed binary, " + ", ".join(f"{name} long" for name in FIELDS)
"""The columns that all operators give: packed results, and in other rows the numbers."""
JOINED_SCHEMA = pa.schema([("packed", pa.binary()), *((name, pa.int64()) for name in FIELDS)])
PICKLE = CloudPickleSerializer()
ONE_STATE = "parts binary"
NO_NUMBERS = dict.fromkeys(FIELDS)


def _row(part: bytes | Numbers) -> dict[str, Any]:
    if isinstance(part, bytes):
        return {"packed": part, **NO_NUMBERS}
    return {"packed": None, **vars(part)}


def _moment(watermark_ms: int | None, units_per_ms: int) -> Moment:
    context = TaskContext.get()
    assert context is not None
    query = context.getLocalProperty("sql.streaming.queryId")
    batch = context.getLocalProperty("streaming.sql.batchId")
    assert query is not None
    assert batch is not None
    watermark = BEFORE_ALL if watermark_ms is None else watermark_ms * units_per_ms
    return Moment(query, int(batch), watermark)


class MapVault:
    """A :class:`Vault` in a map of Spark's state store; only what is changed is written."""

    def __init__(self, state: MapState) -> None:
        self._map = state

    def get(self, name: str) -> bytes | None:
        """Return the bytes of a name, if there are any."""
        value = self._map.getValue((name,))
        return None if value is None else bytes(value[0])

    def put(self, name: str, value: bytes) -> None:
        """Keep bytes under a name."""
        self._map.updateValue((name,), (value,))

    def delete(self, name: str) -> None:
        """Forget a name."""
        self._map.removeKey((name,))


class DictVault(dict[str, bytes]):
    """A :class:`Vault` in one piece, for state stores that keep one state per key."""

    put = dict.__setitem__

    def delete(self, name: str) -> None:
        """Forget a name."""
        self.pop(name, None)


def join_processor(job: Job, units_per_ms: int, watermark: bool) -> StatefulProcessor:
    """The operator for state stores with several states per key, such as RocksDB.

    At each start of a query Spark unpickles it in a process of its own, only to learn what state it
    keeps. A class made in a function is pickled as a whole, and so that process is spared the
    import of this library, which takes longer than all the rest.
    """
    pickled = PICKLE.dumps(job)

    class JoinProcessor(StatefulProcessor):
        def init(self, handle: StatefulProcessorHandle) -> None:
            self._map = handle.getMapState("shard", "name string", "value binary")

        def handleInputRows(  # noqa: N802
            self,
            key: Any,
            rows: Any,
            timerValues: TimerValues,  # noqa: N803
        ) -> Iterator[Row]:
            from recollect.spark import operators

            time = timerValues.getCurrentWatermarkInMs() if watermark else None
            yield from operators.joined_rows(pickled, rows, self._map, time, units_per_ms)

        def close(self) -> None:
            """Leave everything to the state store."""

    return JoinProcessor()


def joined_rows(
    pickled: bytes, rows: Any, state: MapState, watermark_ms: int | None, units_per_ms: int
) -> Iterator[Row]:
    """Join what a micro-batch brings for a shard."""
    job, moment = PICKLE.loads(pickled), _moment(watermark_ms, units_per_ms)
    for part in join_micro_batch(job, rows, MapVault(state), moment):
        yield Row(**_row(part))


def one_state_operator(job: Job, units_per_ms: int, watermark: bool) -> Callable[..., Any]:
    """The operator for state stores with one state per key, such as the HDFS-backed one.

    The whole state of a shard is written in each micro-batch.
    """

    def join(key: Any, frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
        vault = DictVault(pickle.loads(state.get[0]) if state.exists else {})
        moment = _moment(state.getCurrentWatermarkMs() if watermark else None, units_per_ms)
        rows = (row for frame in frames for row in frame.itertuples())
        for part in join_micro_batch(job, rows, vault, moment):
            if isinstance(part, Numbers):
                state.update((pickle.dumps(dict(vault)),))
                part.state_bytes = sum(map(len, vault.values()))
            yield pd.DataFrame([_row(part)])

    return join


def sorted_operator(job: Job) -> Stage:
    """The operator for tables: rows come in order of shard and time and are joined as they come.

    No more than one shard's budget and a batch of rows is in memory.
    """

    def join(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers, number, shard = Numbers(), -1, None
        for batch in batches:
            for here, part in _by_shard(batch):
                if shard is None or here != number:
                    if shard is not None:
                        numbers.add(shard.counts)
                    number, shard = here, Shard(job, here)
                taken = shard.take([_rows_of(part, side) for side in SIDES], BEFORE_ALL, BEFORE_ALL)
                for result in shard.results(taken):
                    yield _packed_row(to_buffer(result).to_pybytes())
        if shard is not None:
            numbers.add(shard.counts)
        yield _packed_row(numbers)

    return join


def _packed_row(part: bytes | Numbers) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([_row(part)], JOINED_SCHEMA)


def _by_shard(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The parts of a sorted batch that belong to one shard each."""
    shards = batch.column("shard").to_numpy()
    cuts = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist(), len(shards)]
    for start, end in itertools.pairwise(cuts):
        if end > start:
            yield int(shards[start]), batch.slice(start, end - start)


def _rows_of(batch: pa.RecordBatch, side: str) -> pa.RecordBatch | None:
    """The rows of one side."""
    rows = batch.column(side).drop_null()
    return pa.RecordBatch.from_struct_array(rows) if len(rows) else None
