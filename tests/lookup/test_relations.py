"""Every kind of relation gives the same rows, and says clearly what it cannot give."""

import json
import sqlite3

import pyarrow as pa
import pytest

from recollect.errors import InputError
from recollect.lookup import lookup
from recollect.lookup.open_relation import open_relation
from tests.cli.command import call, write
from tests.lookup.conftest import POSTGRESQL
from tests.lookup.shop import GOODS, TABLES

STOCK_TABLE = next(name for name in TABLES if name != "goods")


def rows_of(relation, *keys):
    """What is fetched, by the number of the key."""
    fetched = relation.fetch([key if isinstance(key, pa.Array) else pa.array(key) for key in keys])
    assert fetched.rows.schema == relation.schema
    return dict(zip(fetched.places.tolist(), fetched.rows.to_pylist(), strict=True))


@pytest.fixture(params=["sqlite", "duckdb", POSTGRESQL, "memory"])
def opened(request):
    """Opens a table where it is."""
    if request.param == "memory":
        return lambda table, keys: open_relation(TABLES[table], None, keys)
    place = request.getfixturevalue(request.param)
    return lambda table, keys: open_relation(place.url, table, keys)


@pytest.mark.parametrize("kind", [pa.int64(), pa.int32(), pa.uint8(), pa.float64()])
def test_rows_by_number(opened, kind):
    relation = opened("goods", ["id"])
    keys = pa.array([5, 4, 13, 3], kind)
    expected = {row.pop("id"): row for row in GOODS.to_pylist()}
    assert rows_of(relation, keys) == {0: expected[5], 2: expected[13], 3: expected[3]}
    assert rows_of(relation, pa.array([77], kind)) == {}
    assert relation.schema == GOODS.schema.remove(0)
    relation.close()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_rows_by_text(opened, kind):
    relation = opened("goods", ["name"])
    keys = pa.array(["ink", "naïve “x”", "x' OR '1'='1", "", "Ink"], kind)
    assert rows_of(relation, keys) == {
        0: {"id": 2, "price": 1.25},
        1: {"id": 5, "price": None},
        3: {"id": 8, "price": 8.0},
    }


def test_rows_by_fraction(opened):
    relation = opened(STOCK_TABLE, ["ratio"])
    found = rows_of(relation, [0.3, 0.1 + 0.2, 1e-300, -0.0])
    assert {place: row["pieces"] for place, row in found.items()} == {1: 30, 2: 40}


def test_rows_by_two_columns_with_odd_names(opened):
    relation = opened(STOCK_TABLE, ["Shop Name", "good"])
    found = rows_of(relation, ["b", "a", "b"], [1, 3, 3])
    assert found == {0: {"pieces": 30, "ratio": 0.1 + 0.2}, 2: {"pieces": 40, "ratio": 1e-300}}


def test_many_keys_in_one_query(opened):
    assert set(rows_of(opened("goods", ["id"]), list(range(40_000)))) == set(
        GOODS["id"].to_pylist()
    )


def test_a_column_that_is_not_there(opened):
    with pytest.raises(InputError, match=r"has no column 'ID no'; it has 'id', 'name', 'price'"):
        opened("goods", ["ID no"])


def test_views_and_keys_that_are_not_unique(place):
    assert rows_of(open_relation(place.url, "cheap", ["id"]), [1, 3]) == {0: {"name": "pen"}}
    twice = open_relation(place.url, "twice", ["id"])
    assert set(rows_of(twice, [1, 3])) == {0, 1}
    with pytest.raises(InputError, match=r"'twice'.* has 2 rows for the key 2; a lookup needs"):
        twice.fetch([pa.array([1, 2])])


def test_a_table_that_is_not_there(place):
    with pytest.raises(InputError, match=r"table 'bads' of .* cannot be read: .*bads"):
        open_relation(place.url, "bads", ["id"])


def test_the_whole_way(place):
    stream = pa.table({"good": [2, 7, 2, None, 1], "n": range(5)})
    answer = lookup(stream, place.url, table="goods", on="good=id", cache=2, policy="lru")
    assert answer.table["name"].to_pylist() == ["ink", None, "ink", None, "pen"]
    assert answer.table.schema.names == ["good", "n", "name", "price"]
    assert (answer.stats.hits, answer.stats.misses, answer.stats.queries) == (1, 3, 1)


