"""On which line of a TOML file each key is written.

``tomllib`` does not tell, and neither does any well-kept parser; but a TOML file is a sequence of
statements that each begin on a line of their own, and ``tomllib`` knows when one is complete.
"""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

Key = tuple[str, ...]


def key_lines(text: str) -> dict[Key, int]:
    """The line of every table and key of a valid TOML document, counted from 1.

    A key inside a value that goes over several lines is found on the first of them.

    >>> key_lines('''
    ... [left]
    ... format = "csv"
    ... options = { header = true }
    ... ''')
    {('left',): 2, ('left', 'format'): 3, ('left', 'options'): 4, ('left', 'options', 'header'): 4}
    """
    found: dict[Key, int] = {}
    table: Key = ()
    statement, start = "", 1
    for number, line in enumerate(text.split("\n"), start=1):
        if not statement:
            start = number
        statement += line + "\n"
        try:
            parsed = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue  # goes on on the next line
        keys = list(_keys(parsed))
        is_header = statement.lstrip().startswith("[")
        outer = () if is_header else table
        for key in keys:
            found.setdefault(outer + key, start)
        if is_header:
            table = keys[-1]
        statement = ""
    return found


def error_line(error: tomllib.TOMLDecodeError, text: str) -> tuple[int, str]:
    """The line of a mistake in the syntax, and what it is.

    >>> try:
    ...     tomllib.loads("a = 1\\nb = x\\n")
    ... except tomllib.TOMLDecodeError as error:
    ...     error_line(error, "")
    (2, 'Invalid value (column 5)')
    """
    message = str(error)
    if place := re.search(r" \(at line (\d+), column (\d+)\)$", message):
        return int(place[1]), f"{message[: place.start()]} (column {place[2]})"
    return text.rstrip().count("\n") + 1, message


def _keys(value: Any, outer: Key = ()) -> Iterator[Key]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*outer, name)
            yield from _keys(inner, (*outer, name))
