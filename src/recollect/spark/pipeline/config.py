"""Read and check a pipeline's configuration; all mistakes are found at once, with their lines."""

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from recollect.errors import InputError, RecollectError
from recollect.join.query import SIDES
from recollect.spark.pipeline import sections
from recollect.spark.pipeline.sections import FILE_FORMATS
from recollect.spark.pipeline.toml_lines import Key, error_line, key_lines
from recollect.spark.replay_options import Replay

REPLAY = "recollect"
"""The format of our own, which plays files and generated streams."""
ENDLESS_FORMATS = ("rate", "rate-micro-batch", "socket")
"""Sources that have nothing when they are asked for what is there now."""

Mistake = tuple[Key, str]


class ConfigError(InputError):
    """A configuration has mistakes; ``mistakes`` holds a line of text for each."""

    def __init__(self, mistakes: Iterable[str]) -> None:
        self.mistakes = list(mistakes)
        super().__init__("\n".join(self.mistakes))


class Places(NamedTuple):
    """Where the keys of a configuration are written."""

    file: str
    lines: dict[Key, int]

    def line(self, key: Key) -> int:
        """The line of a key, or of the table that lacks it."""
        while key and key not in self.lines:
            key = key[:-1]
        return self.lines.get(key, 1)

    def describe(self, key: Key, message: str) -> str:
        """Put file, line and key in front of a message.

        >>> Places("p.toml", {("join",): 7}).describe(("join", "time"), "missing")
        'p.toml:7: join.time: missing'
        """
        return f"{self.file}:{self.line(key)}: {'.'.join(key)}: {message}"


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
    file = fspath(path)
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {getattr(error, 'strerror', error)}") from None
    return parse_config(text, file)


def parse_config(text: str, file: str) -> Config:
    """The same for a text that is already at hand; ``file`` is what messages call it."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, message = error_line(error, text)
        raise ConfigError([f"{file}:{line}: {message}"]) from None
    mistakes: list[Mistake] = []
    read = _read_table(Config, document, (), mistakes)
    mistakes += _contradictions(read)
    places = Places(file, key_lines(text))
    if mistakes:
        mistakes.sort(key=lambda mistake: places.line(mistake[0]))
        raise ConfigError(places.describe(*mistake) for mistake in mistakes)
    return Config(places=places, **read)


def _read_table(kind: type, table: Any, key: Key, mistakes: list[Mistake]) -> dict[str, Any]:
    """Return what a section holds, defaults included; what is wrong is left out."""
    if not isinstance(table, dict):
        mistakes.append((key, f"expected the section [{'.'.join(key)}], not {table!r}"))
        return {}
    hints = get_type_hints(kind, include_extras=True)
    entries = [entry for entry in fields(kind) if hints[entry.name] is not Places]
    known = [entry.name for entry in entries]
    mistakes += [((*key, name), _unknown(name, known, key)) for name in table if name not in known]
    read = {}
    for entry in entries:
        inner = (*key, entry.name)
        if entry.name in table:
            found: list[Mistake] = []
            value = _read_value(hints[entry.name], table[entry.name], inner, found)
            mistakes += found
            if not found:
                read[entry.name] = value
        elif entry.default_factory is not MISSING:
            read[entry.name] = entry.default_factory()
        elif entry.default is not MISSING:
            read[entry.name] = entry.default
        else:
            mistakes.append((inner, f"missing; {_wanted(hints[entry.name], entry.name)}"))
    return read


def _read_value(hint: Any, value: Any, key: Key, mistakes: list[Mistake]) -> Any:
    if kind := _section_of(hint):
        read = _read_table(kind, value, key, mistakes)
        return None if mistakes else kind(**read)
    try:
        return hint.__metadata__[0](value)
    except RecollectError as error:
        mistakes.append((key, str(error)))
        return None


def _section_of(hint: Any) -> type | None:
    """Return the class of a section, be it optional, and None for a key with a value."""
    return None if get_origin(hint) is Annotated else (*get_args(hint), hint)[0]


def _wanted(hint: Any, name: str) -> str:
    kind = _section_of(hint)
    return f"add a section [{name}]: {kind.__doc__}" if kind else str(hint.__metadata__[1])


def _unknown(name: str, known: list[str], key: Key) -> str:
    close = get_close_matches(name, known, 1)
    if close:
        return f"unknown; did you mean {close[0]}?"
    place = f"[{'.'.join(key)}] has" if key else "the sections are"
    return f"unknown; {place} {', '.join(known)}"


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
