"""Note down what ingesting reads and removes in each micro-batch."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.spark.live import JsonLines, Record, read_records
from recollect.spark.pipeline.cleaning import KEPT, READ

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

COUNTS = ("read", "null_keys", "late", "duplicates", "kept")
"""The rows of a source, why some of them were removed, and those that are left."""


class Counts:
    """Writes a line for every batch of the ingesting queries.

    Parameters
    ----------
    path
        The file, which is continued.
    queries
        By side.
    """

    def __init__(self, path: Path, queries: "Mapping[str, StreamingQuery]") -> None:
        self._lines = JsonLines(path)
        self._queries = queries
        self._seen = dict.fromkeys(queries, -1)
        self._latest = dict.fromkeys(queries, "")
        self.rows: Counter[str] = Counter()
        """By side, what has been read since the start."""

    def look(self) -> bool:
        """Write down the batches that are new, and return whether there are any."""
        any_new = False
        for side, query in self._queries.items():
            last = query.lastProgress
            if last is None or last.timestamp == self._latest[side]:
                continue
            self._latest[side] = last.timestamp
            for progress in query.recentProgress:
                # Without these a query only says that there was nothing to do.
                if progress.batchId > self._seen[side] and READ in progress.observedMetrics:
                    self._seen[side] = progress.batchId
                    self._write(side, progress)
                    any_new = True
        return any_new

    def _write(self, side: str, progress: Any) -> None:
        record = record_of(side, progress)
        self.rows[side] += record["read"]
        self._lines(record)


def record_of(side: str, progress: Any) -> Record:
    """Put down in plain data what Spark observed in a batch."""
    before, after = progress.observedMetrics[READ], progress.observedMetrics[KEPT]
    late = sum(operator.numRowsDroppedByWatermark for operator in progress.stateOperators)
    removed = before["rows"] - after["rows"]
    null_keys = min(before["null_keys"], removed)
    return {
        "query_id": str(progress.id),
        "join": side,
        "batch": progress.batchId,
        "timestamp": progress.timestamp,
        "read": before["rows"],
        "null_keys": before["null_keys"],
        "late": late,
        "duplicates": removed - null_keys - late,
        "kept": after["rows"],
    }


def total_counts(path: Path, side: str) -> dict[str, int]:
    """Add up what was written down of a side; a batch that was run twice counts once."""
    records = [record for record in read_records(path) if record["join"] == side]
    return {name: sum(record[name] for record in records) for name in COUNTS}
