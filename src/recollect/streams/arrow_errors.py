"""Arrow's errors in the words of this library: one line, naming the file, always InputError."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from recollect.errors import InputError

LONGEST_REASON = 200


@contextmanager
def plain_errors(name: str, action: str) -> Iterator[None]:
    """Turn what Arrow or the operating system raises inside the block into an InputError.

    Examples
    --------
    >>> with plain_errors("prices.csv", "read as CSV"):
    ...     raise pa.ArrowInvalid("expected 2 columns, got 1")
    Traceback (most recent call last):
    recollect.errors.InputError: prices.csv cannot be read as CSV: expected 2 columns, got 1
    """
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise InputError(f"{name} cannot be {action}: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    # Arrow quotes the offending cells: a damaged file may bring any byte into the message.
    text = getattr(error, "strerror", None) or str(error)
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return line if len(line) <= LONGEST_REASON else line[:LONGEST_REASON] + "…"
