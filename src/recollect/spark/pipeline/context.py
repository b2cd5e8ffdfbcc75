"""What the stages of a run share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from recollect.spark.pipeline.config import Config
from recollect.spark.pipeline.layout import Layout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from recollect.spark.live import Record


class Watch(Protocol):
    """Is told what a run is doing."""

    def begin(self, stage: str) -> None:
        """Take note that a stage begins."""

    def news(self, stage: str, text: str) -> None:
        """Take note of how far a stage has come."""

    def batch(self, record: "Record") -> None:
        """Take note of what the join did in a micro-batch."""

    def end(self, stage: str, numbers: dict[str, Any]) -> None:
        """Take note that a stage is complete."""


class NoWatch:
    """Does not care."""

    def begin(self, *_: Any) -> None:
        """Do nothing."""

    news = batch = end = begin


@dataclass
class Run:
    """A configuration on its way through the stages.

    Parameters
    ----------
    config
        What is to be done.
    start
        Makes the session; called when the first stage needs it.
    watch
        Told about progress.
    """

    config: Config
    start: "Callable[[], SparkSession]"
    watch: Watch = field(default_factory=NoWatch)
    queries: "list[StreamingQuery]" = field(default_factory=list)
    """All that were started."""

    @cached_property
    def layout(self) -> Layout:
        """Where everything lies."""
        return Layout.of(self.config)

    @cached_property
    def spark(self) -> "SparkSession":
        """The session."""
        return self.start()

    def stop_queries(self) -> None:
        """Leave nothing running, whatever happened."""
        for query in self.queries:
            query.stop()
