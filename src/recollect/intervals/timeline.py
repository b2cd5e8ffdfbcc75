"""The line on which intervals lie: whole numbers, dates or time stamps, all as 64-bit numbers.

An interval may have no end; its end is NULL outside and :data:`FOREVER` inside.

>>> line = Timeline.of(pa.timestamp("s"), pa.timestamp("ms"))
>>> line.kind
TimestampType(timestamp[ms])
>>> line.moment("1970-01-01 00:00:02")
2000
"""

from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from recollect.errors import InputError
from recollect.intervals.words import MOST, Codec, codec_of, unit_of
from recollect.join.window import NANOSECONDS

FOREVER = MOST


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
            return cls(min(start, end, key=lambda kind: NANOSECONDS[kind.unit]))
        if types.is_date(start) and start == end:
            return cls(start)
        raise InputError(
            f"the times are of types {start} and {end}; both must be whole numbers, the same kind"
            " of dates, or time stamps with the same time zone or none"
        )

    @cached_property
    def _codec(self) -> Codec:
        return codec_of(self.kind, "the time")

    @property
    def nanoseconds(self) -> int | None:
        """The length of a unit; None for plain whole numbers."""
        return unit_of(self.kind)

    def encode(self, array: pa.Array) -> np.ndarray:
        """Turn times into 64-bit numbers; what NULLs become does not matter."""
        try:
            return self._codec.words(array.cast(self.kind))
        except pa.ArrowInvalid as error:
            raise InputError(f"a time is out of range: {error}") from None

    def decode(self, times: np.ndarray) -> pa.Array:
        """Turn numbers into times; :data:`FOREVER` becomes NULL."""
        forever = times == FOREVER
        endless = forever if forever.any() else None
        try:
            return self._codec.values(np.where(forever, 0, times), endless)
        except pa.ArrowInvalid as error:
            raise InputError(f"a time of the answer is out of range: {error}") from None

    def moment(self, given: Any) -> int:
        """Read a moment that a user gave: a number, ISO text, a date or a datetime.

        One that lies beyond all times of the line is the first or the last of them.
        """
        if isinstance(given, datetime | date):
            given = given.isoformat()
        place = self._codec.place(str(given))
        if place.denominator != 1:
            raise InputError(f"{given} lies between two moments of times of type {self.kind}")
        return min(max(int(place), -FOREVER), FOREVER)
