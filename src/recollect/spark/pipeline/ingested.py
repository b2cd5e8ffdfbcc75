"""The rows that were ingested, as a stream or as a whole."""

from fractions import Fraction

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from recollect.join.query import SIDES
from recollect.spark.pipeline.context import Run
from recollect.spark.pipeline.layout import read_json

FINEST = 8
"""One file of a side goes with at most so many of the other, unless the ratio is larger."""


def rows(run: Run, side: str) -> DataFrame:
    """All rows of a side that are there now."""
    return run.spark.read.schema(_schema(run, side)).parquet(run.layout.ingested(side))


def streams(run: Run, in_step: bool) -> list[DataFrame]:
    """Return both sides as streams, file by file in the order in which they were written.

    Parameters
    ----------
    run
        The run.
    in_step
        Whether to take from each side the same share of its files at a time, so that neither runs
        ahead of the other and fills the memory of the join with rows that cannot match yet.
    """
    limits: tuple[int, int] | tuple[None, None] = (None, None)
    if in_step:
        left, right = (len(rows(run, side).inputFiles()) for side in SIDES)
        limits = pace(left, right)
    return [_stream(run, side, limit) for side, limit in zip(SIDES, limits, strict=True)]


def _stream(run: Run, side: str, files: int | None) -> DataFrame:
    # By default Spark passes over files that are a week older than the newest.
    reader = run.spark.readStream.schema(_schema(run, side)).option("maxFileAge", "3650d")
    if files is not None:
        reader = reader.option("maxFilesPerTrigger", files)
    return reader.parquet(run.layout.ingested(side))


def pace(left: int, right: int) -> tuple[int, int]:
    """How many files of each side make a batch, given how many there are.

    >>> pace(20, 19), pace(20, 13), pace(40, 1), pace(0, 5)
    ((1, 1), (11, 7), (40, 1), (1, 1))
    """
    few, many = sorted((left, right))
    ratio = Fraction(many, few).limit_denominator(FINEST) if few else Fraction(1)
    pair = (ratio.numerator, ratio.denominator)
    return pair if left > right else (pair[1], pair[0])


def _schema(run: Run, side: str) -> StructType:
    return StructType.fromJson(read_json(run.layout.schema(side)))
