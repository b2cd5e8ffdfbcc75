"""Time columns of Spark as whole numbers of a unit, which is how windows see time."""

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    DataType,
    DateType,
    IntegralType,
    StructField,
    TimestampNTZType,
    TimestampType,
)

from recollect.errors import InputError
from recollect.join.window import NANOSECONDS


@dataclass(frozen=True)
class TimeType:
    """The type of a time column: TIMESTAMP, TIMESTAMP_NTZ, DATE or a whole number."""

    kind: DataType

    @classmethod
    def of(cls, field: StructField) -> "TimeType":
        """Read the type of a column, which must be one that can hold time."""
        if isinstance(field.dataType, TimestampType | TimestampNTZType | DateType | IntegralType):
            return cls(field.dataType)
        raise InputError(
            f"time column {field.name!r} is of type {field.dataType.simpleString()};"
            " it must be a time stamp, a date or a whole number"
        )

    @property
    def nanoseconds(self) -> int | None:
        """What one unit is: a microsecond, a day, or None for plain whole numbers."""
        if isinstance(self.kind, IntegralType):
            return None
        return NANOSECONDS["d" if isinstance(self.kind, DateType) else "us"]

    @property
    def takes_watermark(self) -> bool:
        """Whether Spark can put a watermark on it."""
        return isinstance(self.kind, TimestampType)

    def goes_with(self, other: "TimeType") -> bool:
        """Whether two columns can be compared without a conversion that depends on a time zone."""
        return self.kind == other.kind or self.nanoseconds is other.nanoseconds is None

    def units(self, column: Column) -> Column:
        """The time as a whole number of units since 1970."""
        if isinstance(self.kind, TimestampType):
            return F.unix_micros(column)
        if isinstance(self.kind, TimestampNTZType):
            seconds = (column - _epoch()).cast("interval second").cast("decimal(20, 6)")
            return (seconds * 1_000_000).cast("bigint")
        if isinstance(self.kind, DateType):
            return F.unix_date(column).cast("bigint")
        return column.cast("bigint")

    def moment(self, units: Column) -> Column:
        """The inverse of :meth:`units`."""
        if isinstance(self.kind, TimestampType):
            return F.timestamp_micros(units)
        if isinstance(self.kind, TimestampNTZType):
            seconds = units.cast("decimal(20, 0)") / F.lit(1_000_000)
            return _epoch() + F.make_dt_interval(secs=seconds.cast("decimal(18, 6)"))
        if isinstance(self.kind, DateType):
            return F.date_from_unix_date(units.cast("int"))
        return units.cast(self.kind)

    def bucket(self, column: Column, span: int) -> Column:
        """The number of the span that a time is in, counted from 1970."""
        # Not floor(units / span): that divides as floating point numbers.
        units = self.units(column)
        return F.call_function("div", units, F.lit(span)) - (units % span < 0).cast("bigint")


def _epoch() -> Column:
    return F.expr("TIMESTAMP_NTZ '1970-01-01'")
