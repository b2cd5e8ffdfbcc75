"""Work on rows in their order, in blocks that also see the rows before them."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from recollect.spark.positions import POSITION

BLOCK_ROWS = 262_144


def by_block(
    stream: DataFrame, h: int, work: Callable[[pa.Table, int], pa.Table], schema: str
) -> DataFrame:
    """Cut rows into blocks by their position, and work on each block wherever it lies.

    Parameters
    ----------
    stream
        Has the column ``position``, from 0 on without gaps.
    h
        So many rows before the block are given with it, at most :data:`BLOCK_ROWS`.
    work
        Called with the rows in order, and with the number of those that come before the block.
    schema
        The columns that it returns.
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
