"""What a result looks like: the columns of its tuples, clashing names with the stream in front."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recollect.errors import InputError
from recollect.join.feed import keys_of
from recollect.join.payload import take
from recollect.join.query import Bound
from recollect.streams.python_values import python_values

LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


class ResultShape:
    """Puts the rows of the streams of a join together.

    Where key codes are hashes, the keys themselves are compared here, and results with different
    keys left out: a collision can never make a wrong result.

    Parameters
    ----------
    bound
        The query.
    join
        The number of the join. Columns whose names clash get the name of their stream in front; of
        a stream that meets itself, ``_earlier`` and ``_later`` follow that.
    """

    def __init__(self, bound: Bound, join: int = 0) -> None:
        self._bound = bound
        self._join = bound.joins[join]
        self._number = join
        self.streams = self._join.streams
        names = [bound.streams[stream].name for stream in self.streams]
        if len(set(names)) < len(names):
            names = [f"{names[0]}_earlier", f"{names[0]}_later"]
        schemas = [bound.streams[stream].schema for stream in self.streams]
        count = Counter(name for schema in schemas for name in set(schema.names))
        self.schema = pa.schema(
            [
                field.with_name(f"{name}_{field.name}" if count[field.name] > 1 else field.name)
                for name, schema in zip(names, schemas, strict=True)
                for field in schema
            ]
        )
        for name in self.schema.names:
            if len(self.schema.get_all_field_indices(name)) > 1:
                raise InputError(
                    f"two columns of the result would be called {name!r}; rename one of the input"
                )

    def joined(self, *parts: pa.RecordBatch) -> pa.RecordBatch:
        """The results whose keys are really equal, from the rows of each stream."""
        columns = [column for part in parts for column in part.columns]
        batch = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        if self._join.exact_codes:
            return batch
        same = np.ones(batch.num_rows, bool)
        first, *others = (
            keys_of(self._bound, stream, part, self._number)
            for stream, part in zip(self.streams, parts, strict=True)
        )
        for keys in others:
            for one, two in zip(first, keys, strict=True):
                same &= equal_rows(one, two)
        return batch if same.all() else take(batch, np.flatnonzero(same))


def equal_rows(one: pa.Array, two: pa.Array) -> np.ndarray:
    """Which values are the same: NULL is NULL inside nested values, NaN is NaN, -0.0 is 0.0."""
    kind = one.type
    if pa.types.is_struct(kind):
        same = np.ones(len(one), bool)
        for child, other in zip(one.flatten(), two.flatten(), strict=True):
            same &= equal_rows(child, other)
    elif any(is_it(kind) for is_it in LISTS):
        same = _equal_lists(one, two)
    else:
        same = _equal_values(one, two)
    if one.null_count or two.null_count:
        there = [side.is_valid().to_numpy(zero_copy_only=False) for side in (one, two)]
        same = np.where(there[0] & there[1], same, there[0] == there[1])
    return same


def _equal_lists(one: pa.Array, two: pa.Array) -> np.ndarray:
    lengths = [
        pc.fill_null(pc.list_value_length(side), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        for side in (one, two)
    ]
    same = lengths[0] == lengths[1]
    rows = pa.array(np.flatnonzero(same))
    items = [side.take(rows).flatten() for side in (one, two)]
    owner = np.repeat(np.flatnonzero(same), lengths[0][same])
    same[owner[~equal_rows(*items)]] = False
    return same


def _equal_values(one: pa.Array, two: pa.Array) -> np.ndarray:
    try:
        same = pc.fill_null(pc.equal(one, two), False)
        if pa.types.is_floating(one.type):
            both = pc.and_(pc.is_nan(one), pc.is_nan(two))
            same = pc.or_(same, pc.fill_null(both, False))
        return same.to_numpy(zero_copy_only=False).astype(bool)
    except pa.ArrowNotImplementedError:  # maps and intervals
        return np.array([a == b for a, b in zip(*map(python_values, (one, two)), strict=True)])
