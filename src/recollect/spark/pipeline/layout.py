"""Where everything of a pipeline lies."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.errors import InputError
from recollect.spark.pipeline.config import Config
from recollect.spark.pipeline.sections import FILE_FORMATS


@dataclass(frozen=True)
class Layout:
    """The folder of a pipeline.

    What people read is in ``out``: ``ingest.json``, ``profile.json``, ``join.json`` and
    ``quality.json`` (the numbers of a stage that is complete), ``live.jsonl``, ``report.html``.
    What Spark reads and writes is in ``data``: ``ingested/left``, ``ingested/right``, ``results``,
    ``checkpoints/…``, ``quality/…``.
    """

    out: Path
    data: str
    results: str | None
    live: Path
    report: Path

    @classmethod
    def of(cls, config: Config) -> "Layout":
        """Find out where a configuration wants things."""
        out = Path(config.pipeline.out).absolute()
        # As a URI, because a cluster may take plain paths for those of its own file system.
        data = config.pipeline.data or out.as_uri()
        results = config.sink.path
        if results is None and config.sink.format in FILE_FORMATS:
            results = f"{data}/results"
        return cls(
            out=out,
            data=data,
            results=results,
            live=Path(config.live.json_lines or out / "live.jsonl"),
            report=Path(config.report.html or out / "report.html"),
        )

    @property
    def ingest_counts(self) -> Path:
        """What ingesting read and removed, batch by batch."""
        return self.out / "ingest.jsonl"

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

    def make(self) -> None:
        """Make the folder."""
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder {self.out}: {error.strerror}") from None


def write_json(value: Any, path: Path) -> None:
    """Write a file that is there as a whole or not at all."""
    half = path.with_name(path.name + ".half")
    half.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    os.replace(half, path)


def read_json(path: Path) -> Any:
    """Read what :func:`write_json` wrote."""
    return json.loads(path.read_text(encoding="utf-8"))
