"""What cannot be written is refused when the sink is opened, before any work is done."""

import os

import pyarrow as pa
import pytest

from recollect.errors import InputError
from recollect.streams import open_sink

SCHEMA = pa.schema([("time", pa.int64())])


def test_unknown_ending(tmp_path):
    with pytest.raises(InputError, match=r"out\.xlsx: unknown ending; known are \.parquet, \.pq"):
        open_sink(tmp_path / "out.xlsx", SCHEMA)


def test_missing_folder(tmp_path):
    with pytest.raises(InputError, match=r"there is no folder .*nowhere"):
        open_sink(tmp_path / "nowhere" / "out.csv", SCHEMA)


def test_folder_in_place_of_a_file(tmp_path):
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(InputError, match=r"out\.csv is a folder"):
        open_sink(tmp_path / "out.csv", SCHEMA)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv"])
@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.struct([("x", pa.int64())])])
def test_nested_columns_in_csv(tmp_path, ending, kind):
    schema = pa.schema([("time", pa.int64()), ("tags", kind)])
    with pytest.raises(InputError, match=r"cannot hold column 'tags' of type (list|struct)"):
        open_sink(tmp_path / f"out{ending}", schema)


def test_types_the_format_does_not_know(tmp_path):
    schema = pa.schema([("span", pa.month_day_nano_interval())])
    with pytest.raises(InputError, match=r"out\.parquet cannot be written as Parquet"):
        open_sink(tmp_path / "out.parquet", schema).__enter__()
    assert os.listdir(tmp_path) == []


def test_writing_outside_the_block(tmp_path):
    sink = open_sink(tmp_path / "out.csv", SCHEMA)
    batch = pa.record_batch({"time": [1]})
    with pytest.raises(InputError, match="is not open"):
        sink.write(batch)
    with sink:
        sink.write(batch)
    with pytest.raises(InputError, match="is not open"):
        sink.write(batch)
    assert (tmp_path / "out.csv").read_text() == '"time"\n1\n'


def test_relative_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open_sink("out.csv", SCHEMA):
        pass
    assert os.listdir() == ["out.csv"]
