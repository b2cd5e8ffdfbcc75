"""Where the rows are: a database by its URL, or a table, frame or file that fits into memory."""

from collections.abc import Sequence
from typing import Any

from recollect.errors import InputError
from recollect.lookup.arrow_relation import ArrowRelation
from recollect.lookup.outage import Patience
from recollect.lookup.relation import Relation
from recollect.lookup.sql_relation import without_password

URLS = "sqlite:///file.db, duckdb:///file.db or postgresql://user@host/database"


def open_relation(
    relation: Any, table: str | None, keys: Sequence[str], patience: Patience | None = None
) -> Relation:
    """Open a relation, without reading rows of a database.

    Parameters
    ----------
    relation
        The URL of a database; or whatever :func:`recollect.streams.open_source` reads, which is
        then read as a whole; or a relation, which is taken as it is.
    table
        The table of the database.
    keys
        The key columns of the relation.
    patience
        What to do when the database goes away.
    """
    if isinstance(relation, Relation):
        return relation
    if not isinstance(relation, str) or "://" not in relation:
        if table is not None:
            raise InputError(f"table={table!r}: only a database has tables; give its URL: {URLS}")
        return ArrowRelation(relation, keys)
    if not table:
        raise InputError(f"{without_password(relation)}: which table? Give its name")
    # A driver is loaded when it is needed.
    if relation.startswith("sqlite:///"):
        from recollect.lookup.sqlite_relation import SqliteRelation

        return SqliteRelation(relation, table, keys, patience)
    if relation.startswith("duckdb:///"):
        from recollect.lookup.duckdb_relation import DuckdbRelation

        return DuckdbRelation(relation, table, keys, patience)
    if relation.startswith(("postgresql://", "postgres://")):
        from recollect.lookup.postgresql_relation import PostgresqlRelation

        return PostgresqlRelation(relation, table, keys, patience)
    raise InputError(f"{without_password(relation)} is not the URL of a database; give {URLS}")
