"""Any function on any list of items, each item a task of its own on the cluster."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Item = TypeVar("Item")
Found = TypeVar("Found")

_RESULTS = pa.schema([("number", pa.int64()), ("found", pa.binary())])


def scatter(
    spark: "SparkSession", function: Callable[[Item], Found], items: Sequence[Item]
) -> list[Found]:
    """Call a function with each item, in parallel, and return what it gives in the same order.

    Parameters
    ----------
    spark
        The session.
    function
        Goes to the executors, together with all items; so large data should be broadcast.
    items
        Each becomes a task, so each should be worth starting one (some tens of milliseconds).

    Examples
    --------
    ::

        scatter(spark, lambda budget: rc.join(..., budget=budget).stats, [100, 1_000, 10_000])
    """
    if not items:
        return []

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                found = pickle.dumps(function(items[number]))
                yield pa.RecordBatch.from_pydict(
                    {"number": [number], "found": [found]}, schema=_RESULTS
                )

    tasks = spark.range(0, len(items), 1, numPartitions=len(items))
    rows = tasks.mapInArrow(run, "number bigint, found binary").collect()
    return [pickle.loads(row.found) for row in sorted(rows, key=lambda row: row.number)]
