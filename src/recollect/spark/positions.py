"""Rows numbered in an order, without bringing them all to one place."""

from typing import NamedTuple

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

POSITION = "position"
ROW_BITS = 33
"""Of Spark's increasing numbers these bits count the rows of a partition."""


class Numbered(NamedTuple):
    """Rows with their positions."""

    frame: DataFrame
    rows: int


def numbered(frame: DataFrame, *order: Column) -> Numbered:
    """Sort rows over all executors and number them from 0 on, in a new column ``position``.

    The sorted rows stay with the executors until they are no longer in use: where a row is must not
    change between counting the rows of each partition and numbering them.

    Parameters
    ----------
    frame
        Any rows.
    order
        What they are sorted by. Of rows that tie, any may be the first.
    """
    ordered = frame.orderBy(*order).localCheckpoint()
    part = F.spark_partition_id()
    sizes = {row.part: row.rows for row in _sizes(ordered, part).collect()}
    counts = np.array([sizes.get(number, 0) for number in range(max(sizes, default=-1) + 1)])
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    inside = F.monotonically_increasing_id().bitwiseAND(F.lit((1 << ROW_BITS) - 1))
    position = F.get(F.lit(starts), part) + inside
    return Numbered(ordered.withColumn(POSITION, position), int(starts[-1]))


def _sizes(frame: DataFrame, part: Column) -> DataFrame:
    return frame.groupBy(part.alias("part")).agg(F.count("*").alias("rows"))
