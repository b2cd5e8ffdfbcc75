"""A relation in SQLite, by Python's own driver. Keys go into a temporary table."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

import pyarrow as pa

from recollect.errors import InputError
from recollect.lookup.sql_relation import NUMBER, SqlRelation, quoted

KEYS = "temp.recollect_keys"
AFFINITIES = (
    (("INT",), pa.int64()),
    (("CHAR", "CLOB", "TEXT", "DATE", "TIME"), pa.string()),
    (("BLOB",), pa.binary()),
    (("REAL", "FLOA", "DOUB", "NUM", "DEC"), pa.float64()),
    (("BOOL",), pa.int64()),
)
"""What a declared type contains, and how such a column is read."""
BY_VALUE = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string(), "blob": pa.binary()}


class SqliteRelation(SqlRelation):
    """A table of an SQLite file: ``sqlite:///folder/file.db``, with four slashes from the root.

    SQLite does not enforce the types of columns. A column has the type it was declared with, dates
    and times are text; without a declaration it has the type of its first value.
    """

    outages: ClassVar[tuple[type[Exception], ...]] = (sqlite3.Error,)

    def connect(self, url: str) -> sqlite3.Connection:
        """See :class:`SqlRelation`."""
        path = Path(url.removeprefix("sqlite:///")).absolute()
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?mode=ro", uri=True, timeout=1, check_same_thread=False
        )
        columns = "".join(f", k{i}" for i in range(len(self.keys)))
        connection.execute(f"CREATE TABLE {KEYS}(number INTEGER PRIMARY KEY{columns})")
        return connection

    def describe(self, connection: sqlite3.Connection) -> pa.Schema:
        """See :class:`SqlRelation`."""
        names = [line[0] for line in connection.execute(f"SELECT * FROM {self.table}").description]
        schema, _, table = self.table.rpartition(".")
        pragma = f"{schema}{'.' if schema else ''}table_info({table})"
        declared = {line[1]: line[2].upper() for line in connection.execute(f"PRAGMA {pragma}")}
        return pa.schema(
            [(name, self._type(connection, name, declared.get(name, ""))) for name in names]
        )

    def _type(self, connection: sqlite3.Connection, name: str, declared: str) -> pa.DataType:
        for words, kind in AFFINITIES:
            if any(word in declared for word in words):
                return kind
        column = quoted(name)
        found = connection.execute(
            f"SELECT typeof({column}) FROM {self.table} WHERE {column} IS NOT NULL LIMIT 1"
        ).fetchone()
        return BY_VALUE[found[0]] if found else pa.string()

    def condition(self, alias: str = "t") -> str:
        """See :class:`SqlRelation`.

        The plus makes a key an expression, to which SQLite applies the type of the table's column,
        as to a value in a query: the number 1 finds the text '1' in a column of text.
        """
        return self._equal(alias, "+k.k{}")

    def ask(self, connection: sqlite3.Connection, keys: list[pa.Array]) -> pa.Table:
        """See :class:`SqlRelation`."""
        marks = ", ?" * len(keys)
        values = zip(*(_python_values(key) for key in keys), strict=True)
        with connection:
            connection.execute(f"DELETE FROM {KEYS}")
            connection.executemany(
                f"INSERT INTO {KEYS} VALUES (?{marks})",
                ((number, *key) for number, key in enumerate(values)),
            )
        # CROSS JOIN: go through the keys, however large SQLite thinks their table is.
        rows = connection.execute(
            f"SELECT k.number{self.selection()} FROM {KEYS} k CROSS JOIN {self.table} t"
            f" ON {self.condition()}"
        ).fetchall()
        schema = pa.schema([(NUMBER, pa.int64()), *self.schema])
        columns: Sequence[Sequence[Any]] = (
            list(zip(*rows, strict=True)) if rows else [[] for _ in schema]
        )
        return pa.table(
            [self._array(values, field) for values, field in zip(columns, schema, strict=True)],
            schema=schema,
        )

    def _array(self, values: Sequence[Any], field: pa.Field) -> pa.Array:
        try:
            return pa.array(values, field.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise InputError(
                f"column {field.name!r} of {self.name} is read as {field.type}, which not all of"
                f" its values are: {error}"
            ) from None


def _python_values(key: pa.Array) -> list[Any]:
    """The values of a key column as SQLite takes them."""
    kind = key.type
    if pa.types.is_date(kind):
        return key.cast(pa.string()).to_pylist()  # SQLite has no dates, only their ISO text
    if pa.types.is_boolean(kind):
        key = key.cast(pa.int8())
    elif pa.types.is_uint64(kind):
        try:
            key = key.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise InputError(f"a key is too large for SQLite: {error}") from None
    elif not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    ):
        raise InputError(f"a key of type {kind} cannot be looked up in SQLite; cast it to text")
    return key.to_pylist()
