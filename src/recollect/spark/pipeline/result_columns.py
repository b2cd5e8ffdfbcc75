"""The columns of the result under names that a sink takes."""

from collections import Counter
from dataclasses import dataclass

from pyspark.sql import DataFrame

from recollect.join.query import SIDES
from recollect.spark.pipeline.sections import Join
from recollect.spark.words import JoinWords


@dataclass(frozen=True)
class ResultColumns:
    """What the columns of a result are called, and which of them are keys and times.

    Files cannot have two columns of one name, so what both sides have becomes ``left_…`` and
    ``right_…``.
    """

    names: tuple[str, ...]
    keys: tuple[str, ...]
    times: tuple[str, ...]

    @classmethod
    def of(cls, left: DataFrame, right: DataFrame, join: Join) -> "ResultColumns":
        """Find names for the result of a join."""
        words = JoinWords.parse(left, right, join.on, join.time, join.window, join.lateness)
        times_seen = Counter(column.name.lower() for column in words.output)
        names = {
            (column.side, column.position): f"{SIDES[column.side]}_{column.name}"
            if times_seen[column.name.lower()] > 1
            else column.name
            for column in words.output
        }
        return cls(
            names=tuple(names.values()),
            keys=tuple(names[0, position] for position in words.keys[0]),
            times=tuple(names[place] for place in enumerate(words.times) if place in names),
        )

    def rename(self, result: DataFrame) -> DataFrame:
        """Give the columns of a result their names."""
        return result.toDF(*self.names)
