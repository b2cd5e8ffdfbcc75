"""Records as metrics that a Prometheus server fetches."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.errors import InputError, MissingExtraError
from recollect.spark.live.numbers import Record

if TYPE_CHECKING:
    from prometheus_client import Metric

LABELS = ("query", "join")
COUNTERS = {
    "recollect_batches": ("batches", 1, "Batches that ran."),
    "recollect_rows_in": ("rows_in", 1, "Rows that arrived."),
    "recollect_results": ("results", 1, "Results found."),
    "recollect_evicted": ("evicted", 1, "Tuples forgotten in favour of others."),
    "recollect_refused": ("refused", 1, "Tuples not remembered because others were preferred."),
    "recollect_expired": ("expired", 1, "Tuples whose window had passed."),
    "recollect_late": ("late", 1, "Rows older than the watermark, which are not joined."),
    "recollect_null_keys": ("null_keys", 1, "Rows whose key is NULL, which match nothing."),
    "recollect_state_written_bytes": ("state_bytes", 1, "Bytes written to the state store."),
    "recollect_rebuilt_shards": ("rebuilt", 1, "Shards read back from the state store."),
    "recollect_engine_seconds": ("engine_micros", 1e-6, "Time spent on joining."),
    "recollect_overhead_seconds": ("overhead_micros", 1e-6, "Time spent on packing and state."),
}
"""By name of the metric: the total it shows, its unit and what it is."""
GAUGES = {
    "recollect_buffered_tuples": ("buffered", 1, "Tuples in memory."),
    "recollect_buffered_bytes": ("buffered_bytes", 1, "Memory that the join takes."),
    "recollect_store_rows": ("store_rows", 1, "Rows in the state stores of the query."),
    "recollect_store_bytes": ("store_bytes", 1, "Memory of the state stores of the query."),
    "recollect_rows_per_second": ("rows_per_second", 1, "Speed of the last batch."),
    "recollect_batch_duration_seconds": ("duration_ms", 1e-3, "Time the last batch took."),
    "recollect_batch": ("batch", 1, "Number of the last batch."),
    "recollect_watermark_seconds": ("watermark", 1, "Watermark, in seconds since 1970."),
}


class Prometheus(AbstractContextManager["Prometheus"]):
    """Serves the newest numbers of every join at ``http://address:port/metrics``.

    Parameters
    ----------
    port
        Where to listen; 0 for any port that is free, see :attr:`port`.
    address
        Who may ask: by default only this machine, ``"0.0.0.0"`` for everybody.

    Examples
    --------
    >>> with Prometheus(0) as endpoint:
    ...     endpoint.port > 0
    True
    """

    def __init__(self, port: int, address: str = "127.0.0.1") -> None:
        try:
            from prometheus_client import CollectorRegistry, start_http_server
        except ImportError:
            raise MissingExtraError(
                "metrics for Prometheus need prometheus-client, which is not installed:"
                " pip install 'recollect[spark]'"
            ) from None
        self._newest: dict[tuple[str, str], Record] = {}
        registry = CollectorRegistry()
        registry.register(self)  # type: ignore[arg-type]
        try:
            self._server, self._thread = start_http_server(port, address, registry)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"metrics cannot be served at {address}:{port}: {error}; port 0 takes a free one"
            ) from error
        self.port: int = self._server.server_port
        self.address = address

    def __repr__(self) -> str:
        """Name the endpoint."""
        return f"Prometheus({self.port}, {self.address!r})"

    def __call__(self, record: Record) -> None:
        """Show this record from now on."""
        labels = (record["query"] or record["query_id"], record["join"])
        # A new dictionary, because a request may be walking through the old one.
        self._newest = {**self._newest, labels: record}

    def __exit__(self, *_: Any) -> None:
        """Stop serving, and free the port."""
        self.close()

    def close(self) -> None:
        """Stop serving, and free the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def collect(self) -> "Iterator[Metric]":
        """Yield the metrics; called for every request."""
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

        newest = self._newest
        for name, (field, unit, meaning) in COUNTERS.items():
            counter = CounterMetricFamily(name, meaning, labels=LABELS)
            for labels, record in newest.items():
                counter.add_metric(labels, record["totals"][field] * unit)
            yield counter
        for name, (field, unit, meaning) in GAUGES.items():
            gauge = GaugeMetricFamily(name, meaning, labels=LABELS)
            for labels, record in newest.items():
                value = record[field]
                if isinstance(value, str):
                    value = datetime.fromisoformat(value).timestamp()
                if value is not None:
                    gauge.add_metric(labels, value * unit)
            yield gauge
