"""A file that cannot be read is an InputError of one line that names the file."""

import gzip
import os

import pyarrow as pa
import pytest

from recollect.errors import InputError
from recollect.streams import ZipfStream, open_sink, open_source
from recollect.streams.formats import ENDINGS

NOISE = b"\xff\xfe\x00,\n" + bytes(range(256)) * 20


def complaint(path, **options):
    with pytest.raises(InputError) as caught:
        list(open_source(path).batches(**options))
    message = str(caught.value)
    assert str(path) in message
    assert len(message.splitlines()) == 1
    return message


def written(path, tuples=200_000):
    stream = ZipfStream(tuples)
    with open_sink(path, stream.schema) as sink:
        for batch in stream.batches():
            sink.write(batch)
    return path


def test_not_found_folder_and_unknown_ending(tmp_path):
    assert "does not exist" in complaint(tmp_path / "nothing.csv")
    assert "is a folder" in complaint(tmp_path)
    (tmp_path / "trades.xlsx").write_bytes(b"x")
    message = complaint(tmp_path / "trades.xlsx")
    assert all(ending in message for ending in ENDINGS)


@pytest.mark.parametrize("ending", ENDINGS)
def test_zero_bytes(tmp_path, ending):
    path = tmp_path / f"empty{ending}"
    path.touch()
    assert "has no rows" in complaint(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_rows(tmp_path, ending):
    assert "has no rows" in complaint(written(tmp_path / f"empty{ending}", tuples=0))


@pytest.mark.parametrize("text", ["\n\n", "  \n"])
def test_json_of_blank_lines_has_no_rows(tmp_path, text):
    (tmp_path / "blank.jsonl").write_text(text)
    assert "has no rows" in complaint(tmp_path / "blank.jsonl")


@pytest.mark.parametrize("ending", ENDINGS)
def test_noise(tmp_path, ending):
    path = tmp_path / f"noise{ending}"
    path.write_bytes(NOISE)
    complaint(path)


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".jsonl", ".csv.gz"])
def test_cut_in_half(tmp_path, ending):
    path = written(tmp_path / f"cut{ending}")
    # One byte more than half, lest the cut falls between two lines.
    os.truncate(path, path.stat().st_size // 2 | 1)
    assert "cannot be read as" in complaint(path)


def test_ipc_stream_cut_in_half(tmp_path):
    path = tmp_path / "cut.arrow"
    table = ZipfStream(200_000).table()
    with pa.ipc.new_stream(str(path), table.schema) as stream:
        stream.write_table(table)
    os.truncate(path, path.stat().st_size // 2)
    assert "cannot be read as Arrow IPC" in complaint(path)


def test_damaged_pages_of_parquet(tmp_path):
    path = written(tmp_path / "damaged.parquet")
    data = bytearray(path.read_bytes())
    data[1000 : len(data) // 2] = b"\xaa" * (len(data) // 2 - 1000)
    path.write_bytes(data)
    assert "cannot be read as Parquet" in complaint(path)


DAMAGED = {
    "text": (pa.array(["one", "two", "three"] * 9), lambda array: array.buffers()[1], 4 * 5 + 3),
    "list": (pa.array([[1], [2, 3]] * 9), lambda array: array.buffers()[1], 4 * 5 + 3),
    "word": (pa.array(["a", "b"] * 9).dictionary_encode(), lambda a: a.indices.buffers()[1], 7),
}


@pytest.mark.parametrize(("array", "buffer", "byte"), DAMAGED.values(), ids=DAMAGED)
def test_one_damaged_byte_of_ipc(tmp_path, array, buffer, byte):
    path = tmp_path / "damaged.arrow"
    table = pa.table({"time": range(len(array)), "value": array})
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)
    data = bytearray(path.read_bytes())
    at = data.index(buffer(array).to_pybytes()[: 4 * len(array)])
    data[at + byte] ^= 0x40
    path.write_bytes(data)
    assert "cannot be read as Arrow IPC" in complaint(path)
    assert len(list(open_source(path).batches(["time"]))) == 1


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("late.csv", "time\n" + "12345\n" * 300_000 + "noon\n", "invalid value 'noon'"),
        ("late.jsonl", '{"time": 1}\n' * 200_000 + '{"time": "noon"}\n', "number to string"),
        ("late.tsv", "a\tb\n" + "1\t2\n" * 300_000 + "1\n", "Expected 2 columns, got 1"),
    ],
)
def test_a_later_block_of_another_type(tmp_path, name, text, reason):
    (tmp_path / name).write_text(text)
    assert reason in complaint(tmp_path / name)


def test_text_that_is_not_utf8(tmp_path):
    path = tmp_path / "latin.csv.gz"
    path.write_bytes(gzip.compress("time,name\n1,José\n".encode("latin-1")))
    assert "column 'name' is not UTF-8 text" in complaint(path)
    path.write_bytes(gzip.compress("time,prénom\n1,2\n".encode("latin-1")))
    assert "'utf-8' codec can't decode" in complaint(path)


def test_missing_and_ambiguous_columns(tmp_path):
    path = written(tmp_path / "a.parquet", tuples=5)
    assert "has no column 'symbol'; it has 'time', 'key'" in complaint(path, columns=["symbol"])
    assert "no columns to read" in complaint(path, columns=[])
    (tmp_path / "twice.csv").write_text("a,a,b\n1,2,3\n")
    assert "has 2 columns called 'a'" in complaint(tmp_path / "twice.csv")
    assert [b["b"].to_pylist() for b in open_source(tmp_path / "twice.csv").batches(["b"])] == [[3]]


def test_missing_columns_are_noticed_before_reading():
    with pytest.raises(InputError, match="Table has no column 'x'; it has none at all"):
        open_source(pa.table({})).batches(["x"])
