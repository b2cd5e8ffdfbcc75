"""An aggregate over time as a curve that a picture can show, however many intervals it has."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from recollect.intervals import Aggregation
from recollect.intervals.words import unit_of

MOST_STEPS = 1_500
"""A curve with more intervals is drawn by slices of time."""
MOST_SLICES = 600
DAY = 86_400
SECONDS = (
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200),
    *(DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY),
)
"""Lengths of slices; others would beat with the rhythm of days and weeks."""
BEYOND = 0.03
"""How far an interval without an end is drawn, as a share of the time before."""


@dataclass(frozen=True)
class Curve:
    """The constant intervals of one aggregate and one group."""

    group: Any
    """Its value; None as well if there are no groups."""
    start: np.ndarray
    end: np.ndarray
    """Whole numbers of the units of time; where there is no end, a little after the last start."""
    value: np.ndarray
    """Floats, NaN where the aggregate is NULL."""

    @property
    def drawn_exactly(self) -> bool:
        """Whether every interval is shown."""
        return len(self.value) <= MOST_STEPS

    @property
    def highest(self) -> float:
        """The greatest value; NaN if there is none."""
        return float(np.nanmax(self.value)) if self.has_values else np.nan

    @property
    def lowest(self) -> float:
        """The least value; NaN if there is none."""
        return float(np.nanmin(self.value)) if self.has_values else np.nan

    @property
    def has_values(self) -> bool:
        """Whether the aggregate is anywhere not NULL."""
        return not np.isnan(self.value).all()

    @property
    def mean(self) -> float:
        """The mean over the time in which there is a value; NaN if there is none."""
        known = ~np.isnan(self.value)
        lengths = (self.end - self.start)[known].astype(float)
        return float(np.average(self.value[known], weights=lengths)) if len(lengths) else np.nan

    @property
    def peak(self) -> tuple[int, int]:
        """The first interval with the greatest value."""
        place = int(np.nanargmax(self.value))
        return int(self.start[place]), int(self.end[place])

    def steps(self) -> tuple[np.ndarray, np.ndarray]:
        """Times and values of a line of steps."""
        return np.append(self.start, self.end[-1:]), np.append(self.value, self.value[-1:])

    def slices(self, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Middles of slices of time, and least, mean and greatest value in each."""
        outer = self.start[0] // length, -(-self.end[-1] // length)
        borders = np.clip(np.arange(outer[0], outer[1] + 1) * length, self.start[0], self.end[-1])
        first = np.searchsorted(self.start, borders[:-1], side="right") - 1
        last = np.searchsorted(self.start, borders[1:], side="left") - 1
        pairs = np.stack([first, last + 1], axis=1).ravel()
        padded = np.append(self.value, np.nan)
        low = np.fmin.reduceat(padded, pairs)[::2]
        high = np.fmax.reduceat(padded, pairs)[::2]
        known = ~np.isnan(self.value)
        lengths = np.where(known, self.end - self.start, 0).astype(float)
        area = self._at(borders, lengths * np.where(known, self.value, 0))
        time = self._at(borders, lengths)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.diff(area) / np.diff(time)
        return (borders[1:] + borders[:-1]) / 2, low, mean, high

    def _at(self, times: np.ndarray, amounts: np.ndarray) -> np.ndarray:
        """How much has come together by some times, if each interval brings its amount evenly."""
        borders = np.append(self.start, self.end[-1]).astype(float)
        return np.interp(times, borders, np.append(0, np.cumsum(amounts)))


def curves_of(answer: Aggregation, aggregate: str) -> list[Curve]:
    """The curves of an aggregate, one per group, in the order of the groups."""
    table = answer.of(aggregate).combine_chunks()
    if not table.num_rows:
        return []
    start, end = _numbers(table["start"]), _numbers(table["end"])
    endless = table["end"].is_null().to_numpy()
    last = int(max(start.max(), end[~endless].max(initial=start.max())))
    end[endless] = last + max(1, int(BEYOND * (last - int(start.min()))))
    value = table[aggregate].cast(pa.float64()).to_numpy(zero_copy_only=False).copy()
    value[np.isinf(value)] = np.nan  # cannot be drawn
    if table.column_names[0] == "start":
        return [Curve(None, start, end, value)]
    group = table[0].to_pylist()
    borders = [i for i in range(len(group)) if not i or group[i] != group[i - 1]]
    parts = zip(borders, [*borders[1:], len(group)], strict=True)
    return [Curve(group[a], start[a:b], end[a:b], value[a:b]) for a, b in parts]


def slice_length(span: int, kind: pa.DataType) -> int:
    """How long slices should be, in units of time, so that there are not too many.

    >>> slice_length(365 * 86_400, pa.timestamp("s")), slice_length(1_000_000, pa.int64())
    (86400, 2000)
    """
    least = max(1, -(-span // MOST_SLICES))
    unit = unit_of(kind)
    if unit is None:
        power = 10 ** (len(str(least)) - 1)
        return next(round_ * power for round_ in (1, 2, 5, 10) if round_ * power >= least)
    lengths = (seconds * 10**9 // unit for seconds in SECONDS)
    return next((length for length in lengths if length >= least), least)


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    kind = column.type
    if types.is_timestamp(kind) and kind.tz:
        column = pc.local_timestamp(column)
    if not types.is_integer(kind):
        column = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    return column.cast(pa.int64()).fill_null(0).to_numpy().copy()


def axis_times(times: np.ndarray, kind: pa.DataType) -> list[Any]:
    """Times as plotly takes them: numbers, or text for dates and time stamps."""
    if types.is_integer(kind):
        return [float(time) for time in times]
    unit = "D" if types.is_date32(kind) else "ms" if types.is_date(kind) else kind.unit
    moments = np.rint(times).astype(np.int64).view(f"datetime64[{unit}]")
    texts = (str(moment).replace("T", " ") for moment in moments.astype("datetime64[s]"))
    return [text.removesuffix(":00").removesuffix(" 00:00") for text in texts]
