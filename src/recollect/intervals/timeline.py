"""The line on which intervals lie: whole numbers, dates or time stamps, all as 64-bit numbers.

An interval may have no end; its end is NULL outside and :data:`FOREVER` inside.

>>> line = Timeline.of(pa.timestamp("s"), pa.timestamp("ms"))
>>> line.kind
TimestampType(timestamp[ms])
>>> line.moment("1970-01-01 00:00:02")
2000
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from recollect.errors import FilterError, InputError
from recollect.intervals.arrow_words import arrow_column, numpy_words
from recollect.join.window import NANOSECONDS, parse_duration

FOREVER = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Timeline:
    """The type of the times."""

    kind: pa.DataType

    @classmethod
    def of(cls, start: pa.DataType, end: pa.DataType) -> "Timeline":
        """The line for start and end times of these types; stamps in the finer unit of the two."""
        if types.is_integer(start) and types.is_integer(end):
            return cls(pa.int64() if start != end else start)
        if types.is_timestamp(start) and types.is_timestamp(end) and start.tz == end.tz:
            finer = min(start, end, key=lambda kind: NANOSECONDS[kind.unit])
            return cls(finer)
        if types.is_date(start) and start == end:
            return cls(start)
        raise InputError(
            f"the times are of types {start} and {end}; both must be whole numbers, the same kind"
            " of dates, or time stamps with the same time zone or none"
        )

    @property
    def nanoseconds(self) -> int | None:
        """The length of a unit; None for plain whole numbers."""
        return unit_of(self.kind)

    def encode(self, array: pa.Array) -> np.ndarray:
        """Turn times into 64-bit numbers; what NULLs become does not matter."""
        try:
            array = array.cast(self.kind)
            width = pa.int32() if self.kind.bit_width == 32 else pa.int64()
            whole = array if types.is_integer(self.kind) else array.view(width)
            return numpy_words(whole.cast(pa.int64()))
        except pa.ArrowInvalid as error:
            raise InputError(f"a time is out of range: {error}") from None

    def decode(self, times: np.ndarray) -> pa.Array:
        """Turn numbers into times; :data:`FOREVER` becomes NULL."""
        forever = times == FOREVER
        endless = forever if forever.any() else None
        array = arrow_column(np.where(forever, 0, times), pa.int64(), endless)
        try:
            if types.is_integer(self.kind):
                return array.cast(self.kind)
            return (array.cast(pa.int32()) if self.kind.bit_width == 32 else array).view(self.kind)
        except pa.ArrowInvalid as error:
            raise InputError(f"a time of the answer is out of range: {error}") from None

    def moment(self, given: Any) -> int:
        """Read a moment that a user gave: a number, ISO text, a date or a datetime.

        One that lies beyond all times of the line is the first or the last of them.
        """
        if isinstance(given, datetime | date):
            given = given.isoformat()
        place = ticks_of(str(given), self.kind, "the time")
        if place.denominator != 1:
            raise InputError(f"{given} lies between two moments of times of type {self.kind}")
        return min(max(int(place), -FOREVER), FOREVER)


def unit_of(kind: pa.DataType) -> int | None:
    """The nanoseconds of a unit of a type of times; None if it has no unit.

    >>> unit_of(pa.date32())
    86400000000000
    """
    if types.is_date(kind):
        return NANOSECONDS["d" if types.is_date32(kind) else "ms"]
    return NANOSECONDS.get(getattr(kind, "unit", ""))


def number_of(text: str) -> Fraction:
    """Read a number as it is written; a ValueError if it is none, or has thousands of digits.

    >>> number_of("-2.5e1")
    Fraction(-25, 1)
    """
    if re.search(r"e[+-]?\d{4}", text, re.IGNORECASE):
        raise ValueError(text)
    return Fraction(text)


def ticks_of(text: str, kind: pa.DataType, name: str) -> Fraction:
    """Read a literal in units of a type: a number for whole numbers, else an ISO time or duration.

    A moment without an offset from UTC is in UTC.

    Parameters
    ----------
    text
        The literal.
    kind
        The type of the column beside which it stands.
    name
        What messages call that column.

    Examples
    --------
    >>> ticks_of("1970-01-02 00:00:00.5", pa.timestamp("s"), "at")
    Fraction(172801, 2)
    """
    unit = unit_of(kind)
    try:
        if unit is None:
            return number_of(text)
        return _nanoseconds(text, kind) / unit
    except (ValueError, ZeroDivisionError):
        raise FilterError(f"{name} is of type {kind}, and {text!r} is no such value") from None


def _nanoseconds(text: str, kind: pa.DataType) -> Fraction:
    if types.is_duration(kind):
        duration = parse_duration(text)
        if duration is None:
            raise ValueError(text)
        return Fraction(duration.nanoseconds)
    if types.is_time(kind):
        text = f"1970-01-01 {text}"
    # Python's clock stops at microseconds, so the fraction of a second is read apart from it.
    fraction = re.search(r"(?<=:\d\d)\.\d+", text)
    moment = datetime.fromisoformat(text.replace(fraction[0], "") if fraction else text)
    since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    part = Fraction(f"0{fraction[0]}" if fraction else 0)
    return (since // timedelta(seconds=1) + part) * NANOSECONDS["s"]
