"""One batch of one join as plain data, which is what every output is given."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recollect.spark.live.ledger import Ledger

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress

Record = dict[str, Any]
"""What :func:`record_of` returns; JSON can hold it."""
Output = Callable[[Record], object]
"""Anything that takes records: a function, the ``append`` of a list, a file, an endpoint."""

NO_WATERMARK = "1970-01-01T00:00:00.000Z"


def record_of(
    progress: "StreamingQueryProgress", join: str, sums: Mapping[str, int | None], ledger: Ledger
) -> Record:
    """Enter a batch into the ledger of its join, and put everything known about it together.

    Parameters
    ----------
    progress
        What Spark says of the batch.
    join
        The name of the join.
    sums
        What was observed of it.
    ledger
        The totals of the join so far.

    Returns
    -------
    dict
        ``join``, ``query`` (its name or None), ``query_id``, ``run_id``, ``batch``, ``timestamp``,
        ``duration_ms``, ``input_rows`` and ``rows_per_second`` (over all sources of the query),
        ``watermark`` (None before the first), ``repeated`` (the batch was run before and is not
        in the totals again), all fields of :class:`~recollect.spark.numbers.Numbers`, ``totals``,
        and of Spark's own state ``store_rows``, ``store_bytes`` and ``stores``, one per operator.
    """
    counted = {"input_rows": progress.numInputRows, "duration_ms": progress.batchDuration}
    new = ledger.enter(progress.batchId, {**sums, **counted})
    rate = progress.processedRowsPerSecond
    watermark = progress.eventTime.get("watermark")
    stores = [
        {
            "operator": operator.operatorName,
            "rows": operator.numRowsTotal,
            "bytes": operator.memoryUsedBytes,
            # Some metrics come once per partition, of which there may be thousands.
            "metrics": {k: v for k, v in operator.customMetrics.items() if ".partition_" not in k},
        }
        for operator in progress.stateOperators
    ]
    return {
        "join": join,
        "query": progress.name,
        "query_id": str(progress.id),
        "run_id": str(progress.runId),
        "batch": progress.batchId,
        "timestamp": progress.timestamp,
        **counted,
        # Over no time at all Spark says infinity, which JSON does not know.
        "rows_per_second": rate if math.isfinite(rate) else None,
        "watermark": None if watermark == NO_WATERMARK else watermark,
        "repeated": not new,
        **asdict(ledger.numbers),
        "totals": ledger.totals,
        "store_rows": sum(store["rows"] for store in stores),
        "store_bytes": sum(store["bytes"] for store in stores),
        "stores": stores,
    }
