"""The join that forgets nothing: Spark's own, with the same parameters as the bounded one."""

from collections.abc import Sequence
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from recollect.errors import InputError
from recollect.join.window import LANDMARK, UNLIMITED
from recollect.spark.columns import JoinColumns, internal_name, renamed

HOUR = 3_600_000_000
"""In microseconds."""
LAST = 2**63 - 1
INCOMPARABLE = ("DATATYPE_MISMATCH", "INDETERMINATE_COLLATION")
"""How Spark's names begin for what is wrong when two keys have no equality."""


def exact_join(
    left: DataFrame,
    right: DataFrame,
    on: str | Sequence[Any],
    time: Any,
    window: Any,
    lateness: Any = None,
    how: str = "inner",
) -> DataFrame:
    """Join two DataFrames with Spark's own join, without any budget.

    Two rows match if their keys are equal (as Spark sees it: NULL equals nothing, NaN equals NaN)
    and the later one comes while the earlier one is in its window, whose end counts in. On streams
    Spark keeps every row until its window has passed, or for ever without a watermark.

    Parameters
    ----------
    left, right
        Both streaming or both not.
    on, time, window, lateness, how
        As for :func:`~recollect.spark.bounded_join`. Times of tables may also be TIMESTAMP_NTZ,
        DATE or whole numbers.

    Examples
    --------
    Payments within an hour of the order they belong to::

        exact_join(orders, payments, on="order", time="placed=paid", window=("1 hour", 0))
    """
    columns = JoinColumns.parse(left, right, on, time, window, lateness, how)
    sides = [
        renamed(columns.with_watermark(frame, side), side)
        for side, frame in enumerate((left, right))
    ]
    pairs = list(zip(*columns.keys, strict=True))
    try:
        same_keys = [F.col(internal_name(0, a)) == F.col(internal_name(1, b)) for a, b in pairs]
        joined = sides[0].join(sides[1], [*same_keys, *_in_window(columns)])
    except AnalysisException as error:
        if not (error.getCondition() or "").startswith(INCOMPARABLE):
            raise
        keys = ", ".join(
            " = ".join(f"{key.name} ({key.dataType.simpleString()})" for key in keys)
            for keys in ((left.schema[a], right.schema[b]) for a, b in pairs)
        )
        raise InputError(f"Spark cannot compare the keys {keys}; cast one side") from error
    return joined.select(
        [F.col(internal_name(side, at)).alias(name) for side, at, name in columns.output]
    )


def _in_window(columns: JoinColumns) -> list[Column]:
    """For each side: the other row comes no later than this one's window ends.

    That also holds whenever the other row is the earlier one, so both may be asked of every pair.
    """
    conditions = []
    for side in (0, 1):
        mine, other = (F.col(internal_name(s, columns.times[s])) for s in (side, 1 - side))
        time = columns.time_types[side]
        kind, span = columns.query.windows[side].kind, columns.spans[side]
        if kind == LANDMARK:
            conditions.append(time.bucket(other, span) <= time.bucket(mine, span))
            span -= 1  # What follows is implied then, but only it tells Spark when to drop state.
        if kind == UNLIMITED:
            conditions.append(mine.isNotNull() & other.isNotNull())
        elif columns.streaming:
            conditions.append(other <= mine + _interval(span))
        else:
            conditions.append(time.units(other) <= _sum(time.units(mine), span))
    return conditions


def _interval(microseconds: int) -> Column:
    """A span of time in the form from which Spark derives how long it needs its state.

    Without days, for those are days of the calendar to Spark, twice a year of 23 or 25 hours.
    """
    seconds = F.lit(microseconds % HOUR).cast("decimal(18, 0)") / F.lit(1_000_000)
    return F.make_interval(hours=F.lit(microseconds // HOUR), secs=seconds)


def _sum(units: Column, span: int) -> Column:
    """Their sum, or the largest number if it would be larger."""
    return F.when(units > LAST - span, LAST).otherwise(units + span)
