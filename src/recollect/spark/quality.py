"""How good a bounded result is: what of the exact one it has, in all, by key and by time."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import CalendarIntervalType, VariantType

from recollect.errors import InputError, WindowError
from recollect.join.query import key_columns, pair_of
from recollect.join.window import TIME, parse_window, resolve
from recollect.spark.columns import TimeType, contains, find, positions_of, require_comparable

RESULT = "the result"
SLICE = "slice_start"


@dataclass(frozen=True, repr=False)
class Quality:
    """What :func:`quality` found."""

    exact_results: int
    results: int
    foreign: int
    """Results that the exact join lacks, or has fewer times; anything but 0 is a fault."""
    by_key: DataFrame | None = None
    """The key columns, exact, results and recall, in the order of the keys; if asked for."""
    by_slice: DataFrame | None = None
    """Likewise by slices of time: slice_start, exact, results and recall."""

    @property
    def recall(self) -> float | None:
        """The share of the exact results that were found; None if there are none."""
        return (self.results - self.foreign) / self.exact_results if self.exact_results else None

    def as_dict(self) -> dict[str, Any]:
        """Everything in types that JSON has; tables, where asked for, as lists of rows."""
        numbers = {
            "recall": self.recall,
            "exact_results": self.exact_results,
            "results": self.results,
            "foreign": self.foreign,
        }
        tables = {"by_key": self.by_key, "by_slice": self.by_slice}
        return numbers | {name: _rows(table) for name, table in tables.items() if table is not None}

    def __repr__(self) -> str:
        """Show the numbers, not the tables."""
        recall = "None" if self.recall is None else f"{self.recall:.4f}"
        return (
            f"Quality(recall={recall}, exact_results={self.exact_results},"
            f" results={self.results}, foreign={self.foreign})"
        )


def quality(
    bounded: DataFrame,
    exact: DataFrame,
    key: str | Sequence[Any] | None = None,
    time: Any = None,
    slice: Any = None,  # noqa: A002
) -> Quality:
    """Compare the result of a bounded join with the exact one, row by row, on Spark.

    Each is read once. Equal rows are counted, not just noted: a row that the exact result has twice
    and the bounded one once is half found. The counts by key and slice stay with the executors
    until the answer is no longer in use.

    Parameters
    ----------
    bounded, exact
        Results with the same columns, not streaming.
    key
        For the recall by key: columns of the result, in the words of a join's ``on``. Of
        ``"a=b"``, which are equal, the left one is taken.
    time, slice
        For the recall by time: a column of the result, or ``"left=right"``, and the length of the
        slices, such as ``"1 minute"`` or ``1000`` units of the column. A result belongs to the
        later of its times, which is when it could be found, also where both have the same name.

    Examples
    --------
    What was lost minute by minute::

        quality(bounded, exact, time="time", slice="1 minute").by_slice.show()
    """
    _require_same_columns(bounded, exact)
    keys = [] if key is None else [find(exact, name, RESULT) for name in key_columns(key)[0]]
    require_comparable(*(exact.schema[position] for position in keys))
    groups = {f"key_{i}": F.col(_name(position)) for i, position in enumerate(keys)}
    if time is not None or slice is not None:
        groups[SLICE] = _slice_start(exact, time, slice)

    columns = [_name(position) for position in range(len(exact.columns))]
    rows = _counted(exact, exact=1, results=0).union(_counted(bounded, exact=0, results=1))
    same = rows.groupBy(columns).agg(
        F.sum("exact").alias("exact"), F.sum("results").alias("results")
    )
    parts = same.withColumn("found", F.least("exact", "results"))
    counts = _sums(parts, **groups).localCheckpoint()

    total = _sums(counts).first()
    assert total is not None
    names = {f"key_{i}": exact.columns[position] for i, position in enumerate(keys)}
    return Quality(
        exact_results=total.exact or 0,
        results=total.results or 0,
        foreign=(total.results or 0) - (total.found or 0),
        by_key=_recalls(counts, names) if keys else None,
        by_slice=_recalls(counts, {SLICE: SLICE}) if SLICE in groups else None,
    )


def _require_same_columns(bounded: DataFrame, exact: DataFrame) -> None:
    for name, frame in (("bounded", bounded), ("exact", exact)):
        if frame.isStreaming:
            raise InputError(
                f"the {name} result is a stream, which has no end; write it out and read that"
            )
    # Whether a column may be NULL is no part of these texts, and makes no difference.
    ours, theirs = (
        [f"{field.name} {field.dataType.simpleString()}" for field in frame.schema]
        for frame in (bounded, exact)
    )
    if ours != theirs:
        raise InputError(
            "the two results have different columns:"
            f" {', '.join(ours)} in the bounded, {', '.join(theirs)} in the exact one"
        )
    for field in exact.schema:
        if contains(field.dataType, (VariantType, CalendarIntervalType)):
            raise InputError(
                f"column {field.name!r} is of type {field.dataType.simpleString()}, which Spark"
                " cannot compare; leave it out of both results"
            )


def _slice_start(exact: DataFrame, time: Any, slice_: Any) -> Column:
    if time is None or slice_ is None:
        raise InputError(f"time={time!r}, slice={slice_!r}: recall by time needs both")
    window = parse_window(slice_)
    positions: list[int] = []
    for name in dict.fromkeys(pair_of(time)):
        positions += positions_of(exact, name) or [find(exact, name, RESULT)]
    types = [TimeType.of(exact.schema[position]) for position in positions]
    for other in types[1:]:
        if not types[0].goes_with(other):
            raise InputError(
                f"time columns of the result do not go together: {types[0]} and {other}"
            )
    span = resolve(window, types[0].nanoseconds)
    if window.kind != TIME or span < 1:
        raise WindowError(f"slice {window} is not a span of one or more units of the time column")
    times = [F.col(_name(position)) for position in positions]
    latest = F.greatest(*times) if len(times) > 1 else times[0]
    return types[0].moment(types[0].bucket(latest, span) * span)


def _name(position: int) -> str:
    return f"column_{position}"


def _counted(frame: DataFrame, **counts: int) -> DataFrame:
    """The columns under unique names, and with these numbers."""
    numbered = frame.toDF(*(_name(position) for position in range(len(frame.columns))))
    return numbered.withColumns({name: F.lit(count) for name, count in counts.items()})


def _sums(parts: DataFrame, **groups: Column) -> DataFrame:
    return parts.groupBy([column.alias(name) for name, column in groups.items()]).agg(
        *(F.sum(name).alias(name) for name in ("exact", "results", "found"))
    )


def _recalls(counts: DataFrame, names: dict[str, str]) -> DataFrame:
    """The table by some of the groups; they get these names at the end, when no name matters."""
    table = _sums(counts, **{group: F.col(group) for group in names}).orderBy(list(names))
    recall = F.try_divide("found", "exact")  # NULL where there is nothing to find
    return table.select(*names, "exact", "results", recall).toDF(
        *names.values(), "exact", "results", "recall"
    )


def _rows(table: DataFrame) -> list[dict[str, Any]]:
    whole = F.to_json(F.struct("*"), {"ignoreNullFields": "false"})
    return [json.loads(row[0]) for row in table.select(whole).collect()]
