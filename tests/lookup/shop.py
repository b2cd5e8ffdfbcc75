"""The tables of a shop, and how to make them in any database."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

GOODS = pa.table(
    {
        "id": pa.array([1, 2, 3, 5, 8, 13]),
        "name": ["pen", "ink", None, "naïve “x”", "", "map"],
        "price": [0.5, 1.25, 3.0, None, 8.0, 13.75],
    }
)
STOCK = pa.table(
    {
        "Shop Name": ["a", "a", "b", "b"],
        "good": pa.array([1, 2, 1, 3]),
        "pieces": pa.array([10, 20, 30, 40]),
        "ratio": [0.1, 0.2, 0.1 + 0.2, 1e-300],
    }
)
TABLES = {"goods": GOODS, 'the "stock"; --': STOCK}


def sql_type(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "bigint"
    return "double precision" if pa.types.is_floating(kind) else "text"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def create_all(execute: Callable[[str], Any]) -> None:
    """Make the tables by SQL that every database understands."""
    for name, table in TABLES.items():
        columns = ", ".join(f"{quoted(f.name)} {sql_type(f.type)}" for f in table.schema)
        execute(f"CREATE TABLE {quoted(name)} ({columns})")
        for row in table.to_pylist():
            values = ", ".join(
                "NULL" if v is None else repr(v) if not isinstance(v, str) else f"'{v}'"
                for v in row.values()
            )
            execute(f"INSERT INTO {quoted(name)} VALUES ({values})")
    execute('CREATE TABLE twice AS SELECT * FROM "goods"')
    execute("INSERT INTO twice VALUES (2, 'ink again', 9)")
    execute("CREATE VIEW cheap AS SELECT id, name FROM goods WHERE price < 2")
