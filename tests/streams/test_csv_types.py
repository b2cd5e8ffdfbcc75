"""What columns of CSV are read as, and that nothing later or finer is lost."""

import pyarrow as pa
import pytest

from recollect.join.whole import join
from recollect.streams import open_source


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
