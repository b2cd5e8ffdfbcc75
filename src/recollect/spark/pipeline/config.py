"""Read and check a pipeline's configuration; all mistakes are found at once, with their lines."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

from recollect.errors import RecollectError
from recollect.join.query import SIDES
from recollect.spark.pipeline import sections
from recollect.spark.pipeline.sections import FILE_FORMATS
from recollect.spark.replay_options import Replay
from recollect.toml.tables import ConfigError, Mistake, Places, parse, read_table, read_text

REPLAY = "recollect"
"""The format of our own, which plays files and generated streams."""
ENDLESS_FORMATS = ("rate", "rate-micro-batch", "socket")
"""Sources that have nothing when they are asked for what is there now."""


@dataclass(frozen=True)
class Config:
    """A configuration without mistakes."""

    places: Places
    pipeline: sections.Pipeline
    left: sections.Source
    right: sections.Source
    join: sections.Join
    sink: sections.Sink = field(default_factory=sections.Sink)
    profile: sections.Profile = field(default_factory=sections.Profile)
    compare: sections.Compare | None = None
    quality: sections.Quality = field(default_factory=sections.Quality)
    report: sections.Report = field(default_factory=sections.Report)
    live: sections.Live = field(default_factory=sections.Live)
    spark: sections.Spark = field(default_factory=sections.Spark)

    def source(self, side: str) -> sections.Source:
        """The source of a side."""
        return {"left": self.left, "right": self.right}[side]

    def mistake(self, *key: str, message: str) -> ConfigError:
        """Make the error for a mistake that came to light only later."""
        return ConfigError([self.places.describe(key, message)])


def read_config(path: str | PathLike[str]) -> Config:
    """Read a pipeline's configuration.

    Raises
    ------
    ConfigError
        With all mistakes in it, each with its line and key.
    """
    return parse_config(read_text(path), fspath(path))


def parse_config(text: str, file: str) -> Config:
    """The same for a text that is already at hand; ``file`` is what messages call it."""
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
            given = {} if source.path is None else {"path": source.path}
            try:
                Replay.parse({**source.options, **given})
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
