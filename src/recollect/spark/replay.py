"""A Spark data source that plays a file or a generated stream, the same rows every time.

After :func:`register`, ``spark.readStream.format("recollect")`` reads it as a stream and
``spark.read.format("recollect")`` all at once. Either ``path`` or ``generator`` is needed;
the other options (``timeUnit``, ``timeColumn``, ``startTime``, ``numPartitions``, ``rate``,
``batchRows``, and the parameters of the generator) are described in docs/spark.md.

The offset of a stream is a row number: a query that is started again from its checkpoint goes on
with the row after the last.
"""

import os
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from time import monotonic

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkTypeError
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from recollect.errors import InputError
from recollect.spark.replay_options import Replay
from recollect.streams import Generator, Source, open_source

PIECE_ROWS = 65_536
MOST_PARKED = 8


def register(spark: SparkSession) -> None:
    """Make the format ``recollect`` known to a session."""
    spark.dataSource.register(ReplaySource)


class ReplaySource(DataSource):
    """The format ``recollect``; see the module for its options."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.replay = Replay.parse(options)

    @classmethod
    def name(cls) -> str:
        """Return what the format is called."""
        return "recollect"

    def schema(self) -> StructType:
        """Return the columns of the data in Spark's types."""
        for field in self.replay.schema:
            try:
                from_arrow_schema(pa.schema([field]))
            except PySparkTypeError as error:
                raise InputError(
                    f"{self.replay.data}: Spark has no type for column {field.name!r} of type"
                    f" {field.type}; say what to read it as with schema(…)"
                ) from error
        return from_arrow_schema(self.replay.schema)

    def reader(self, schema: StructType) -> "BatchReader":
        """Read everything at once."""
        return BatchReader(self.replay, schema)

    def streamReader(self, schema: StructType) -> "StreamReader":  # noqa: N802
        """Read as a stream."""
        return StreamReader(self.replay, schema)


class RowReader:
    """Reads ranges of rows in the shape that Spark expects."""

    def __init__(self, replay: Replay, schema: StructType) -> None:
        self.replay = replay
        self._shape = to_arrow_schema(schema, timezone="UTC")
        for name in self._shape.names:
            if name not in replay.schema.names:
                known = ", ".join(map(repr, replay.schema.names))
                raise InputError(f"{replay.data} has no column {name!r}; it has {known}")

    @cached_property
    def rows(self) -> int:
        """How many there are; counted when first asked for, as only the driver needs to know."""
        return self.replay.count()

    def split(self, start: int, stop: int) -> list[InputPartition]:
        """Divide rows among tasks, as evenly as possible."""
        tasks = max(1, min(self.replay.partitions, stop - start))
        bounds = [start + (stop - start) * task // tasks for task in range(tasks + 1)]
        return [InputPartition(range(first, last)) for first, last in pairwise(bounds)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one task as Arrow batches."""
        clock, rows = self.replay.clock, partition.value
        for batch in read_rows(self.replay.data, self._shape.names, rows.start, rows.stop):
            columns = []
            for field, column in zip(self._shape, batch.columns, strict=True):
                if clock and field.name == clock.column:
                    column = clock.stamps(column)
                # Spark's time stamps have microseconds; the rest is cut off.
                options = pc.CastOptions(field.type, allow_time_truncate=True)
                columns.append(column.cast(options=options))
            yield pa.RecordBatch.from_arrays(columns, schema=self._shape)


class BatchReader(RowReader, DataSourceReader):
    """All rows at once."""

    def partitions(self) -> list[InputPartition]:
        """Divide the rows among tasks."""
        return self.split(0, self.rows)


class StreamReader(RowReader, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Rows as they arrive; the offset ``{"row": n}`` says that the first n have been read."""

    def __init__(self, replay: Replay, schema: StructType) -> None:
        super().__init__(replay, schema)
        self._rate = replay.rate
        self._began: tuple[float, int] | None = None

    def initialOffset(self) -> dict:  # noqa: N802
        """Begin with the first row."""
        return {"row": 0}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Let all rows arrive: the query would otherwise end with the few that have by now."""
        self._rate = None

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return how much a micro-batch takes."""
        most = self.replay.batch_rows
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def latestOffset(self, start: dict, limit: ReadLimit) -> dict:  # noqa: N802
        """Return where the next micro-batch ends."""
        row = start["row"]
        if row > self.rows:
            raise InputError(
                f"the checkpoint has read {row} rows of {self.replay.data}, which has only"
                f" {self.rows} now; start with a new checkpoint"
            )
        last = self.rows
        if self._rate is not None:
            # The pace is kept from where this run began, not from batch to batch: what a slow batch
            # leaves is made up for by the next.
            self._began = self._began or (monotonic(), row)
            began, first = self._began
            last = min(last, first + int(self._rate * (monotonic() - began)))
        if isinstance(limit, ReadMaxRows):
            last = min(last, row + limit.max_rows)
        return {"row": last}

    def partitions(self, start: dict, end: dict) -> list[InputPartition]:
        """Divide the rows of a micro-batch among tasks."""
        return self.split(start["row"], end["row"]) if start != end else []


# -- reading on where the last read ended --------------------------------------------------------
#
# Every read is a task of its own, but a generator, and most file formats, can only be read from
# their start. A worker process outlives its tasks, so it keeps its readers: to get to a row it
# takes the one that came closest and skips the rest. So each worker reads what is replayed once,
# not once per micro-batch.


class Cursor:
    """A place in a source, which moves forward only."""

    def __init__(self, source: Source, columns: Sequence[str], identity: Hashable) -> None:
        self.row = 0
        self.identity = identity
        self._name = source.name
        self._batches = source.batches(columns, PIECE_ROWS)
        self._rest: pa.RecordBatch | None = None

    def read(self, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows from ``start``, which has not been passed, to the one before ``stop``."""
        while self.row < stop:
            self._rest = self._rest or next(self._batches, None)
            if self._rest is None:
                raise InputError(f"{self._name} ends before row {stop}: it has {self.row} rows")
            skipping = self.row < start
            piece = self._rest.slice(0, (start if skipping else stop) - self.row)
            self._rest = self._rest.slice(piece.num_rows)
            self.row += piece.num_rows
            if not skipping:
                yield piece


_parked: list[Cursor] = []
"""Those of this process that no task is using, the one used last at the end."""


def read_rows(
    data: str | Generator, columns: Sequence[str], start: int, stop: int
) -> Iterator[pa.RecordBatch]:
    """Yield some columns of the rows from ``start`` to the one before ``stop``.

    >>> from recollect.streams import ZipfStream
    >>> [batch["time"].to_pylist() for batch in read_rows(ZipfStream(9), ["time"], 2, 5)]
    [[2, 3, 4]]
    """
    identity = (data, tuple(columns), _version(data))
    cursor = _nearest(identity, start) or Cursor(open_source(data), columns, identity)
    yield from cursor.read(start, stop)
    # Only now: a read that failed or was given up has left the cursor at an unknown place.
    _parked.append(cursor)
    del _parked[:-MOST_PARKED]


def _version(data: str | Generator) -> Hashable:
    """What changes when a file is written anew."""
    if isinstance(data, Generator):
        return None
    if not os.path.exists(data):
        raise InputError(f"{data} does not exist on the worker that is to read it")
    found = os.stat(data)
    return found.st_mtime_ns, found.st_size


def _nearest(identity: Hashable, row: int) -> Cursor | None:
    near = [cursor for cursor in _parked if cursor.identity == identity and cursor.row <= row]
    if not near:
        return None
    nearest = max(near, key=lambda cursor: cursor.row)
    _parked.remove(nearest)
    return nearest
