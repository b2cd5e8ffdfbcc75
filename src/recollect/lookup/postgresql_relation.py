"""A relation in PostgreSQL, by its Arrow driver (ADBC). Keys go into the query as arrays."""

from typing import Any, ClassVar

import pyarrow as pa

from recollect.errors import MissingExtraError
from recollect.lookup.sql_relation import NUMBER, SqlRelation

try:
    from adbc_driver_postgresql import dbapi
except ImportError:
    raise MissingExtraError(
        "a relation in PostgreSQL needs its Arrow driver: pip install 'recollect[postgres]'"
    ) from None


UNDEFINED_OPERATOR = "42883"
"""PostgreSQL's code for a comparison that it does not know."""


class PostgresqlRelation(SqlRelation):
    """A table or view of a PostgreSQL database: ``postgresql://user@host:5432/database``.

    Values of types that Arrow lacks, such as ``numeric``, come as text.
    """

    outages: ClassVar[tuple[type[Exception], ...]] = (dbapi.Error,)

    def connect(self, url: str) -> Any:
        """See :class:`SqlRelation`."""
        return dbapi.connect(url, autocommit=True)

    def describe(self, connection: Any) -> pa.Schema:
        """See :class:`SqlRelation`."""
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self.table} LIMIT 0")
            return cursor.fetch_arrow_table().schema

    def ask(self, connection: Any, keys: list[pa.Array]) -> pa.Table:
        """See :class:`SqlRelation`."""
        arrays = [pa.ListArray.from_arrays([0, len(key)], key) for key in keys]
        marks = ", ".join(f"${i + 1}" for i in range(len(keys)))
        columns = "".join(f"k{i}, " for i in range(len(keys)))
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT k.number - 1 AS {NUMBER}{self.selection()}"
                f" FROM unnest({marks}) WITH ORDINALITY k({columns}number)"
                f" JOIN {self.table} t ON {self.condition()}",
                parameters=pa.record_batch(arrays, names=[str(i) for i in range(len(keys))]),
            )
            return cursor.fetch_arrow_table()

    def is_mistake(self, error: Exception) -> bool:
        """See :class:`SqlRelation`."""
        return getattr(error, "sqlstate", None) == UNDEFINED_OPERATOR
