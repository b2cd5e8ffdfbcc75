"""Columns come out plain: dictionaries decoded, views as ordinary text, empty CSV cells NULL."""

import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from recollect.streams import open_source
from recollect.streams.plain import plain_array, plain_type

SYMBOLS = ["x", None, "y", "x"]
ENCODED = pa.table({"symbol": pa.array(SYMBOLS).dictionary_encode(), "time": range(4)})


def write_file(path):
    with pa.ipc.new_file(path, ENCODED.schema) as file:
        file.write_table(ENCODED)


def write_stream(path):
    with pa.ipc.new_stream(path, ENCODED.schema) as stream:
        stream.write_table(ENCODED)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.parquet", lambda path: pq.write_table(ENCODED, path)),
        ("a.arrow", write_file),
        ("a.ipc", write_stream),
    ],
)
@pytest.mark.parametrize("batch_rows", [3, 8_192])
def test_dictionaries_in_files(tmp_path, name, write, batch_rows):
    path = tmp_path / name
    write(str(path))
    source = open_source(path)
    assert source.schema.field("symbol").type == pa.string()
    table = pa.Table.from_batches(source.batches(["symbol"], batch_rows))
    assert table == pa.table({"symbol": SYMBOLS})


ROWS = [[1], None, [], [2, None, 3], [], None]
VIEWS = {
    "view": pa.array(ROWS, pa.list_view(pa.int64())),
    "large": pa.array(ROWS, pa.large_list_view(pa.int16())),
    "out of order": pa.ListViewArray.from_arrays([4, 0, 2, 1], [2, 3, 0, 1], pa.array(range(6))),
    "of views": pa.array([ROWS, None, [], ROWS[1:]], pa.list_(pa.list_view(pa.int64()))),
    "in structs": pa.array(
        [{"v": ["a"]}, None, {"v": None}, {"v": ["b", None]}],
        pa.struct({"v": pa.list_view(pa.string_view())}),
    ),
    "of words": pa.array([["a", "b"], None, ["a"]], pa.list_view(pa.dictionary(pa.int8(), "utf8"))),
}


@pytest.mark.parametrize("array", VIEWS.values(), ids=VIEWS)
def test_views_of_lists(array):
    for start in range(len(array) + 1):
        for stop in range(start, len(array) + 1):
            piece = array[start:stop]
            plain = plain_array(piece)
            plain.validate(full=True)
            assert plain.type == plain_type(array.type)
            assert plain.to_pylist() == piece.to_pylist()


def test_views_of_lists_in_parquet(tmp_path):
    pq.write_table(pa.table({"time": range(6), "value": VIEWS["view"]}), tmp_path / "a.parquet")
    source = open_source(tmp_path / "a.parquet")
    values = [value for batch in source.batches(batch_rows=4) for value in batch["value"]]
    assert [value.as_py() for value in values] == ROWS


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["x", "y"])])
def test_text_of_polars(dtype):
    source = open_source(pl.DataFrame({"symbol": pl.Series(SYMBOLS, dtype=dtype)}))
    (batch,) = source.batches()
    assert batch.schema == source.schema
    assert batch["symbol"].type in (pa.string(), pa.large_string())
    assert batch["symbol"].to_pylist() == SYMBOLS


def test_metadata_is_left_behind():
    frame = pl.DataFrame({"time": [1]}).to_pandas()
    assert open_source(frame).schema.metadata is None


def test_empty_cells_of_csv_are_null_in_every_column(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text('time,symbol,note\n1,,\n,"",\n3,NA,\n')
    (batch,) = open_source(path).batches()
    assert batch["time"].to_pylist() == [1, None, 3]
    assert batch["symbol"].to_pylist() == [None, None, "NA"]
    assert batch["note"].to_pylist() == [None] * 3


def test_a_column_empty_at_first_may_have_text_later(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("time,note\n" + "1,\n" * 500_000 + "2,at last\n")
    last = list(open_source(path).batches(["note"]))[-1]
    assert last["note"].to_pylist()[-2:] == [None, "at last"]
