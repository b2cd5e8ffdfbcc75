"""A run of a pipeline: its configuration, its folder, the session and who watches."""

import json
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from recollect.errors import InputError
from recollect.spark.pipeline.config import FILE_FORMATS, Config

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from recollect.spark.live import Record


class Watch(Protocol):
    """Is informed of what a run is doing."""

    def begin(self, stage: str) -> None:
        """Take note that a stage begins."""

    def news(self, stage: str, text: str) -> None:
        """Take note of how far a stage has come."""

    def batch(self, record: "Record") -> None:
        """Take note of what the join did in a micro-batch."""

    def end(self, stage: str, numbers: dict[str, Any]) -> None:
        """Take note that a stage is complete."""


class NoWatch:
    """Takes no note of anything."""

    def begin(self, *_: Any) -> None:
        """Do nothing."""

    news = batch = end = begin


class Run:
    """A configuration on its way through the stages, and its folder, which is made.

    What people read is in ``out``: ``<stage>.json`` (the numbers of a stage that is complete),
    ``live.jsonl``, ``report.html``. What Spark reads and writes is in ``data``: ``ingested/left``,
    ``ingested/right``, ``results``, ``checkpoints/…``, ``quality/…``.
    """

    def __init__(
        self, config: Config, start: "Callable[[], SparkSession]", watch: Watch | None
    ) -> None:
        self.config, self.watch, self._start = config, watch or NoWatch(), start
        self.queries: list[StreamingQuery] = []
        self.out = Path(config.pipeline.out).absolute()
        # As a URI, because a cluster may take plain paths for those of its own file system.
        self.data = config.pipeline.data or self.out.as_uri()
        self.results = config.sink.path
        if self.results is None and config.sink.format in FILE_FORMATS:
            self.results = f"{self.data}/results"
        self.live = Path(config.live.json_lines or self.out / "live.jsonl")
        self.report = Path(config.report.html or self.out / "report.html")
        self.ingest_counts = self.out / "ingest.jsonl"
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder {self.out}: {error.strerror}") from None

    @cached_property
    def spark(self) -> "SparkSession":
        """The session, which begins when the first stage needs it."""
        return self._start()

    def ingested(self, side: str) -> str:
        """The cleaned rows of a side."""
        return f"{self.data}/ingested/{side}"

    def checkpoint(self, query: str) -> str:
        """How far a query has come."""
        return f"{self.data}/checkpoints/{query}"

    def schema(self, side: str) -> Path:
        """The columns of the cleaned rows of a side."""
        return self.out / f"schema-{side}.json"

    def record(self, stage: str) -> Path:
        """The numbers of a stage that is complete."""
        return self.out / f"{stage}.json"


def write_json(value: Any, path: Path) -> None:
    """Write a file that is there as a whole or not at all."""
    half = path.with_name(path.name + ".half")
    half.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    os.replace(half, path)


def read_json(path: Path) -> Any:
    """Read what :func:`write_json` wrote; None if it is not there."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
