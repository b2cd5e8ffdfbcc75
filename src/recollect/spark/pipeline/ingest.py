"""Stage one: read both sources, type and clean their rows, and keep them as Parquet."""

import os
from collections import Counter
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructField, StructType, TimestampNTZType, TimestampType

from recollect.join.query import SIDES
from recollect.spark import replay
from recollect.spark.columns import JoinColumns, find, quoted
from recollect.spark.live import JsonLines, Record, read_records
from recollect.spark.pipeline.config import FILE_FORMATS, REPLAY, Config
from recollect.spark.pipeline.queries import blame, patience, trigger, wait
from recollect.spark.pipeline.run import Run, read_json, write_json

READ = "ingest.read"
KEPT = "ingest.kept"
"""Under these names Spark counts the rows before and after cleaning."""
COUNTS = ("read", "null_keys", "late", "duplicates", "kept")
"""The rows of a source, why some of them were removed, and those that are left."""
FINEST = 8
"""One file of a side goes with at most so many of the other, unless the ratio is larger."""


def ingest(run: Run) -> dict[str, Any]:
    """Read all that is there; or, with a trigger, whatever comes until the time is over."""
    ingesting = Ingesting(run)
    with patience(run.config.sink) as is_over:
        wait(ingesting.named, until=is_over, look=ingesting.look)
    ingesting.stop()
    return ingesting.finish()


class Ingesting:
    """A query for each side, and what they have read; each goes on from its own checkpoint."""

    def __init__(self, run: Run) -> None:
        self._run = run
        config = run.config
        frames = {side: clean(open_stream(run.spark, config, side), config, side) for side in SIDES}
        asked = config.join
        with blame(config, "join"):  # now rather than when all has been read
            JoinColumns.parse(
                frames["left"], frames["right"], asked.on, asked.time, asked.window, asked.lateness
            )
        for side, frame in frames.items():
            _remember(run, side, frame.schema)
        self._queries: dict[str, StreamingQuery] = {}
        for side, frame in frames.items():
            # One file per batch: the join then reads them in the order in which they came.
            writer = frame.repartition(1).writeStream.format("parquet").queryName(f"ingest {side}")
            writer = writer.option("checkpointLocation", run.checkpoint(f"ingest-{side}"))
            with blame(config, side):
                writer = writer.trigger(**trigger(config.sink.trigger))
                self._queries[side] = writer.start(run.ingested(side))
                run.queries.append(self._queries[side])
        self._lines = JsonLines(run.ingest_counts)
        self._seen = dict.fromkeys(SIDES, -1)
        self._latest: dict[str, str] = {}
        self._rows: Counter[str] = Counter()

    @property
    def named(self) -> dict[str, StreamingQuery]:
        """The queries under the names that messages use."""
        return {f"ingest of the {side} source": query for side, query in self._queries.items()}

    def look(self) -> None:
        """Write down the batches that are new, a line for each, and tell."""
        any_new = False
        for side, query in self._queries.items():
            last = query.lastProgress
            if last is None or last.timestamp == self._latest.get(side):
                continue
            self._latest[side] = last.timestamp
            for progress in query.recentProgress:
                # Without these a query only says that there was nothing to do.
                if progress.batchId > self._seen[side] and READ in progress.observedMetrics:
                    self._seen[side] = progress.batchId
                    record = record_of(side, progress)
                    self._rows[side] += record["read"]
                    self._lines(record)
                    any_new = True
        if any_new:
            rows = (f"{self._rows[side]:,} {side}" for side in SIDES)
            self._run.watch.news("ingest", f"{' and '.join(rows)} rows read")

    def stop(self) -> None:
        """Stop both queries."""
        for query in self._queries.values():
            query.stop()

    def finish(self) -> dict[str, Any]:
        """Sum up, over all runs that went into the same folder; repeated batches count once."""
        self.look()
        records = read_records(self._run.ingest_counts)
        return {
            side: {
                name: sum(record[name] for record in records if record["join"] == side)
                for name in COUNTS
            }
            for side in SIDES
        }


def record_of(side: str, progress: Any) -> Record:
    """Put down in plain data what Spark observed in a batch."""
    before, after = progress.observedMetrics[READ], progress.observedMetrics[KEPT]
    late = sum(operator.numRowsDroppedByWatermark for operator in progress.stateOperators)
    removed = before["rows"] - after["rows"]
    return {
        "query_id": str(progress.id),
        "join": side,
        "batch": progress.batchId,
        "timestamp": progress.timestamp,
        "read": before["rows"],
        "null_keys": before["null_keys"],
        "late": late,
        "duplicates": removed - min(before["null_keys"], removed) - late,
        "kept": after["rows"],
    }


def _remember(run: Run, side: str, schema: StructType) -> None:
    """Note down the columns for the stages that follow; they must stay the same."""
    path = run.schema(side)
    # Without metadata: the watermark that finds duplicates is not that of the join.
    plain = StructType([StructField(field.name, field.dataType) for field in schema])
    if path.exists() and (before := StructType.fromJson(read_json(path))) != plain:
        now, then = (
            ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in columns)
            for columns in (plain, before)
        )
        raise run.config.mistake(
            side,
            message=f"its columns are now {now}, but {run.out} was begun with"
            f" {then}; take another pipeline.out, or remove that folder",
        )
    write_json(plain.jsonValue(), path)


