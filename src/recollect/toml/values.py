"""What may stand behind a key: each function takes a value or says why not."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from recollect.errors import InputError

Read: TypeAlias = Callable[[Any], Any]


def expected(what: str, value: Any) -> InputError:
    """Make the error for a value of another kind."""
    if isinstance(value, dict | list):
        return InputError(
            f"expected {what}, not a {'table' if isinstance(value, dict) else 'list'}"
        )
    return InputError(f"expected {what}, not {json.dumps(value, default=str)}")


def text(value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise expected("a text", value)
    return value


def texts(value: Any) -> tuple[str, ...]:
    """A list of texts, or one of them."""
    values = value if isinstance(value, list) else [value]
    if not values:
        raise InputError("expected a list of texts, not an empty one")
    return tuple(text(part) for part in values)


def flag(value: Any) -> bool:
    """A yes or no."""
    if not isinstance(value, bool):
        raise expected("true or false", value)
    return value


def whole(least: int, most: int | None = None) -> Read:
    """A whole number within bounds."""

    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise expected("a whole number", value)
        if value < least or (most is not None and value > most):
            bounds = f"{least} or more" if most is None else f"{least} to {most}"
            raise InputError(f"expected {bounds}, not {value}")
        return value

    return read


def one_of(*words: str) -> Read:
    """One of a few words."""

    def read(value: Any) -> str:
        if value not in words:
            raise expected(" or ".join(repr(word) for word in words), value)
        return str(value)

    return read
