"""Span grouping: one answer per day, month or other span, over all tuples that overlap it.

It is the general problem on a coarser time line (Woo et al., section 2.1): a tuple that overlaps a
span counts for all of it, so its start is moved down and its end up to the next border of a span.

===================  ==============================================================================
``10``               ten units of a time line of whole numbers, counted from 0
``"15min"``          a duration, counted from 1970
``"day"``            and week (from Monday), month, quarter, year: of the calendar in the time zone
                     of the time line
===================  ==============================================================================

>>> from datetime import date
>>> line = Timeline(pa.date32())
>>> months = Spans.of("month", line)
>>> days = line.encode(pa.array([date(2024, 2, 29), date(2024, 3, 1)], pa.date32()))
>>> months.number(days).tolist(), line.decode(months.border(np.array([649]))).to_pylist()
([649, 650], [datetime.date(2024, 2, 1)])
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from recollect.errors import InputError
from recollect.intervals.events import Events, chosen
from recollect.intervals.sweep import Rows
from recollect.intervals.timeline import FOREVER, Timeline
from recollect.join.window import NANOSECONDS, parse_duration

# By name: the unit of numpy's calendar, how many of them make a span, and which one is the first.
_CALENDAR = {
    "day": ("D", 1, 0), "week": ("D", 7, 4), "month": ("M", 1, 0), "quarter": ("M", 3, 0),
    "year": ("Y", 1, 0),
}  # fmt: skip
_NUMPY = {NANOSECONDS[name]: name.replace("d", "D") for name in ("ns", "us", "ms", "s", "d")}
MOST_SPANS = 100_000_000


@dataclass(frozen=True)
class Spans:
    """Spans of equal length, or of the calendar.

    Spans are numbered; span ``n`` reaches from ``border(n)`` to ``border(n + 1)``.
    """

    line: Timeline
    text: str
    length: int
    """In units of the time line, or of the calendar."""
    unit: str = ""
    """The unit of numpy's calendar; empty for units of the time line."""
    first: int = 0

    @classmethod
    def of(cls, span: Any, line: Timeline) -> "Spans":
        """Read what a user gave."""
        text = str(span).strip()
        name = re.sub(r"^(?:1\s*|per\s+)", "", text).removesuffix("s")
        if line.nanoseconds is None:
            if not re.fullmatch(r"\d+", text) or int(text) < 1:
                raise InputError(
                    f"span {text!r}: times are whole numbers, so give a number of them"
                )
            return cls(line, text, min(int(text), FOREVER))
        if name in _CALENDAR:
            unit, length, first = _CALENDAR[name]
            return cls(line, text, length, unit, first)
        duration = parse_duration(text if text[:1].isdigit() else f"1{text}")
        if duration is None:
            raise InputError(
                f"span {text!r} is not understood; give a duration such as 15min, or one of"
                f" {', '.join(_CALENDAR)}"
            )
        length, rest = divmod(duration.nanoseconds, line.nanoseconds)
        if rest or length < 1:
            raise InputError(f"span {text} is not a whole number of units of {line.kind}")
        return cls(line, text, length)

    def number(self, times: np.ndarray) -> np.ndarray:
        """The span that a time is in."""
        if not self.unit:
            return times // self.length
        if types.is_timestamp(self.line.kind) and self.line.kind.tz:
            times = pc.local_timestamp(self.line.decode(times)).cast(pa.int64()).to_numpy()
        moments = times.view(f"datetime64[{_NUMPY[self.line.nanoseconds or 1]}]")
        calendar = moments.astype(f"datetime64[{self.unit}]").view(np.int64)
        return (calendar - self.first) // self.length

    def border(self, numbers: np.ndarray) -> np.ndarray:
        """The time at which a span begins."""
        if not self.unit:
            return numbers * self.length
        calendar = (numbers * self.length + self.first).view(f"datetime64[{self.unit}]")
        seconds = pa.array(calendar.astype("datetime64[s]"))
        if types.is_timestamp(self.line.kind) and self.line.kind.tz:
            # Where midnight is skipped or comes twice, the day begins as soon as it can.
            seconds = pc.assume_timezone(
                seconds, self.line.kind.tz, ambiguous="earliest", nonexistent="latest"
            )
        return self.line.encode(seconds)

    def widened(self, chunks: Iterable[Events]) -> Iterator[Events]:
        """Yield the events on the line of span numbers, in order again."""
        waiting: Events | None = None
        for events in chunks:
            if not len(events.time):
                continue
            start, end = self.outer(events.start, events.end)
            moved = events._replace(
                time=np.where(events.sign > 0, start, end), start=start, end=end
            )
            if waiting is not None:
                moved = Events(*(np.concatenate(pair) for pair in zip(waiting, moved, strict=True)))
            moved = chosen(moved, np.argsort(moved.time, kind="stable"))
            # A tuple that ended in this span goes at the end of it; until then others may come.
            now = self.number(events.time[-1:])[0] if events.time[-1] != FOREVER else FOREVER
            ready = int(np.searchsorted(moved.time, now, side="right"))
            waiting = chosen(moved, np.arange(ready, len(moved.time)))
            yield chosen(moved, np.arange(ready))
        if waiting is not None:
            yield waiting

    def expanded(self, rows: Rows) -> Rows:
        """One row per span, with times instead of numbers."""
        if np.any(rows.end == FOREVER):
            raise InputError(
                "there are tuples without an end, which reach into every span to come; say where"
                " to stop (to)"
            )
        if (spans := int(np.subtract(rows.end, rows.start, dtype=float).sum())) > MOST_SPANS:
            raise InputError(
                f"span {self.text} cuts the time into {spans} spans; give a longer one"
            )
        lengths = rows.end - rows.start
        row = np.repeat(np.arange(len(lengths)), lengths)
        number = np.arange(spans) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        number += rows.start[row]
        start, end = np.split(self.border(np.append(number, number + 1)), 2)
        if np.any(start >= end) or np.any(end == FOREVER):
            raise InputError(f"a span of {self.text} reaches beyond the times that there can be")
        return Rows(rows.group[row], start, end, rows.words[:, row])

    def outer(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first span of each tuple, and the first after it."""
        empty, endless = start >= end, end == FOREVER
        first = self.number(start)
        last = self.number(np.where(endless, start, end - 1)) + 1
        return first, np.where(empty, first, np.where(endless, FOREVER, last))
