"""Everything that speaks Arrow is a source: tables, frames, relations, generators, readers."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from recollect.errors import InputError
from recollect.streams import ZipfStream, open_source

TABLE = pa.table({"time": pa.array(range(100)), "symbol": ["a", "b"] * 50})
OBJECTS = {
    "table": lambda: TABLE,
    "batch": lambda: TABLE.combine_chunks().to_batches()[0],
    "pandas": lambda: TABLE.to_pandas(),
    "polars": lambda: pl.from_arrow(TABLE),
    "duckdb": lambda: duckdb.from_arrow(TABLE),
}


class OnlyOnce:
    """An exporter without a length, as database cursors are."""

    def __init__(self):
        self.reader = TABLE.to_reader()

    def __arrow_c_stream__(self, requested_schema=None):
        return self.reader.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
def test_objects_can_be_read_again_and_again(make):
    source = open_source(make())
    assert source.replayable
    for _ in range(2):
        batches = list(source.batches(columns=["symbol", "time"], batch_rows=30))
        assert pa.Table.from_batches(batches).to_pylist() == [
            {"symbol": row["symbol"], "time": row["time"]} for row in TABLE.to_pylist()
        ]
        assert max(batch.num_rows for batch in batches) <= 30


@pytest.mark.parametrize("make", [TABLE.to_reader, OnlyOnce], ids=["reader", "exporter"])
def test_a_stream_can_be_read_once(make):
    source = open_source(make())
    assert source.schema == TABLE.schema
    assert not source.replayable
    with pytest.raises(InputError, match="no column 'price'"):
        source.batches(columns=["price"])
    assert pa.Table.from_batches(source.batches()) == TABLE
    with pytest.raises(InputError, match="can be read only once, and has been"):
        source.batches()


def test_generators_replay():
    stream = ZipfStream(tuples=20_000)
    source = open_source(stream)
    assert source.schema == stream.schema
    for _ in range(2):
        assert pa.Table.from_batches(source.batches()) == stream.table()


def test_an_empty_table_is_a_source_without_batches():
    source = open_source(TABLE.slice(0, 0))
    assert source.schema == TABLE.schema
    assert list(source.batches()) == []


def test_pandas_index_counts_if_it_has_a_name():
    frame = TABLE.to_pandas()
    assert open_source(frame[frame["time"] > 50]).schema.names == ["time", "symbol"]
    assert "time" in open_source(frame.set_index("time")).schema.names


@pytest.mark.parametrize("data", [42, None, [1, 2], {"a": [1]}, pl.Series([1]), object()])
def test_other_objects_are_refused(data):
    with pytest.raises(InputError, match=type(data).__name__):
        open_source(data)


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame({"a": [1, "x"]}), pd.DataFrame([[1, 2]], columns=["a", "a"])],
    ids=["mixed types", "same name twice"],
)
def test_frames_that_do_not_fit_into_arrow(frame):
    with pytest.raises(InputError, match=r"^DataFrame does not fit into an Arrow table: .*a"):
        open_source(frame)
