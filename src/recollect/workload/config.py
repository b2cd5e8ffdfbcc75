"""A workload in a TOML file: what to run, streams from files or generators, and joins.

Every mistake is reported with its line and key, all at once.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa

from recollect.errors import InputError, MissingExtraError, RecollectError
from recollect.join.budget import parse_budget
from recollect.join.window import parse_window
from recollect.plugins import PAPERS, added
from recollect.policies import parse_policy
from recollect.toml.lines import Key
from recollect.toml.tables import Mistake, parse, read_table, read_text
from recollect.toml.values import expected, text, texts, whole
from recollect.workload.declaration import RATE, JoinOn, Stream, Workload
from recollect.workload.division import WORDS

DATA_FOLDER = "RECOLLECT_DATA"
"""The environment variable that names the folder of real data."""
UNITS = ("s", "ms", "us", "ns")


def _each(check: Any) -> Any:
    """Read one value or a list of them."""

    def read(value: Any) -> tuple[Any, ...]:
        values = value if isinstance(value, list) else [value]
        if not values:
            raise InputError("expected at least one")
        for each in values:
            check(each)
        return tuple(values)

    return read


def _budget(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise expected("a number of tuples or a text such as '10%' or '64MB'", value)
    parse_budget(value)


def _division(value: Any) -> None:
    if value not in WORDS and not isinstance(value, dict):
        raise expected(", ".join(WORDS) + " or a table of shares", value)


def _policy(value: Any) -> None:
    parse_policy(text(value))


def _window(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise expected("a number of time units or a text such as '10min'", value)
    parse_window(value)
    return value


def _warm_up(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise expected("a share such as '1/3', a number of time units or a duration", value)
    return value


def _valid(value: Any) -> tuple[str, ...]:
    columns = texts(value)
    if len(columns) != 2:
        raise InputError(f"expected the columns of start and end, not {len(columns)}")
    return columns


def _shed(value: Any) -> Any:
    if value == RATE or (isinstance(value, int | float) and 0 <= value < 1):
        return value
    raise expected(f"a probability below 1 or {RATE!r}", value)


def _names(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value.values()):
        raise expected("a table of names", value)
    return value


def _units(value: Any) -> dict[str, str]:
    for column, unit in _names(value).items():
        if unit not in UNITS:
            raise expected(f"{', '.join(UNITS)} as {column}", unit)
    return value


@dataclass(frozen=True)
class Settings:
    """What to run, in the words of :func:`recollect.workload.run`."""

    name: Annotated[str, text] = "workload"
    policies: Annotated[tuple[Any, ...], _each(_policy)] = ("clock",)
    budgets: Annotated[tuple[Any, ...], _each(_budget)] = ("10%",)
    divisions: Annotated[tuple[Any, ...], _each(_division)] = ("unified",)
    warm_up: Annotated[Any, _warm_up] = None
    seed: Annotated[int, whole(0)] = 0
    lateness: Annotated[Any, _window] = None


@dataclass(frozen=True)
class Generated:
    """A stream of the catalogue, perhaps with other names for its columns."""

    workload: Annotated[str, text, "name a workload of the catalogue, see docs/papers/package.md"]
    stream: Annotated[str, text, "name one of its streams"]
    tuples: Annotated[int | None, whole(0)] = None
    seed: Annotated[int, whole(0)] = 0
    columns: Annotated[dict[str, str], _names] = field(default_factory=dict)
    """New names by old ones."""
    times: Annotated[dict[str, str], _units] = field(default_factory=dict)
    """Columns (by their new names) to be read as time stamps, in such a unit."""

    def load(self) -> Any:
        """Make the stream."""
        load = added("catalogue").get("load")
        if load is None:
            raise MissingExtraError(f"the catalogue of generated streams comes with {PAPERS}")
        streams = load.load()(self.workload, tuples=self.tuples, seed=self.seed).streams
        if self.stream not in streams:
            raise InputError(
                f"workload {self.workload} has no stream {self.stream!r}, but {', '.join(streams)}"
            )
        made = streams[self.stream]
        if not self.columns and not self.times:
            return made
        table = made if isinstance(made, pa.Table) else made.table()
        for name in self.columns:
            if name not in table.column_names:
                raise InputError(
                    f"the stream has no column {name!r}, but {', '.join(table.column_names)}"
                )
        table = table.rename_columns([self.columns.get(name, name) for name in table.column_names])
        for name, unit in self.times.items():
            place = table.schema.get_field_index(name)
            if place < 0:
                raise InputError(f"no column is called {name!r} that could be a time stamp")
            stamps = table.column(name).cast(pa.timestamp(unit))
            table = table.set_column(place, name, stamps)
        return table


@dataclass(frozen=True)
class StreamTable:
    """Where a stream comes from, and how long its tuples match."""

    path: Annotated[str | None, text] = None
    generate: Generated | None = None
    time: Annotated[str | None, text] = None
    window: Annotated[Any, _window] = None
    valid: Annotated[tuple[str, str] | None, _valid] = None
    subject: Annotated[str | None, text] = None
    shed: Annotated[Any, _shed] = 0.0


@dataclass(frozen=True)
class JoinTable:
    """What is joined."""

    on: Annotated[str, text, "write it as in 'R.key = S.key'"]
    where: Annotated[str | None, text] = None


@dataclass(frozen=True)
class Configured:
    """A workload read from a file, and what to run."""

    workload: Workload
    settings: Settings
    generated: tuple[str, ...]
    """The streams that were generated, though there is a file for them."""


def read_workload(path: str | PathLike[str], data: str | PathLike[str] | None = None) -> Configured:
    """Read a workload.

    Parameters
    ----------
    path
        The TOML file.
    data
        Folder of the files that it names; the environment variable RECOLLECT_DATA if left out.
        Without either they lie beside the TOML file, and a stream that can be generated is.
    """
    folder = fspath(data) if data is not None else os.environ.get(DATA_FOLDER)
    return parse_workload(read_text(path), fspath(path), folder)


def parse_workload(toml: str, file: str, folder: str | None = None) -> Configured:
    """The same for a text that is already at hand; ``file`` is what messages call it."""
    document, places = parse(toml, file)
    mistakes: list[Mistake] = []
    known = ("run", "streams", "joins")
    mistakes += [
        ((name,), f"unknown; the sections are {', '.join(known)}")
        for name in document
        if name not in known
    ]
    settings = read_table(Settings, document.get("run", {}), ("run",), mistakes)
    tables = _tables(StreamTable, document, "streams", mistakes)
    joins = _tables(JoinTable, document, "joins", mistakes)
    streams, generated = {}, []
    for name, table in tables.items():
        key: Key = ("streams", name)
        stand_in = table.generate is not None and (table.path is None or folder is None)
        if stand_in and table.path is not None:
            generated.append(name)
        try:
            if stand_in:
                key = (*key, "generate")
                source = table.generate.load()
            elif table.path is None:
                mistakes.append((key, "needs a path, or a table generate"))
                continue
            else:
                key = (*key, "path")
                source = fspath(Path(folder or Path(file).parent, table.path))
                if not Path(source).exists():
                    raise InputError(f"{source} does not exist")
            key = ("streams", name)
            streams[name] = Stream(
                source, table.time, table.window, table.valid, table.subject, table.shed
            )
        except RecollectError as error:
            mistakes.append((key, str(error)))
    parsed = {}
    for name, table in joins.items():
        try:
            parsed[name] = JoinOn(table.on, table.where)
        except RecollectError as error:
            mistakes.append((("joins", name, "on"), str(error)))
    places.require_none(mistakes)
    try:
        workload = Workload(streams, parsed, lateness=settings.get("lateness"))
    except RecollectError as error:
        places.require_none([(("joins",), str(error))])
        raise
    return Configured(workload, Settings(**settings), tuple(generated))


def _tables(
    kind: type, document: Mapping[str, Any], section: str, mistakes: list[Mistake]
) -> dict[str, Any]:
    """The tables of a section, by name; those that are wrong are left out."""
    named = document.get(section)
    if not isinstance(named, dict) or not named:
        mistakes.append(((section,), f"missing; add a section [{section}.NAME]: {kind.__doc__}"))
        return {}
    tables = {}
    for name, table in named.items():
        found: list[Mistake] = []
        read = read_table(kind, table, (section, name), found)
        if found:
            mistakes += found
        else:
            tables[name] = kind(**read)
    return tables
