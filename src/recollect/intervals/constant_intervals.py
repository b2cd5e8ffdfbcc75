"""Answers as tables: one row for each interval on which nothing changes."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from recollect.errors import InputError
from recollect.intervals.query import TIMES, Query
from recollect.intervals.sweep import AGGREGATES, COUNT, HIGH, SUM, Rows, together
from recollect.intervals.words import MOST_DIGITS, DecimalWords, arrow_column, decimals


class Shape:
    """What the rows of the answer to a query look like as a table."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._group = query.question.group_by
        self.names = tuple(query.aggregates)

    @property
    def schema(self) -> pa.Schema:
        """The columns: the group, if there is one, start, end and the aggregates."""
        return self.of(self.names)

    def of(self, names: Sequence[str]) -> pa.Schema:
        """The columns of a table with some of the aggregates."""
        line, codecs = self._query.relation.line, self._query.relation.codecs
        fields = [] if self._group is None else [pa.field(self._group, codecs[self._group].kind)]
        fields += [pa.field(name, line.kind, nullable=name == "end") for name in TIMES]
        fields += [pa.field(name, self._kind(name), nullable=name != "count") for name in names]
        return pa.schema(fields)

    def _kind(self, name: str) -> pa.DataType:
        value = self._query.value
        if name == "count" or value is None:
            return pa.int64()
        if name == "avg":
            return pa.float64()
        if name != "sum":
            return value.kind
        if isinstance(value, DecimalWords):
            return pa.decimal128(MOST_DIGITS, value.kind.scale)
        return pa.float64() if value.floats else pa.int64()

    def batch(self, rows: Rows, names: Sequence[str] | None = None) -> pa.RecordBatch:
        """The table of some rows."""
        names = self.names if names is None else names
        relation = self._query.relation
        arrays = []
        if self._group is not None:
            words = self._query.groups.words[rows.group]
            arrays.append(relation.codecs[self._group].decode(words))
        arrays += [relation.line.decode(rows.start), relation.line.decode(rows.end)]
        empty = rows.words[COUNT] == 0
        nulls = empty if empty.any() else None
        arrays += [self._column(name, rows, nulls) for name in names]
        return pa.RecordBatch.from_arrays(arrays, schema=self.of(names))

    def _column(self, name: str, rows: Rows, nulls: np.ndarray | None) -> pa.Array:
        words, value = rows.words[AGGREGATES.index(name)], self._query.value
        if name == "count":
            return arrow_column(words, pa.int64(), None)
        assert value is not None
        if name == "avg" or (name == "sum" and value.floats):
            return arrow_column(words, pa.float64(), nulls)
        if name != "sum":
            return value.values(words, nulls)
        kind = self._kind(name)
        if types.is_decimal(kind):
            return decimals(words, rows.words[HIGH], kind, nulls)
        if len(outside := np.flatnonzero(rows.words[HIGH] != words >> 63)):
            start, end = (times[outside[0]] for times in (rows.start, rows.end))
            raise InputError(
                f"the sum from {start} to {end} does not fit in 64 bits; cast"
                f" {self._query.question.value!r} to a decimal or a float"
            )
        return arrow_column(words, pa.int64(), nulls)

    def constant(self, parts: Sequence[Rows], name: str) -> Rows:
        """The constant intervals of one aggregate: neighbours merged where it stays the same."""
        rows = together(parts)
        if self._query.spans is not None or not len(rows.start):
            return rows
        place, count = AGGREGATES.index(name), rows.words[COUNT]
        changed = _differ(rows.group) | _differ(rows.words[place])
        if place == SUM:
            changed |= _differ(rows.words[HIGH])
        if place != COUNT:
            changed |= _differ(count == 0)
        first = np.flatnonzero(np.append(True, changed))
        last = np.append(first[1:] - 1, len(rows.start) - 1)
        return Rows(rows.group[first], rows.start[first], rows.end[last], rows.words[:, first])

    def in_order(self, parts: Sequence[Rows]) -> Sequence[Rows]:
        """The parts of an answer by group and time; without groups they are in order already."""
        if self._group is None:
            return parts
        rows = together(parts)
        values = self._query.relation.codecs[self._group].decode(self._query.groups.words)
        rank = np.empty(len(values), np.int64)
        rank[pc.array_sort_indices(values).to_numpy()] = np.arange(len(values))
        order = np.lexsort((rows.start, rank[rows.group]))
        return [Rows(*(array[..., order] for array in rows))]


def _differ(array: np.ndarray) -> np.ndarray:
    return array[1:] != array[:-1]
