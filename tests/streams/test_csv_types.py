"""What columns of CSV are read as, and that nothing later or finer is lost."""

import datetime as dt

import pyarrow as pa
import pyarrow.csv
import pytest

from recollect.errors import InputError
from recollect.join.whole import join
from recollect.streams import open_sink, open_source


def read(path):
    return pa.Table.from_batches(open_source(path).batches())


def lines(path, *values):
    path.write_text("a,b\n" + "".join(f"{value},x\n" for value in values))
    return path


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([2**64 - 1, 2**64 - 2, 0], pa.uint64()),
        ([2**63, "", " 7", "NA"], pa.uint64()),
        ([2**64, 2**64 + 1], pa.string()),
        ([2**63, -1], pa.string()),
        ([2**63 - 1, -1], pa.int64()),
        ([2**63, 0.5], pa.float64()),
        (["1e+20", 3], pa.float64()),
    ],
)
def test_large_whole_numbers(tmp_path, values, type_):
    column = read(lines(tmp_path / "a.csv", *values))["a"]
    assert column.type == type_
    if type_ == pa.float64():
        return
    wanted = [None if value in ("", "NA") else str(value).strip() for value in values]
    assert column.cast(pa.string()).to_pylist() == wanted


def test_large_keys_do_not_become_equal(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"t,k\n1,{2**64 - 1}\n2,{2**64 - 2}\n")
    results = join(path, path, on="k", time="t", window=10).table
    assert results.num_rows == 2


def test_a_fraction_of_a_second_after_the_first_block(tmp_path):
    whole = ["2013-10-07 04:00:00"] * 100_000
    column = read(lines(tmp_path / "a.csv", *whole, "2013-10-07 04:00:00.464"))["a"]
    assert column[-1].as_py() == dt.datetime(2013, 10, 7, 4, 0, 0, 464_000)


def test_a_fraction_after_a_block_of_whole_numbers(tmp_path):
    path = lines(tmp_path / "a.csv", *[35] * 500_000, 0.5)
    with pytest.raises(InputError, match="begins with whole numbers: write one"):
        read(path)
    assert read(lines(path, "35.0", *[35] * 500_000, 0.5))["a"][-1].as_py() == 0.5


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.float16()])
def test_floats_that_are_written_stay_floats(tmp_path, ending, kind):
    path = tmp_path / f"a.{ending}"
    values = pa.array([35.0, None] * 150_000 + [-0.0, 0.5], pa.float64()).cast(kind)
    table = pa.table({"x": values, "y": ["a"] * len(values)})
    with open_sink(path, table.schema) as sink:
        for batch in table.to_batches(max_chunksize=100_000):
            sink.write(batch)
    assert read(path)["x"].cast(kind) == table["x"]


def test_all_but_floats_is_written_as_arrow_does(tmp_path):
    columns = {
        "x": pa.array([0.5, None, -1e300, 1e-7]),
        "text": ['a "quoted", one', "", None, "new\nline\té"],
        "large": pa.array(["a", None, "", '"'], pa.large_string()),
        "raw": pa.array([b"ab", None, b"", b'"']),
        "word": pa.array(["a", None, "a", "b,"]).dictionary_encode(),
        "whole": pa.array([1, None, 2**64 - 1, 0], pa.uint64()),
        "yes": [True, None, False, True],
        "at": pa.array([1, None, 0, -1], pa.timestamp("ns", "Europe/Berlin")),
        "day": pa.array([1, None, 0, -1], pa.date32()),
        "took": pa.array([1, None, 0, -1], pa.duration("us")),
        "sum": pa.array(["1.50", None, "0", "-1"]).cast(pa.decimal128(5, 2)),
        "none": pa.nulls(4),
    }
    table = pa.table(columns)
    with open_sink(tmp_path / "a.csv", table.schema) as sink:
        for batch in table.to_batches():
            sink.write(batch.slice(0, 3))
            sink.write(batch.slice(3))
    pa.csv.write_csv(table, tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
