"""Read the tables of a TOML file into dataclasses, and find all mistakes at once, with their lines.

Each field of a dataclass is annotated with the function that reads its value and, if it must be
there, with what to do when it is missing; or it is such a dataclass itself.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import MISSING, fields
from difflib import get_close_matches
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from recollect.errors import InputError, RecollectError
from recollect.toml.lines import Key, error_line, key_lines

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

    def require_none(self, mistakes: list[Mistake]) -> None:
        """Raise an error with all mistakes, in the order of their lines, if there are any."""
        if mistakes:
            ordered = sorted(mistakes, key=lambda mistake: self.line(mistake[0]))
            raise ConfigError(self.describe(*mistake) for mistake in ordered)

    def describe(self, key: Key, message: str) -> str:
        """Put file, line and key in front of a message.

        >>> Places("p.toml", {("join",): 7}).describe(("join", "time"), "missing")
        'p.toml:7: join.time: missing'
        """
        return f"{self.file}:{self.line(key)}: {'.'.join(key)}: {message}"


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file."""
    file = fspath(path)
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {getattr(error, 'strerror', error)}") from None


def parse(text: str, file: str) -> tuple[dict[str, Any], Places]:
    """Read TOML; ``file`` is what messages call it."""
    try:
        return tomllib.loads(text), Places(file, key_lines(text))
    except tomllib.TOMLDecodeError as error:
        line, message = error_line(error, text)
        raise ConfigError([f"{file}:{line}: {message}"]) from None


def read_table(kind: type, table: Any, key: Key, mistakes: list[Mistake]) -> dict[str, Any]:
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
        read = read_table(kind, value, key, mistakes)
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
