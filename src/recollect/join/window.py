"""How long a tuple may still match: time, count and landmark windows, and none at all.

===================  ==============================================================================
``1000``             alive while no more than 1000 units of the time column have passed
``"10s"``            the same for time stamps: ns, us, ms, s, min, h, d, also in combination
``"500rows"``        alive while it is among the last 500 arrivals of its stream
``"landmark:1h"``    alive until the next full hour (landmarks at multiples of the given span)
``"unlimited"``      alive for ever
===================  ==============================================================================
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.errors import InputError, WindowError

TIME, COUNT, LANDMARK, UNLIMITED = range(4)
"""Kinds of window."""
FOREVER = np.iinfo(np.int64).max

NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "min": 60 * 1_000_000_000,
    "h": 3_600 * 1_000_000_000,
    "d": 86_400 * 1_000_000_000,
}
_WORDS = {
    "second": "s", "seconds": "s", "sec": "s", "m": "min", "minute": "min", "minutes": "min",
    "hour": "h", "hours": "h", "day": "d", "days": "d", "millisecond": "ms", "milliseconds": "ms",
}  # fmt: skip
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")
LONGEST = 2**62


@dataclass(frozen=True)
class Duration:
    """A span of time, in nanoseconds."""

    nanoseconds: int


@dataclass(frozen=True)
class Window:
    """A window as the user gave it, before the type of the time column is known."""

    kind: int
    span: int | Duration
    text: str

    def __str__(self) -> str:
        """Return the text it was made from."""
        return self.text


def parse_duration(text: str) -> Duration | None:
    """Read ``"1h 30min"``; None if it is not a duration.

    >>> parse_duration("1.5s")
    Duration(nanoseconds=1500000000)
    """
    total, position = 0.0, 0
    while position < len(text):
        part = _PART.match(text, position)
        unit = part and _WORDS.get(part[2], part[2])
        if part is None or unit not in NANOSECONDS:
            return None
        total += float(part[1]) * NANOSECONDS[unit]
        position = part.end()
    return Duration(round(total)) if position else None


def parse_window(window: Any) -> Window:
    """Make a window from what a user types.

    >>> parse_window("500rows").kind == COUNT
    True
    """
    if isinstance(window, Window):
        return window
    if window is None:
        window = "unlimited"
    if isinstance(window, timedelta):
        window = f"{window // timedelta(microseconds=1)}us"
    text = str(window).strip()
    if text == "unlimited":
        return Window(UNLIMITED, 0, text)
    kind, body = TIME, text
    if text.startswith("landmark:"):
        kind, body = LANDMARK, text.removeprefix("landmark:").strip()
    elif rows := re.fullmatch(r"(-?\d+)\s*rows?", text):
        kind, body = COUNT, rows[1]
    span = _span(body, text)
    length = span.nanoseconds if isinstance(span, Duration) else span
    least = 0 if kind == TIME else 1
    if not least <= length <= LONGEST:
        raise WindowError(f"window {text}: its length must be {least} or more (and below 2^62)")
    return Window(kind, span, text)


def _span(body: str, text: str) -> int | Duration:
    if re.fullmatch(r"-?\d+", body):
        return int(body)
    duration = parse_duration(body.removeprefix("-"))
    if duration is None:
        raise WindowError(
            f"window {text!r} is not understood; give a number of time units, a duration such as"
            " 10s, 500rows, landmark:1h or unlimited"
        )
    return Duration(-duration.nanoseconds) if body.startswith("-") else duration


def time_unit(kind: pa.DataType, column: str) -> int | None:
    """The nanoseconds of one unit of a time column; None for plain whole numbers.

    >>> time_unit(pa.timestamp("ms"), "ts")
    1000000
    """
    if pa.types.is_integer(kind):
        return None
    if pa.types.is_date32(kind):
        return NANOSECONDS["d"]
    if pa.types.is_date64(kind):
        return NANOSECONDS["ms"]
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        return NANOSECONDS[kind.unit]
    raise InputError(
        f"time column {column!r} is of type {kind};"
        " it must be a whole number, a time stamp or a date"
    )


def resolve(window: Window, unit: int | None) -> int:
    """Turn the length of a window into units of the time column."""
    if not isinstance(window.span, Duration):
        return window.span
    if unit is None:
        raise WindowError(
            f"window {window} is a duration, but the time column holds plain numbers;"
            " give the window as a number of its units"
        )
    units, rest = divmod(window.span.nanoseconds, unit)
    if window.kind == LANDMARK and rest:
        raise WindowError(f"window {window} is not a whole number of units of the time column")
    return units


def lifetimes(
    kind: int, span: int, times: np.ndarray, before: int
) -> tuple[np.ndarray, np.ndarray]:
    """What the clock of a stream shows at each tuple, and the last moment at which it may match.

    Parameters
    ----------
    kind, span
        The window.
    times
        The times of the tuples.
    before
        How many tuples of the stream came before.

    >>> lifetimes(COUNT, 2, np.array([50, 70]), before=10)
    (array([11, 12]), array([12, 13]))
    """
    if kind == COUNT:
        moments = np.arange(before + 1, before + 1 + len(times))
        return moments, moments + (span - 1)
    if kind == UNLIMITED:
        return times, np.full(len(times), FOREVER)
    if kind == LANDMARK:
        with np.errstate(over="ignore"):
            ends = (times // span + 1) * span - 1
        return times, np.where(times > FOREVER - span, FOREVER, ends)
    if len(times) and times.max() > FOREVER - span:
        return times, np.where(times > FOREVER - span, FOREVER, times + span)
    return times, times + span
