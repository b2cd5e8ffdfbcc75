"""A pipeline's configuration: what may be set, what holds if it is not, and what contradicts.

Each key is annotated with the function that reads its value and, if it must be there, with what to
do when it is missing. All mistakes are found at once, with their lines.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Annotated, Any, TypeAlias

from recollect.errors import RecollectError
from recollect.join.query import SIDES, key_columns, pair_of
from recollect.join.window import Duration
from recollect.spark.pipeline import values
from recollect.spark.replay_options import Replay
from recollect.toml.tables import ConfigError, Mistake, Places, parse, read_table, read_text

FILE_FORMATS = ("parquet", "orc", "csv", "json", "text", "xml", "avro")
"""The formats of Spark that are nothing but files in a folder."""
REPLAY = "recollect"
"""Our own format, which replays files and generated streams."""
ENDLESS_FORMATS = ("rate", "rate-micro-batch", "socket")
"""Sources that have nothing when they are asked for what is there now."""

Text: TypeAlias = Annotated[str | None, values.text]
Texts: TypeAlias = Annotated[tuple[str, ...] | None, values.texts]
Options: TypeAlias = Annotated[dict[str, str], values.options]
Expressions: TypeAlias = Annotated[dict[str, str], values.expressions]
Flag: TypeAlias = Annotated[bool, values.flag]


@dataclass(frozen=True)
class Pipeline:
    """What the pipeline is called and where everything goes."""

    name: Annotated[str, values.text, "give the pipeline a name"]
    out: Annotated[str, values.text, "name the folder for everything the pipeline writes"]
    data: Text = None


@dataclass(frozen=True)
class Spark:
    """How Spark is started."""

    master: Text = None
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
    path: Text = None
    schema: Text = None
    options: Options = field(default_factory=dict)
    columns: Expressions = field(default_factory=dict)
    select: Texts = None
    null_keys: Annotated[str, values.one_of("drop", "error", "keep")] = "drop"
    duplicates: Duplicates | None = None


@dataclass(frozen=True)
class Join:
    """What is joined: the parameters of :func:`recollect.spark.bounded_join`."""

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
    path: Text = None
    options: Options = field(default_factory=dict)
    columns: Expressions = field(default_factory=dict)
    select: Texts = None
    trigger: Annotated[Duration | None, values.trigger] = None
    duration: Annotated[Duration | None, values.duration] = None

    @property
    def can_be_read(self) -> bool:
        """Whether what was written can be read again."""
        return self.path is not None or self.format in FILE_FORMATS


@dataclass(frozen=True)
class Profile:
    """Whether the sources are profiled, and how far back the locality model looks."""

    run: Flag = True
    h: Annotated[int, values.whole(least=1, most=10_000)] = 50


@dataclass(frozen=True)
class Compare:
    """Which policies and budgets are tried on the same rows."""

    policies: Annotated[tuple[str, ...], values.policies] = ("prob", "clock", "lru", "fifo")
    budgets: Annotated[tuple[int | str, ...], values.budgets] = ("5%", "10%", "20%", "40%")


@dataclass(frozen=True)
class Quality:
    """Whether and how results are compared with the exact join."""

    run: Flag = True
    slice: Annotated[Any, values.span] = "1 minute"


@dataclass(frozen=True)
class Report:
    """Where the report goes."""

    html: Text = None


@dataclass(frozen=True)
class Live:
    """Where the numbers of each micro-batch go while the join runs."""

    json_lines: Text = None
    prometheus_port: Annotated[int | None, values.whole(least=1, most=65_535)] = None


@dataclass(frozen=True)
class Config:
    """A configuration without mistakes."""

    places: Places
    pipeline: Pipeline
    left: Source
    right: Source
    join: Join
    sink: Sink = field(default_factory=Sink)
    profile: Profile = field(default_factory=Profile)
    compare: Compare | None = None
    quality: Quality = field(default_factory=Quality)
    report: Report = field(default_factory=Report)
    live: Live = field(default_factory=Live)
    spark: Spark = field(default_factory=Spark)

    def source(self, side: str) -> Source:
        """The source of a side."""
        return self.left if side == SIDES[0] else self.right

    def mistake(self, *key: str, message: str) -> ConfigError:
        """Make the error for a mistake that was found only later."""
        return ConfigError([self.places.describe(key, message)])


def read_config(path: str | PathLike[str]) -> Config:
    """Read a pipeline's configuration; a ConfigError has all mistakes, each with line and key."""
    return parse_config(read_text(path), fspath(path))


def parse_config(text: str, file: str) -> Config:
    """Do the same for a text that is already at hand; ``file`` is what messages call it."""
    document, places = parse(text, file)
    mistakes: list[Mistake] = []
    read = read_table(Config, document, (), mistakes)
    mistakes += _contradictions(read)
    places.require_none(mistakes)
    return Config(places=places, **read)


def _contradictions(read: dict[str, Any]) -> Iterator[Mistake]:
    """What is wrong only together; sections that are wrong by themselves are not there."""
    join, sink, quality = read.get("join"), read.get("sink"), read.get("quality")
    for side in SIDES:
        source = read.get(side)
        if source is None:
            continue
        if source.format in FILE_FORMATS and source.path is None:
            yield (side, "path"), f"missing; say where the {source.format} files are"
        if source.format == REPLAY:
            try:
                Replay.parse(source.options | ({"path": source.path} if source.path else {}))
            except RecollectError as error:
                yield (side, "options"), str(error)
        if source.format in ENDLESS_FORMATS and sink is not None and sink.trigger is None:
            yield (
                (side, "format"),
                f"{source.format!r} has no end; set sink.trigger to a time such as '5 seconds'",
            )
        if join is not None and source.select is not None:
            for column in (*join.keys_of(side), join.time_of(side)):
                if column not in source.select:
                    yield (side, "select"), f"leaves out {column!r}, which the join needs"
    if sink is not None and sink.trigger is None and sink.duration is not None:
        yield ("sink", "duration"), "an available-now run ends by itself; set sink.trigger, too"
    if sink is not None and quality is not None and quality.run and not sink.can_be_read:
        yield (
            ("sink", "format"),
            f"what went to {sink.format!r} cannot be read again and compared with the exact join;"
            " set quality.run = false",
        )
