"""The rows themselves, kept as long as they are cached: columns of the relation, and two more.

``found`` says whether the relation has the key at all; the others are NULL if not. Where key codes
are hashes, the keys are kept too, so that a row can be checked before it is handed out.
"""

import numpy as np
import pyarrow as pa

from recollect.join.payload import (
    MANY,
    PLACE_BITS,
    RAW,
    SEGMENT_ROWS,
    SLACK,
    SMALL,
    PayloadStore,
    take,
)
from recollect.lookup.cache import Cache
from recollect.lookup.relation import Fetched


class Payload:
    """The rows of a cache.

    Parameters
    ----------
    columns
        Those of the relation that are wanted.
    key_types
        The types of the keys, if they are to be kept.
    """

    def __init__(self, columns: pa.Schema, key_types: list[pa.DataType]) -> None:
        self._columns = columns
        self._keys = len(key_types)
        names = [f"key{i}" for i in range(len(key_types))]
        self._schema = pa.schema(
            [*zip(names, key_types, strict=True), ("found", pa.bool_()), *_nullable(columns)]
        )
        self._store = PayloadStore()

    def add(self, keys: list[pa.Array], fetched: Fetched, wanted: np.ndarray) -> int:
        """Take in what was fetched; return the number of the first row, the others follow on.

        Parameters
        ----------
        keys
            The key of each row.
        fetched
            What the relation had.
        wanted
            For each row: which of those fetched it is, or -1 if the relation has none.
        """
        if len(wanted) == 0:
            return 0
        base = self._store.add(self._batch(keys, fetched, wanted))
        self._store.joined(base)
        return base

    def _batch(self, keys: list[pa.Array], fetched: Fetched, wanted: np.ndarray) -> pa.RecordBatch:
        found = wanted >= 0
        rows = pa.array(wanted, mask=~found)
        arrays = [fetched.rows.column(name).take(rows) for name in self._columns.names]
        return pa.RecordBatch.from_arrays(
            [*keys[: self._keys], pa.array(found), *arrays], schema=self._schema
        )

    def take(self, rows: np.ndarray) -> pa.RecordBatch:
        """The rows with these numbers."""
        if len(rows) == 0:
            return pa.RecordBatch.from_pylist([], self._schema)
        return self._store.take(rows)

    def keys_of(self, rows: pa.RecordBatch) -> list[pa.Array]:
        """The keys that were kept with some rows."""
        return rows.columns[: self._keys]

    def found(self, rows: pa.RecordBatch) -> np.ndarray:
        """Which of some rows the relation has."""
        return rows.column(self._keys).to_numpy(zero_copy_only=False)

    def columns_of(self, rows: pa.RecordBatch) -> list[pa.Array]:
        """The relation's columns of some rows."""
        return rows.columns[self._keys + 1 :]

    def exchange(
        self, rows: pa.RecordBatch, at: np.ndarray, keys: list[pa.Array], fetched: Fetched,
        wanted: np.ndarray,
    ) -> pa.RecordBatch:  # fmt: skip
        """Some rows with others, just fetched, in the places ``at``."""
        both = pa.concat_batches([rows, self._batch(keys, fetched, wanted)])
        order = np.arange(rows.num_rows)
        order[at] = rows.num_rows + np.arange(len(at))
        return take(both, order)

    def let_go(self, cache: Cache) -> None:
        """Let go of rows that are not cached any more, if they are many or strewn about."""
        store = self._store
        if len(store.raw_joined) > MANY or store.needs_settling:
            store.settle(*cache.rows_of(RAW), cache.relocate)
        packed = [part.num_rows for number, part in store.segments() if number < RAW >> PLACE_BITS]
        small = sum(rows < SMALL for rows in packed)
        if small > MANY or sum(packed) > SLACK * cache.live + SEGMENT_ROWS:
            store.compact(*cache.rows_of(), cache.relocate)


def _nullable(columns: pa.Schema) -> list[pa.Field]:
    return [field.with_nullable(True) for field in columns]
