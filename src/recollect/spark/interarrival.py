"""Inter-arrival distances as an aggregation on Spark."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from recollect.locality import Distances
from recollect.locality.distances import STEPS
from recollect.spark.positions import POSITION


def interarrival(stream: DataFrame) -> Distances:
    """Count how far each row is from the one before it with the same code.

    Parameters
    ----------
    stream
        Has the columns ``position`` and ``code``.
    """
    before = F.lag(POSITION).over(Window.partitionBy("code").orderBy(POSITION))
    # The shortest distance of the same bin: only the first bits are kept.
    distances = stream.select((F.col(POSITION) - before).alias("distance")).selectExpr(
        "distance", f"greatest(length(bin(distance)) - {STEPS.bit_length()}, 0) AS shift"
    )
    bins = distances.groupBy(
        F.expr("shiftleft(shiftright(distance, shift), shift)").alias("distance")
    ).agg(F.count("*").alias("rows"))
    found = {row.distance: row.rows for row in bins.collect()}
    firsts = found.pop(None, 0)
    return Distances.of([*found], firsts, [*found.values()])
