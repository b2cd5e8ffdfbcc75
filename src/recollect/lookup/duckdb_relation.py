"""A relation in DuckDB, which reads the keys as they are: as an Arrow table."""

from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from recollect.errors import MissingExtraError
from recollect.lookup.sql_relation import NUMBER, SqlRelation

try:
    import duckdb
except ImportError:
    raise MissingExtraError(
        "a relation in DuckDB needs its package: pip install 'recollect[duckdb]'"
    ) from None

KEYS = "recollect_keys"


class DuckdbRelation(SqlRelation):
    """A table of a DuckDB file: ``duckdb:///folder/file.db``, with four slashes from the root."""

    outages: ClassVar[tuple[type[Exception], ...]] = (duckdb.Error,)

    def connect(self, url: str) -> Any:
        """See :class:`SqlRelation`."""
        return duckdb.connect(url.removeprefix("duckdb:///"), read_only=True)

    def describe(self, connection: Any) -> pa.Schema:
        """See :class:`SqlRelation`."""
        return connection.sql(f"SELECT * FROM {self.table} LIMIT 0").to_arrow_table().schema

    def ask(self, connection: Any, keys: list[pa.Array]) -> pa.Table:
        """See :class:`SqlRelation`."""
        numbered = {"number": np.arange(len(keys[0]))} | {f"k{i}": k for i, k in enumerate(keys)}
        connection.register(KEYS, pa.table(numbered))
        try:
            return connection.sql(
                f"SELECT k.number AS {NUMBER}{self.selection()}"
                f" FROM {KEYS} k JOIN {self.table} t ON {self.condition()}"
            ).to_arrow_table()
        finally:
            connection.unregister(KEYS)

    def is_mistake(self, error: Exception) -> bool:
        """See :class:`SqlRelation`."""
        return isinstance(error, duckdb.ConversionException | duckdb.BinderException)
