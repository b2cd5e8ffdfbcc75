"""``recollect lookup``: the fields of the contract, the file it writes, and mistakes."""

import json
import sqlite3

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recollect.lookup import lookup
from recollect.lookup.sqlite_relation import SqliteRelation
from tests.cli.command import call, write

CONTRACT = {"tuples_in", "hits", "misses", "hit_rate", "queries"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("lookup")
    write(path, "stream.csv", good=np.random.default_rng(2).integers(0, 40, 500), n=range(500))
    with sqlite3.connect(path / "shop.db") as connection:
        connection.execute("CREATE TABLE goods(id INTEGER PRIMARY KEY, name TEXT)")
        rows = [(i, f"good {i}") for i in range(30)]
        connection.executemany("INSERT INTO goods VALUES (?, ?)", rows)
    connection.close()
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path / "shop.duckdb")) as other:
        other.execute(
            "CREATE TABLE goods AS SELECT i AS id, 'good ' || i AS name FROM range(30) r(i)"
        )
    return path


@pytest.fixture
def command(folder, monkeypatch, capsys):
    return lambda *arguments: call(folder, *arguments, patch=monkeypatch, capture=capsys)


WHERE = ["--on", "good=id", "--table", "goods", "--cache", "10", "--policy", "lru"]


@pytest.mark.parametrize("url", ["sqlite:///shop.db", "duckdb:///shop.db"])
def test_json(command, folder, url):
    url = url.replace("duckdb:///shop.db", "duckdb:///shop.duckdb")
    done = command("lookup", "stream.csv", "--relation", url, *WHERE, "--json")
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    facts = json.loads(done.out)
    assert set(facts) >= CONTRACT
    same = lookup(
        folder / "stream.csv", url, on="good=id", table="goods", cache=10, policy="lru"
    ).stats
    assert [facts[name] for name in ("tuples_in", "hits", "misses", "hit_rate")] == [
        500, same.hits, same.misses, same.hit_rate,
    ]  # fmt: skip
    assert facts["queries"] == 1
    assert facts["not_found"] > 0


def test_the_enriched_rows_are_written(command, folder):
    words = ["--out", "out.parquet", "--how", "inner", "--batch", "100", "--json"]
    done = command("lookup", "stream.csv", "--relation", "sqlite:///shop.db", *WHERE, *words)
    facts = json.loads(done.out)
    table = pq.read_table(folder / "out.parquet")
    assert table.num_rows == facts["results"] == 500 - facts["not_found"]
    assert table.schema.names == ["good", "n", "name"]
    assert all(row["name"] == f"good {row['good']}" for row in table.to_pylist())
    assert facts["queries"] == 5
    (folder / "out.parquet").unlink()


def test_people_get_a_table(command):
    done = command("lookup", "stream.csv", "--relation", "sqlite:///shop.db", *WHERE)
    assert (done.code, done.err) == (0, "")
    assert all(word in done.out for word in ("stream.csv", "goods", "hit rate", "queries"))


def test_a_lost_database_leaves_what_was_joined(command, folder, monkeypatch):
    true_ask, asked = SqliteRelation.ask, iter(range(100))

    def ask(self, connection, keys):
        if next(asked) >= 3:
            raise sqlite3.OperationalError("gone")
        return true_ask(self, connection, keys)

    monkeypatch.setattr(SqliteRelation, "ask", ask)
    words = ["--retries", "1", "--batch", "100", "--out", "part.parquet"]
    done = command("lookup", "stream.csv", "--relation", "sqlite:///shop.db", *WHERE, *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "gone (2 attempts in" in done.err
    assert "300 rows of the stream had been joined and are in part.parquet" in done.err
    assert pq.read_table(folder / "part.parquet")["n"].to_pylist() == list(range(300))
    (folder / "part.parquet").unlink()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--relation", "sqlite:///no.db"], "unable to open database file"),
        (["--relation", "sqlite:///shop.db", "--table", "bads"], "no such table: bads"),
        (["--relation", "sqlite:///shop.db", "--on", "good=no"], "has no column 'no'"),
        (["--relation", "sqlite:///shop.db", "--cache", "0"], "cache must be a whole number"),
        (["--relation", "sqlite:///shop.db", "--cache", str(10**20)], "cache must be a whole"),
        (["--relation", "sqlite:///shop.db", "--batch", str(10**20)], "--batch"),
        (["--relation", "sqlite:///shop.db", "--out", "stream.csv"], "stream.csv is an input"),
        (["--relation", "ftp://shop"], "ftp://shop is not the URL of a database"),
    ],
)
def test_mistakes_are_one_line(command, words, message):
    done = command("lookup", "stream.csv", *WHERE, *words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err


def test_a_relation_may_be_a_file(command, folder):
    pq.write_table(pa.table({"id": range(30), "name": ["x"] * 30}), folder / "goods.parquet")
    words = ["--on", "good=id", "--cache", "10", "--policy", "sieve", "--json"]
    done = command("lookup", "stream.csv", "--relation", "goods.parquet", *words)
    assert json.loads(done.out)["misses"] > 0
