"""What columns of JSON lines are read as, and that nothing later or finer is lost."""

import datetime as dt

import pyarrow as pa
import pytest

from recollect.streams import open_sink, open_source


def read(path):
    return pa.Table.from_batches(open_source(path).batches())


def lines(path, *values):
    path.write_text("".join(f'{{"a": {value}}}\n' for value in values))
    return path


@pytest.mark.parametrize(
    ("texts", "type_"),
    [
        (["2013-10-07T04:00:00.464", "2013-10-07T04:00:01.5"], pa.timestamp("us")),
        (["2013-10-07T04:00:00.464", "2013-10-07 04:00:01"], pa.timestamp("us")),
        (["2013-10-07T04:00:00", "2013-10-07T04:00:01.000000001"], pa.timestamp("ns")),
        (["2013-10-07T04:00:00.5Z", "2013-10-07T06:00:01+02:00"], pa.timestamp("us", "UTC")),
        (["2013-10-07T04:00:00Z", "2013-10-07T04:00:01Z"], pa.timestamp("us", "UTC")),
        (["0001-01-01T00:00:00.5", "9999-12-31T00:00:00"], pa.timestamp("us")),
        (["2013-10-07T04:00:00Z", "2013-10-07T04:00:01"], pa.timestamp("us")),
        (["2013-10-07T04:00:00.5", "soon"], pa.string()),
        (["", "2013-10-07T04:00:00.5"], pa.string()),
    ],
)
def test_times(tmp_path, texts, type_):
    table = read(lines(tmp_path / "a.jsonl", "null", *(f'"{text}"' for text in texts)))
    assert table.schema.field("a").type == type_
    assert table["a"].null_count == 1
    if type_ == pa.timestamp("us") and "Z" not in texts[0]:
        assert table["a"].to_pylist()[1:] == [dt.datetime.fromisoformat(text) for text in texts]


def test_a_fraction_of_a_second_after_the_first_block(tmp_path):
    whole = ['"2013-10-07T04:00:00"'] * 100_000
    column = read(lines(tmp_path / "a.jsonl", *whole, '"2013-10-07T04:00:00.464"'))["a"]
    assert column[-1].as_py() == dt.datetime(2013, 10, 7, 4, 0, 0, 464_000)


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_what_is_written_is_read(tmp_path, zone):
    times = pa.array([0, 500_000, None, 1_000_001], pa.timestamp("us", zone))
    table = pa.table({"a": times, "b": range(4)})
    with open_sink(tmp_path / "a.jsonl", table.schema) as sink:
        sink.write(table.to_batches()[0])
    assert read(tmp_path / "a.jsonl") == table


def test_numbers_beyond_int64(tmp_path):
    column = read(lines(tmp_path / "a.jsonl", 2**64 - 1, 1, "null", 2**64 - 2))["a"]
    assert column.type == pa.uint64()
    assert column.to_pylist() == [2**64 - 1, 1, None, 2**64 - 2]


@pytest.mark.parametrize("values", [(2**63, 1.5), (1e20, 3), (2**63, 1.0)])
def test_doubles_stay_doubles(tmp_path, values):
    column = read(lines(tmp_path / "a.jsonl", *values))["a"]
    assert column.type == pa.float64()
    assert column.to_pylist() == list(values)
