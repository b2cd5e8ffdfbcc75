"""What happens in one micro-batch of a bounded join, in numbers, and their totals.

The join adds one row of numbers per shard to its packed output; Spark sums them up with
``observe``, so that each batch's sums are in the progress of the query (and a task that is run
again is not counted twice). :class:`~recollect.spark.live.LiveNumbers` reads them there.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress

Record = dict[str, Any]
"""What :func:`record_of` returns; JSON can hold it."""
Output = Callable[[Record], object]
"""Anything that takes records: a function, the ``append`` of a list, a file, an endpoint."""

NO_WATERMARK = "1970-01-01T00:00:00.000Z"
OBSERVATION = "recollect."
"""What the names of our observations begin with; the name of the join follows."""


@dataclass
class Numbers:
    """Sums over the shards of a bounded join for one micro-batch.

    ``buffered`` and ``buffered_bytes`` are levels at the end of the batch, all others count what
    happened in it.
    """

    rows_in: int = 0
    """Rows that arrived, late ones and those with NULL keys included."""
    results: int = 0
    evicted: int = 0
    """Tuples that were forgotten in favour of another."""
    refused: int = 0
    """Tuples that were not remembered because the policy preferred the others."""
    expired: int = 0
    """Tuples whose window had passed."""
    late: int = 0
    """Rows older than the watermark, which are not joined."""
    null_keys: int = 0
    """Rows whose key or time is NULL, which match nothing."""
    buffered: int = 0
    """Tuples in memory."""
    buffered_bytes: int = 0
    """What they take in memory with everything the join keeps about them."""
    state_bytes: int = 0
    """Bytes written to the state store."""
    rebuilt: int = 0
    """Shards that were not in shared memory and came from the state store."""
    engine_micros: int = 0
    """Time spent in the join itself: finding pairs, choosing victims, putting results together."""
    overhead_micros: int = 0
    """Time spent on packing, unpacking and state."""

    def add(self, counts: Mapping[str, int]) -> None:
        """Add what a shard has counted."""
        for name, count in counts.items():
            setattr(self, name, getattr(self, name) + count)


FIELDS = tuple(field.name for field in fields(Numbers))
LEVELS = ("buffered", "buffered_bytes")
"""The numbers that are levels; all others count what happened."""
COUNTS = tuple(name for name in FIELDS if name not in LEVELS)
SPARKS_COUNTS = ("input_rows", "duration_ms")
"""What Spark itself counts of a batch and is added up too."""


@dataclass
class Ledger:
    """The running totals of one join of one query.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.enter(0, {"results": 5, "buffered": 100}), ledger.enter(0, {"results": 5})
    (True, False)
    >>> ledger.totals["batches"], ledger.totals["results"], ledger.totals["peak_buffered"]
    (1, 5, 100)
    """

    numbers: Numbers = field(default_factory=Numbers)
    """Those of the last batch."""
    totals: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("batches", *SPARKS_COUNTS, *COUNTS, *(f"peak_{name}" for name in LEVELS)), 0
        )
    )
    """The number of batches, the sum of every count and the peak of every level."""
    _last: int = -1

    def enter(self, batch: int, sums: Mapping[str, int | None]) -> bool:
        """Enter what was observed in a batch, and return whether it is a new one.

        A query that is restarted may have to run its last batch again. It does the same once more,
        so that its numbers are shown but not added.
        """
        # The sum over no rows is NULL: nothing happened, and things stand as before.
        levels = {name: sums.get(name) for name in LEVELS}
        self.numbers = Numbers(
            **{name: sums.get(name) or 0 for name in COUNTS},
            **{
                name: getattr(self.numbers, name) if level is None else level
                for name, level in levels.items()
            },
        )
        new = batch > self._last
        if new:
            self._last = batch
            self.totals = {"batches": self.totals["batches"] + 1} | {
                name: max(total, getattr(self.numbers, name.removeprefix("peak_")))
                if name.startswith("peak_")
                else total + (sums.get(name) or 0)
                for name, total in self.totals.items()
                if name != "batches"
            }
        return new


def record_of(
    progress: "StreamingQueryProgress", join: str, sums: Mapping[str, int | None], ledger: Ledger
) -> Record:
    """Enter what was observed of a batch into the ledger of its join, and return all about it.

    That is ``join``, ``query`` (its name or None), ``query_id``, ``run_id``, ``batch``,
    ``timestamp``, ``duration_ms``, ``input_rows`` and ``rows_per_second`` (over all sources of the
    query), ``watermark`` (None before the first), ``repeated`` (the batch was run before and is not
    in the totals again), all fields of :class:`Numbers`, ``totals``, and of Spark's own state
    ``store_rows``, ``store_bytes`` and ``stores``, one per operator.
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
