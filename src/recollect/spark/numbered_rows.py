"""Rows numbered in an order, and work on them in blocks that also see the rows before them."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

POSITION = "position"
BLOCK_ROWS = 262_144
ROW_BITS = 33
"""Of Spark's increasing numbers these bits count the rows of a partition."""


def numbered(frame: DataFrame, *order: Column) -> tuple[DataFrame, int]:
    """Sort rows over all executors, number them from 0 on in a column ``position``; their number.

    Of rows that tie, any may be the first. The sorted rows stay with the executors until they are
    no longer in use: where a row is must not change between counting the rows of each partition and
    numbering them.
    """
    ordered = frame.orderBy(*order).localCheckpoint()
    part = F.spark_partition_id()
    counted = ordered.groupBy(part.alias("part")).agg(F.count("*").alias("rows"))
    sizes = {row.part: row.rows for row in counted.collect()}
    counts = np.array([sizes.get(number, 0) for number in range(max(sizes, default=-1) + 1)])
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    inside = F.monotonically_increasing_id().bitwiseAND(F.lit((1 << ROW_BITS) - 1))
    position = F.get(F.lit(starts), part) + inside
    return ordered.withColumn(POSITION, position), int(starts[-1])


def by_block(
    stream: DataFrame, h: int, work: Callable[[pa.Table, int], pa.Table], schema: str
) -> DataFrame:
    """Cut rows into blocks by their position, and work on each block on any executor.

    The column ``position`` goes from 0 on without gaps. ``h`` rows before a block are given with
    it, at most :data:`BLOCK_ROWS`. ``work`` is called with the rows in order, and with the number
    of those that come before the block; ``schema`` has the columns that it returns.
    """
    size = BLOCK_ROWS
    block = F.call_function("div", F.col(POSITION), F.lit(size))
    last = F.col(POSITION) % size >= size - h
    blocks = F.when(last, F.array(block, block + 1)).otherwise(F.array(block))

    def of_block(key: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
        ordered = rows.sort_by(POSITION)
        first = key[0].as_py() * size
        return work(ordered, int(np.searchsorted(ordered[POSITION].to_numpy(), first)))

    return (
        stream.withColumn("block", F.explode(blocks))
        .groupBy("block")
        .applyInArrow(of_block, schema)
    )
