"""A relation in memory: an Arrow table, a frame, or a file that is read as a whole."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.hashing import code_of_columns, missing
from recollect.join.feed import cast_key
from recollect.join.payload import take
from recollect.join.query import common_type
from recollect.join.result import equal_rows
from recollect.lookup.relation import Fetched, Relation, require_unique, split_schema
from recollect.streams import open_source


class ArrowRelation(Relation):
    """Rows in memory, found by the codes of their keys.

    Parameters
    ----------
    data
        Whatever :func:`recollect.streams.open_source` reads.
    keys
        Its key columns.

    Examples
    --------
    >>> goods = ArrowRelation(pa.table({"id": [7, 9], "price": [1.5, 2.5]}), ["id"])
    >>> goods.fetch([pa.array([8, 9])])
    Fetched(places=array([1]), rows=pyarrow.RecordBatch
    price: double
    ----
    price: [2.5])
    """

    def __init__(self, data: Any, keys: Sequence[str]) -> None:
        source = open_source(data)
        self.name = source.name
        self.schema = split_schema(self.name, source.schema, keys)
        table = pa.Table.from_batches(source.batches(), source.schema)
        self._keys = [table[key].combine_chunks() for key in keys]
        self._rows = pa.RecordBatch.from_arrays(
            [table[name].combine_chunks() for name in self.schema.names], schema=self.schema
        )
        nulls = missing(self._keys)
        if nulls is not None:
            there = np.flatnonzero(~nulls)
            self._keys = [key.take(pa.array(there)) for key in self._keys]
            self._rows = take(self._rows, there)
        self._key_types: list[pa.DataType] = []
        self._columns = keys

    def fetch(self, keys: list[pa.Array]) -> Fetched:
        """See :class:`Relation`."""
        types = [key.type for key in keys]
        if types != self._key_types:
            self._index(types)
        keys = [
            cast_key(key, own.type, name)
            for key, own, name in zip(keys, self._typed, self._columns, strict=True)
        ]
        codes = code_of_columns(keys)
        first = np.searchsorted(self._codes, codes, "left")
        last = np.searchsorted(self._codes, codes, "right")
        alike = last - first  # more than one only where codes collide, or a key is not unique
        places = np.repeat(np.arange(len(codes)), alike)
        nth = np.arange(len(places)) - np.repeat(np.cumsum(alike) - alike, alike)
        rows = self._order[first[places] + nth]
        for key, own in zip(keys, self._typed, strict=True):
            if len(places):
                same = equal_rows(key.take(pa.array(places)), own.take(pa.array(rows)))
                places, rows = places[same], rows[same]
        require_unique(self.name, keys, places)
        return Fetched(places, take(self._rows, rows))

    def _index(self, types: list[pa.DataType]) -> None:
        """Sort the codes of the keys, in the types in which both sides are compared."""
        self._typed = [
            cast_key(key, common_type(kind, key.type, name), name)
            for key, kind, name in zip(self._keys, types, self._columns, strict=True)
        ]
        codes = code_of_columns(self._typed)
        self._order = np.argsort(codes, kind="stable")
        self._codes = codes[self._order]
        self._key_types = types