# -- opening and cleaning a source -------------------------------------------------------------


def open_stream(spark: SparkSession, config: Config, side: str) -> DataFrame:
    """Open the source of a side.

    Files need not have a schema in the configuration: it is then taken from those that are there.
    """
    source = config.source(side)
    path, options = source.path, source.options
    if path is not None and source.format in FILE_FORMATS and os.path.isfile(path):
        # Of files, Spark streams only folders and patterns.
        path, name = os.path.split(os.path.abspath(path))
        options = {**options, "pathGlobFilter": name}
    if source.format == REPLAY:
        replay.register(spark)
    reader = spark.readStream.format(source.format).options(**options)
    if source.schema is not None:
        with blame(config, side, "schema"):
            reader = reader.schema(source.schema)
    with blame(config, side, "options", PATH_NOT_FOUND="path", DATA_SOURCE_NOT_FOUND="format"):
        if source.schema is None and source.format in FILE_FORMATS:
            there = spark.read.format(source.format).options(**options).load(path)
            reader = reader.schema(there.schema)
        return reader.load(path)


def clean(frame: DataFrame, config: Config, side: str) -> DataFrame:
    """Do with a stream what its section of the configuration says, and count the rows."""
    source = config.source(side)
    keys, time = config.join.keys_of(side), config.join.time_of(side)
    frame = shape(frame, config, side)
    with blame(config, "join", "on"):
        for name in keys:
            find(frame, name, f"the {side} source")
    with blame(config, "join", "time"):
        kind = frame.schema[find(frame, time, f"the {side} source")].dataType
    if not isinstance(kind, TimestampType | TimestampNTZType):
        raise config.mistake(
            "join", "time",
            message=f"column {time!r} of the {side} source is of type {kind.simpleString()}, not a"
            f" time stamp; make it one in [{side}.columns], as in"
            f" {time} = \"CAST({time} AS TIMESTAMP)\"",
        )  # fmt: skip
    needed = [*keys, time]
    incomplete = reduce(or_, (F.col(quoted(name)).isNull() for name in needed))
    frame = frame.observe(
        READ, F.count(F.lit(1)).alias("rows"), F.count_if(incomplete).alias("null_keys")
    )
    if source.null_keys == "drop":
        frame = frame.filter(~incomplete)
    elif source.null_keys == "error":
        there = F.to_json(F.struct(*(F.col(quoted(name)) for name in dict.fromkeys(needed))))
        begin = F.lit(f"a row of the {side} source has no key or no time, only ")
        end = F.lit("; correct the row, or set null_keys = 'drop'")
        refuse = F.raise_error(F.concat(begin, there, end))
        frame = frame.filter(F.when(incomplete, refuse).otherwise(F.lit(True)))
    if source.duplicates is not None:
        delay = f"{source.duplicates.within.nanoseconds // 1_000_000} milliseconds"
        with blame(config, side, "duplicates", "id"):
            frame = frame.withWatermark(quoted(time), delay)
            frame = frame.dropDuplicatesWithinWatermark(list(source.duplicates.id))
    return frame.observe(KEPT, F.count(F.lit(1)).alias("rows"))


def shape(frame: DataFrame, config: Config, section: str) -> DataFrame:
    """Add or replace columns by SQL expressions, then keep only some, as a section says."""
    said = config.sink if section == "sink" else config.source(section)
    for name, expression in said.columns.items():
        with blame(config, section, "columns", name):
            # One by one, so that an expression may use the columns before it.
            frame = frame.withColumn(name, F.expr(expression))
    if said.select is not None:
        with blame(config, section, "select"):
            frame = frame.select([quoted(name) for name in said.select])
    return frame


# -- the rows that were ingested ---------------------------------------------------------------


def rows(run: Run, side: str) -> DataFrame:
    """All rows of a side that are there now."""
    schema = StructType.fromJson(read_json(run.schema(side)))
    return run.spark.read.schema(schema).parquet(run.ingested(side))


def streams(run: Run, in_step: bool) -> list[DataFrame]:
    """Return both sides as streams, file by file in the order in which they were written.

    In step means that each micro-batch takes the same share of the files of each side, so that
    neither runs ahead and fills the memory of the join with rows that cannot match yet.
    """
    tables = [rows(run, side) for side in SIDES]
    limits = pace(*(len(table.inputFiles()) for table in tables)) if in_step else (None, None)
    streams = []
    for side, table, limit in zip(SIDES, tables, limits, strict=True):
        # By default Spark passes over files that are a week older than the newest.
        reader = run.spark.readStream.schema(table.schema).option("maxFileAge", "3650d")
        if limit is not None:
            reader = reader.option("maxFilesPerTrigger", limit)
        streams.append(reader.parquet(run.ingested(side)))
    return streams


def pace(left: int, right: int) -> tuple[int, int]:
    """How many files of each side make a batch, given how many there are.

    >>> pace(20, 19), pace(20, 13), pace(40, 1), pace(0, 5)
    ((1, 1), (11, 7), (40, 1), (1, 1))
    """
    few, many = sorted((left, right))
    ratio = Fraction(many, few).limit_denominator(FINEST) if few else Fraction(1)
    pair = (ratio.numerator, ratio.denominator)
    return pair if left > right else (pair[1], pair[0])
