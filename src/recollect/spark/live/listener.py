"""Listens to streaming queries and hands on what their bounded joins did in each batch."""

import logging
from collections import defaultdict
from threading import Condition
from typing import TYPE_CHECKING

from pyspark.sql.streaming.listener import StreamingQueryListener

from recollect.spark.live.numbers import OBSERVATION, Ledger, Output, Record, record_of

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import (
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )
    from pyspark.sql.streaming.query import StreamingQuery

logger = logging.getLogger(__name__)


class LiveNumbers(StreamingQueryListener):
    """Gives every output one record per batch and bounded join.

    An output that fails is named in the log once; the query and the other outputs go on.

    Parameters
    ----------
    outputs
        Called with each :data:`~recollect.spark.live.numbers.Record`, one at a time.

    Examples
    --------
    ::

        live = LiveNumbers(JsonLines("out/live.jsonl"), Prometheus(9400), print)
        spark.streams.addListener(live)
        query = bounded_join(clicks, views, …).writeStream.….start()
        query.awaitTermination()
        live.wait(query)
        print(live.totals(query)["bounded_join"]["results"])
    """

    def __init__(self, *outputs: Output) -> None:
        self._outputs = outputs
        self._failing: set[int] = set()
        self._ledgers: defaultdict[tuple[str, str], Ledger] = defaultdict(Ledger)
        self._ended: set[str] = set()
        # Spark may call from any thread, and outputs need not care for that.
        self._lock = Condition()

    def onQueryStarted(self, event: "QueryStartedEvent") -> None:  # noqa: N802 (Spark's name)
        """Nothing has happened yet."""

    def onQueryProgress(self, event: "QueryProgressEvent") -> None:  # noqa: N802
        """Hand on what was observed of our joins."""
        progress = event.progress
        with self._lock:
            for name, sums in progress.observedMetrics.items():
                if name.startswith(OBSERVATION):
                    join = name.removeprefix(OBSERVATION)
                    ledger = self._ledgers[str(progress.id), join]
                    self._emit(record_of(progress, join, sums.asDict(), ledger))

    def onQueryTerminated(self, event: "QueryTerminatedEvent") -> None:  # noqa: N802
        """Wake up those who wait for the end."""
        with self._lock:
            self._ended.add(str(event.runId))
            self._lock.notify_all()

    def wait(self, query: "StreamingQuery", timeout: float = 30.0) -> bool:
        """Wait until the last batch of a query has been handed on.

        Spark tells its listeners later than ``awaitTermination`` returns, the end of the query
        after everything else. The query, which has ended or is about to, must have started after
        this listener was added. The answer is False if the timeout, in seconds, was too short.
        """
        with self._lock:
            return self._lock.wait_for(lambda: str(query.runId) in self._ended, timeout)

    def totals(self, query: "StreamingQuery") -> dict[str, dict[str, int]]:
        """By join: the number of batches, the sum of every count, the peak of every level.

        They begin with this listener and go on when the query is restarted.
        """
        with self._lock:
            return {
                join: ledger.totals
                for (query_id, join), ledger in self._ledgers.items()
                if query_id == str(query.id)
            }

    def _emit(self, record: Record) -> None:
        for number, output in enumerate(self._outputs):
            try:
                output(record)
            except Exception as error:
                if number not in self._failing:
                    self._failing.add(number)
                    logger.warning(
                        "live numbers of batch %s are lost, and maybe those of later ones,"
                        " because %r failed: %s",
                        record["batch"], output, error,
                    )  # fmt: skip