def test_the_command(place, tmp_path, monkeypatch, capsys):
    write(tmp_path, "stream.csv", good=[2, 7, 2, 1, 7])
    words = ["--on", "good=id", "--relation", place.url, "--table", "goods", "--cache", "2"]
    done = call(
        tmp_path, "lookup", "stream.csv", *words, "--policy", "lru", "--json",
        patch=monkeypatch, capture=capsys,
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    facts = json.loads(done.out)
    names = ("tuples_in", "hits", "misses", "hit_rate", "queries")
    assert [facts[name] for name in names] == [5, 1, 4, 0.2, 1]


@pytest.mark.parametrize("name", ["duckdb", POSTGRESQL])
def test_keys_of_another_kind_are_no_outage(request, name):
    place = request.getfixturevalue(name)
    with pytest.raises(InputError, match=r"^table 'goods' of .*(BIGINT|bigint|integer)"):
        open_relation(place.url, "goods", ["id"]).fetch([pa.array([0]).cast(pa.timestamp("us"))])


@pytest.mark.parametrize(
    ("relation", "table", "message"),
    [
        ("sqlite:////nowhere/x.db", "t", r"table 't' of sqlite:////nowhere/x.db cannot be read"),
        ("duckdb:////nowhere/x.db", "t", r"cannot be read: .*/nowhere/x.db"),
        ("postgresql://me:secret@127.0.0.1:1/x", "t", r"'t' of postgresql://me@127.0.0.1:1/x cann"),
        ("mysql://me:secret@host/x", "t", r"^mysql://me@host/x is not the URL of a database; give"),
        ("sqlite:///x.db", None, r"which table\?"),
        (GOODS, "goods", r"only a database has tables"),
        ("goods.parquet", None, r"goods.parquet does not exist"),
    ],
)
def test_places_that_are_not_there(relation, table, message):
    if isinstance(relation, str):
        pytest.importorskip("adbc_driver_postgresql")
    with pytest.raises(InputError, match=message):
        open_relation(relation, table, ["id"])


def test_in_memory_keys_must_be_unique_and_comparable():
    relation = open_relation(pa.table({"k": ["x", None, "y", "x"], "v": range(4)}), None, ["k"])
    assert rows_of(relation, ["y", "z"]) == {0: {"v": 2}}
    with pytest.raises(InputError, match="has 2 rows for the key 'x'"):
        relation.fetch([pa.array(["x"])])
    with pytest.raises(InputError, match="cannot be compared"):
        relation.fetch([pa.array([1.5])])


def test_sqlite_compares_numbers_with_text_by_its_own_rules(tmp_path):
    with sqlite3.connect(tmp_path / "text.db") as connection:
        connection.execute("CREATE TABLE t(k TEXT, name TEXT)")
        connection.execute("INSERT INTO t VALUES ('1', 'one'), ('2', 'two')")
    connection.close()
    relation = open_relation(f"sqlite:///{tmp_path / 'text.db'}", "t", ["k"])
    assert rows_of(relation, pa.array([2, 3])) == {0: {"name": "two"}}


def test_sqlite_columns_without_honest_types(tmp_path):
    path = tmp_path / "odd.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t(k DATE, a, b INTEGER, c BLOB, d, e DECIMAL(5,2))")
        connection.execute("INSERT INTO t VALUES ('2020-02-29', 1.5, 7, x'00ff', NULL, 2.25)")
        connection.execute("INSERT INTO t VALUES ('2020-03-01', 2.5, 'seven', NULL, NULL, NULL)")
    connection.close()
    relation = open_relation(f"sqlite:///{path}", "t", ["k"])
    day = pa.array(["2020-02-29"]).cast(pa.date32())
    row = {"a": 1.5, "b": 7, "c": b"\x00\xff", "d": None, "e": 2.25}
    assert rows_of(relation, day) == {0: row}
    with pytest.raises(InputError, match=r"column 'b' of table 't' .* is read as int64"):
        relation.fetch([pa.array(["2020-03-01"])])
    with pytest.raises(InputError, match=r"timestamp\[us\] cannot be looked up in SQLite"):
        relation.fetch([pa.array([0], pa.timestamp("us"))])
    with pytest.raises(InputError, match=r"too large for SQLite: .*18446744073709551615"):
        relation.fetch([pa.array([2**64 - 1], pa.uint64())])
