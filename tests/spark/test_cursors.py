"""Ranges of rows, read in any order, are right, and reading on does not start anew."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InputError
from recollect.spark import replay as cursors
from recollect.spark.replay import read_rows
from recollect.streams import LocalityStream, open_source

STREAM = LocalityStream(150_000, seed=2)
TABLE = STREAM.table()


@pytest.fixture
def opened(monkeypatch):
    """The sources that were opened, with no cursor left by others."""
    opened = []
    monkeypatch.setattr(cursors, "_parked", [])
    monkeypatch.setattr(
        cursors, "open_source", lambda data: opened.append(data) or open_source(data)
    )
    return opened


def read(data, start, stop, columns=("time", "key")):
    return pa.Table.from_batches(read_rows(data, columns, start, stop))


@pytest.mark.compiled
@given(st.lists(st.tuples(st.integers(0, 150_000), st.integers(1, 100_000)), max_size=5))
def test_any_range_in_any_order(ranges):
    for start, length in ranges:
        stop = min(start + length, 150_000)
        if start < stop:
            assert read(STREAM, start, stop).equals(TABLE.slice(start, stop - start))


def test_reading_on_does_not_start_anew(opened):
    for start in range(0, 150_000, 10_000):
        read(STREAM, start, start + 10_000)
    assert len(opened) == 1


def test_two_readers_at_different_places(opened):
    for start in range(0, 50_000, 10_000):
        read(STREAM, start + 50_000, start + 60_000)
        read(STREAM, start, start + 10_000)
    assert len(opened) == 2


def test_a_read_that_was_given_up_leaves_nothing_behind(opened):
    batches = read_rows(STREAM, ["time"], 0, 150_000)
    next(batches)
    batches.close()
    assert read(STREAM, 5, 8, ["time"])["time"].to_pylist() == [5, 6, 7]
    assert len(opened) == 2


def test_a_file_written_anew_is_read_anew(opened, tmp_path):
    path = str(tmp_path / "x.parquet")
    pq.write_table(pa.table({"x": [1, 2, 3]}), path)
    assert read(path, 0, 2, ["x"])["x"].to_pylist() == [1, 2]
    pq.write_table(pa.table({"x": [4, 5, 6, 7]}), path)
    assert read(path, 2, 4, ["x"])["x"].to_pylist() == [6, 7]


def test_a_file_that_got_shorter(tmp_path):
    path = str(tmp_path / "x.parquet")
    pq.write_table(pa.table({"x": [1, 2, 3]}), path)
    with pytest.raises(InputError, match="ends before row 5: it has 3 rows"):
        read(path, 0, 5, ["x"])
    os.unlink(path)
    with pytest.raises(InputError, match="does not exist on the worker"):
        read(path, 0, 2, ["x"])
