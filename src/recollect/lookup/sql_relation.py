"""A relation in a database: one query per batch of keys, asked again if the database goes away.

What the databases share is here; a file per database says how to connect, and how many keys get
into a query. The query numbers the keys and brings the numbers back, so that the database compares
the keys, by its own rules, and nobody has to do it again.
"""

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from recollect.errors import InputError
from recollect.lookup.outage import Patience, one_line
from recollect.lookup.relation import Fetched, Relation, require_unique, split_schema
from recollect.streams.plain import plain_array, plain_schema

NUMBER = "recollect_number"
"""The column in which the numbers of keys come back."""


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever it contains.

    >>> print(quoted('an "odd" name'))
    "an ""odd"" name"
    """
    return '"' + name.replace('"', '""') + '"'


def quoted_table(name: str) -> str:
    """The name of a table, perhaps with its schema before a dot.

    >>> quoted_table("sales.goods")
    '"sales"."goods"'
    """
    return ".".join(quoted(part) for part in name.split("."))


class SqlRelation(Relation):
    """A table or view of a database.

    Parameters
    ----------
    url
        Where the database is.
    table
        The table, perhaps with its schema before a dot.
    keys
        Its key columns.
    patience
        What to do when the database goes away.
    """

    outages: ClassVar[tuple[type[Exception], ...]]
    """The errors of the driver."""

    def __init__(
        self, url: str, table: str, keys: Sequence[str], patience: Patience | None = None
    ) -> None:
        self._url = url
        self._patience = patience or Patience()
        self._connection: Any = None
        self.name = f"table {table!r} of {without_password(url)}"
        self.table, self.keys = quoted_table(table), list(keys)
        try:
            self._connection = self.connect(url)
            described = self.describe(self._connection)
        except self.outages as error:
            self.close()
            raise InputError(f"{self.name} cannot be read: {one_line(error)}") from error
        self.schema = plain_schema(split_schema(self.name, _unwrapped_schema(described), keys))

    @abstractmethod
    def connect(self, url: str) -> Any:
        """Connect to the database."""

    @abstractmethod
    def describe(self, connection: Any) -> pa.Schema:
        """The columns of the table."""

    @abstractmethod
    def ask(self, connection: Any, keys: list[pa.Array]) -> pa.Table:
        """The rows of some keys: the numbers of the keys, from 0, then the columns."""

    def is_mistake(self, error: Exception) -> bool:
        """Whether an error says that such keys cannot be compared, so that it will not pass."""
        return False

    def fetch(self, keys: list[pa.Array]) -> Fetched:
        """See :class:`Relation`."""

        def ask() -> pa.Table:
            if self._connection is None:
                self._connection = self.connect(self._url)
            try:
                return self.ask(self._connection, keys)
            except self.outages as error:
                if self.is_mistake(error):
                    raise InputError(f"{self.name}: {one_line(error)}") from error
                raise

        table = self._patience.until(ask, self.outages, self.name, self.close).combine_chunks()
        places = table.column(0).to_numpy().astype(np.int64)
        columns = [plain_array(_unwrapped(_chunk(column))) for column in table.columns[1:]]
        require_unique(self.name, keys, places)
        return Fetched(places, _conformed(columns, self.schema, self.name))

    def close(self) -> None:
        """See :class:`Relation`."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(*self.outages):  # it may be gone already
                connection.close()

    def selection(self, alias: str = "t") -> str:
        """The columns of a row, as a query lists them."""
        return "".join(f", {alias}.{quoted(name)}" for name in self.schema.names)

    def condition(self, alias: str = "t") -> str:
        """That a row has the key ``k.k0``, ``k.k1``, …"""
        return self._equal(alias, "k.k{}")

    def _equal(self, alias: str, asked: str) -> str:
        keys = enumerate(self.keys)
        return " AND ".join(f"{alias}.{quoted(key)} = {asked.format(i)}" for i, key in keys)


def without_password(url: str) -> str:
    """A URL that may be shown.

    >>> without_password("postgresql://me:secret@db.example/shop")
    'postgresql://me@db.example/shop'
    """
    scheme, mark, rest = url.partition("://")
    login, at, place = rest.rpartition("@")
    return scheme + mark + login.partition(":")[0] + at + place


def _unwrapped_schema(schema: pa.Schema) -> pa.Schema:
    """The columns as they are stored, for types that only their database knows."""
    return pa.schema(
        [
            (f.name, f.type.storage_type if isinstance(f.type, pa.BaseExtensionType) else f.type)
            for f in schema
        ]
    )


def _unwrapped(array: pa.Array) -> pa.Array:
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def _chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def _conformed(columns: list[pa.Array], schema: pa.Schema, name: str) -> pa.RecordBatch:
    """The columns in the types that the table had when it was opened."""
    try:
        typed = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip(columns, schema, strict=True)
        ]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{name} has changed its columns: {one_line(error)}") from error
    return pa.RecordBatch.from_arrays(typed, schema=schema)
