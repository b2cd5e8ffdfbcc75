"""A database that goes away: asked again, then reported, and nothing joined before is lost."""

import pickle
import sqlite3
import threading
import time

import numpy as np
import pyarrow as pa
import pytest

from recollect.lookup import Lookup, RelationLostError, lookup, outage
from recollect.lookup.outage import Patience
from recollect.lookup.sqlite_relation import SqliteRelation
from recollect.lookup.whole import WholeLookup

STREAM = pa.table({"id": np.arange(40) % 14, "n": np.arange(40)})
WORDS = {"on": "id", "table": "goods", "cache": 3, "policy": "lru"}
BATCH = {"batch_rows": 10}


@pytest.fixture
def quick(monkeypatch):
    """No wait between attempts; how long they would have been."""
    waits: list[float] = []
    monkeypatch.setattr(outage.time, "sleep", waits.append)
    return waits


@pytest.fixture
def failing(monkeypatch):
    """Makes some of the queries to SQLite fail, by their numbers."""

    def fail(numbers):
        true_ask, asked = SqliteRelation.ask, iter(range(10**6))

        def ask(self, connection, keys):
            if next(asked) in numbers:
                raise sqlite3.OperationalError("disk I/O error\nand more")
            return true_ask(self, connection, keys)

        monkeypatch.setattr(SqliteRelation, "ask", ask)

    return fail


def test_it_is_asked_again(sqlite, quick, failing):
    expected = lookup(STREAM, sqlite.url, **WORDS, **BATCH)
    failing({0, 2, 3, 4, 6})
    answer = lookup(STREAM, sqlite.url, **WORDS, **BATCH)
    assert answer.table == expected.table
    assert (answer.stats.hits, answer.stats.queries) == (expected.stats.hits, 4)
    assert quick == [0.1, 0.1, 0.2, 0.4, 0.1]


def test_it_is_given_up_and_what_was_joined_stays(sqlite, quick, failing):
    failing(range(2, 100))
    run = WholeLookup(STREAM, sqlite.url, retries=3, **WORDS, **BATCH)
    rows: list[dict] = []
    with pytest.raises(RelationLostError) as lost:
        rows.extend(row for batch in run for row in batch.to_pylist())
    assert len(rows) == lost.value.rows_done == run.stats.tuples_in == 20
    assert quick == [0.1, 0.2, 0.4]
    message = str(lost.value)
    assert message.startswith(f"table 'goods' of {sqlite.url} cannot be reached any more: disk I/O")
    assert message.endswith("4 attempts in 0.0 s); 20 rows of the stream had been joined")
    assert str(pickle.loads(pickle.dumps(lost.value))) == message


@pytest.mark.parametrize("policy", ["lru", "s3-fifo", "sieve"])
def test_the_same_batch_can_be_fed_again(sqlite, quick, failing, policy):
    """What the lost batch would have cached is not taken for cached when it comes back."""
    failing({2})
    run = Lookup(sqlite.url, retries=0, **(WORDS | {"policy": policy, "cache": 12}))
    rows = []
    for batch in STREAM.to_batches(max_chunksize=10):
        if len(rows) == 20:
            with pytest.raises(RelationLostError, match="20 rows of the stream"):
                run.feed(batch)
        rows += run.feed(batch).to_pylist()
    assert rows == lookup(STREAM, sqlite.url, **WORDS).table.to_pylist()
    assert run.stats.hits + run.stats.misses == run.stats.tuples_in == 40


def test_other_mistakes_are_not_repeated(quick):
    def ask():
        raise KeyError("k")

    with pytest.raises(KeyError):
        Patience().until(ask, (OSError,), "db", lambda: None)
    assert quick == []


def test_a_locked_file_is_waited_for(tmp_path):
    path = tmp_path / "locked.db"
    owner = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    owner.execute("CREATE TABLE goods(id INTEGER PRIMARY KEY, name TEXT)")
    owner.execute("INSERT INTO goods VALUES (1, 'pen')")
    run = Lookup(f"sqlite:///{path}", **WORDS)
    run.feed(pa.record_batch({"id": [1]}))
    owner.execute("BEGIN EXCLUSIVE")
    threading.Timer(1.3, lambda: owner.execute("COMMIT")).start()
    started = time.monotonic()
    assert run.feed(pa.record_batch({"id": [2, 1]}))["name"].to_pylist() == [None, "pen"]
    assert time.monotonic() - started > 0.5
    owner.close()


@pytest.mark.xdist_group("postgresql")
def test_a_server_that_restarts(postgresql):
    expected = lookup(STREAM, postgresql.url, **WORDS, **BATCH)

    def stream():
        for number, batch in enumerate(STREAM.to_batches(max_chunksize=10)):
            if number == 2:
                postgresql.server.stop()
                threading.Timer(0.3, postgresql.server.ensure_postgres_running).start()
            yield batch

    reader = pa.RecordBatchReader.from_batches(STREAM.schema, stream())
    answer = lookup(reader, postgresql.url, retries=9, **WORDS, **BATCH)
    assert answer.table == expected.table
    assert answer.stats.hits == expected.stats.hits


@pytest.mark.xdist_group("postgresql")
def test_a_server_that_does_not_come_back(postgresql):
    run = Lookup(postgresql.url, retries=2, **WORDS)
    first, second, *_ = STREAM.to_batches(max_chunksize=10)
    assert run.feed(first).num_rows == 10
    postgresql.server.stop()
    try:
        with pytest.raises(RelationLostError, match=r"3 attempts in .* 10 rows of the stream"):
            run.feed(second)
    finally:
        postgresql.server.ensure_postgres_running()
    assert run.feed(second).num_rows == 10
    run.close()
