"""The sections of a pipeline's configuration: what may be set, and what holds if it is not.

Each key is annotated with the function that reads its value and, if it must be there, with what to
do when it is missing.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any

from recollect.join.query import SIDES, key_columns, pair_of
from recollect.join.window import Duration
from recollect.spark.pipeline import values

FILE_FORMATS = ("parquet", "orc", "csv", "json", "text", "xml", "avro")
"""The formats of Spark that are nothing but files in a folder."""


@dataclass(frozen=True)
class Pipeline:
    """What the pipeline is called and where everything goes."""

    name: Annotated[str, values.text, "give the pipeline a name"]
    out: Annotated[str, values.text, "name the folder for everything the pipeline writes"]
    data: Annotated[str | None, values.text] = None


@dataclass(frozen=True)
class Spark:
    """How Spark is started."""

    master: Annotated[str | None, values.text] = None
    config: Annotated[dict[str, str], values.spark_settings] = field(default_factory=dict)


@dataclass(frozen=True)
class Duplicates:
    """Which rows are the same, and for how long that is remembered."""

    id: Annotated[tuple[str, ...], values.texts, "name the columns that identify a row"]
    within: Annotated[Duration, values.duration, "say how far apart the same row may come twice"]


@dataclass(frozen=True)
class Source:
    """Where one side of the join comes from, and how its rows are cleaned."""

    format: Annotated[str, values.text, "give a format of Spark such as csv or kafka, or recollect"]
    path: Annotated[str | None, values.text] = None
    schema: Annotated[str | None, values.text] = None
    options: Annotated[dict[str, str], values.options] = field(default_factory=dict)
    columns: Annotated[dict[str, str], values.expressions] = field(default_factory=dict)
    select: Annotated[tuple[str, ...] | None, values.texts] = None
    null_keys: Annotated[str, values.one_of("drop", "error", "keep")] = "drop"
    duplicates: Duplicates | None = None


@dataclass(frozen=True)
class Join:
    """What is joined, in the words of :func:`recollect.spark.bounded_join`."""

    on: Annotated[str | list[str], values.keys, "name the key columns"]
    time: Annotated[str, values.time, "name the time column"]
    window: Annotated[Any, values.window, "say how long a row may match, such as '10 minutes'"]
    budget: Annotated[Any, values.budget] = None
    policy: Annotated[str, values.policy] = "clock"
    shards: Annotated[int | None, values.whole(least=1)] = None
    lateness: Annotated[Any, values.span] = None
    seed: Annotated[int, values.whole(least=0)] = 0

    def keys_of(self, side: str) -> tuple[str, ...]:
        """Return the key columns of a side."""
        return key_columns(self.on)[SIDES.index(side)]

    def time_of(self, side: str) -> str:
        """Return the time column of a side."""
        return str(pair_of(self.time)[SIDES.index(side)])


@dataclass(frozen=True)
class Sink:
    """Where results go, and when a micro-batch begins."""

    format: Annotated[str, values.text] = "parquet"
    path: Annotated[str | None, values.text] = None
    options: Annotated[dict[str, str], values.options] = field(default_factory=dict)
    columns: Annotated[dict[str, str], values.expressions] = field(default_factory=dict)
    select: Annotated[tuple[str, ...] | None, values.texts] = None
    trigger: Annotated[Duration | None, values.trigger] = None
    duration: Annotated[Duration | None, values.duration] = None

    @property
    def can_be_read(self) -> bool:
        """Whether what was written can be read again."""
        return self.path is not None or self.format in FILE_FORMATS


@dataclass(frozen=True)
class Profile:
    """Whether the sources are profiled, and how far back the locality model looks."""

    run: Annotated[bool, values.flag] = True
    h: Annotated[int, values.whole(least=1, most=10_000)] = 50


@dataclass(frozen=True)
class Compare:
    """Which policies and budgets are tried on the same rows."""

    policies: Annotated[tuple[str, ...], values.policies] = ("prob", "clock", "lru", "fifo")
    budgets: Annotated[tuple[int | str, ...], values.budgets] = ("5%", "10%", "20%", "40%")


@dataclass(frozen=True)
class Quality:
    """Whether and how results are compared with the exact join."""

    run: Annotated[bool, values.flag] = True
    slice: Annotated[Any, values.span] = "1 minute"


@dataclass(frozen=True)
class Report:
    """Where the report goes."""

    html: Annotated[str | None, values.text] = None


@dataclass(frozen=True)
class Live:
    """Where the numbers of each micro-batch go while the join runs."""

    json_lines: Annotated[str | None, values.text] = None
    prometheus_port: Annotated[int | None, values.whole(least=1, most=65_535)] = None
