"""Whatever holds a table can be joined, and the result has the columns of both sides."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import recollect as rc
from recollect.errors import InputError
from recollect.streams import LocalityStream
from tests.join.brute import WHAT, joined, random_table

NAMES = pa.array([["one", "two", None][i % 3] for i in range(100)])
LEFT, RIGHT = (random_table(seed, 100, 9, name=NAMES) for seed in (1, 2))
EXPECTED = joined(LEFT, RIGHT, window=20)


def reader(table: pa.Table) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(7))


FORMS = {
    "batch": lambda table, _: table.to_batches()[0],
    "chunked": lambda table, _: pa.concat_tables([table.slice(0, 30), table.slice(30)]),
    "reader": lambda table, _: reader(table),
    "pandas": lambda table, _: table.to_pandas(),
    "pandas with Arrow": lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": lambda table, _: pl.from_arrow(table),
    "DuckDB": lambda table, _: duckdb.from_arrow(table),
    "Parquet": lambda table, path: pq.write_table(table, path / "x.parquet") or path / "x.parquet",
    "CSV": lambda table, path: pa.csv.write_csv(table, path / "x.csv") or str(path / "x.csv"),
    "dictionary": lambda table, _: table.set_column(3, "name", table["name"].dictionary_encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_rows_in_any_form(form, tmp_path):
    answer = rc.join(FORMS[form](LEFT, tmp_path), RIGHT, window=20, **WHAT)
    assert answer.table.to_pylist() == EXPECTED.to_pylist()
    assert answer.table.num_rows == answer.stats.results > 50


def test_what_can_be_read_only_once():
    for arguments in ({"budget": "10%"}, {"exact": True}, {"budget": 10, "split": True}):
        with pytest.raises(InputError, match="twice, but RecordBatchReader can be read only once"):
            rc.join(reader(LEFT), RIGHT, window=20, **WHAT, **arguments)
    what = {"on": "key", "time": "time", "window": 9}
    with pytest.raises(InputError, match="a comparison needs to read the input twice"):
        rc.compare(reader(LEFT), RIGHT, policies=["fifo"], budgets=[5], **what)
    both = reader(LEFT)
    with pytest.raises(InputError, match="only once"):
        rc.join(both, both, window=20, **WHAT)
    unlimited = rc.join(reader(LEFT), RIGHT, window=20, split=True, **WHAT)
    assert unlimited.stats.results == EXPECTED.num_rows


def test_only_names_that_clash_get_their_side():
    left = LEFT.rename_columns(["n", "time", "key", "name"])
    right = RIGHT.rename_columns(["m", "ts", "code", "name"])
    result = joined(left, right, on="key=code", time="time=ts", window=20)
    names = ["n", "time", "key", "left_name", "m", "ts", "code", "right_name"]
    assert result.schema.names == names
    assert result.schema.types == [*LEFT.schema.types, *RIGHT.schema.types]
    with pytest.raises(InputError, match="'left_n'"):
        joined(LEFT.rename_columns(["n", "time", "key", "left_n"]), RIGHT, window=20)


@pytest.mark.parametrize("sides", [(0, 100), (100, 0), (0, 0)])
def test_empty_tables_give_an_empty_result_with_its_columns(sides):
    left, right = LEFT.slice(0, sides[0]), RIGHT.slice(0, sides[1])
    for arguments in ({}, {"budget": "10%"}, {"budget": "1MB", "exact": True, "split": True}):
        answer = rc.join(left, right, window=20, **WHAT, **arguments)
        assert answer.table.schema == EXPECTED.schema
        assert (answer.table.num_rows, answer.stats.results) == (0, 0)
        assert answer.stats.tuples_in == sum(sides)
        assert answer.stats.recall in (None, 1.0)


def test_counting_needs_only_the_columns_that_decide():
    answer = rc.join(LEFT, RIGHT, window=20, count_only=True, where="left.n < right.n", **WHAT)
    assert answer.table is None
    expected = joined(LEFT, RIGHT, window=20, where="left.n < right.n").num_rows
    assert 0 < answer.stats.results == expected


def test_nested_columns_of_polars():
    frame = pl.from_arrow(LEFT).with_columns(tags=pl.Series([["a", "b"], ["c"]] * 50))
    frame = frame.with_columns(pair=pl.struct("name", "tags"))
    result = joined(frame, frame, window=0)
    rows = frame.to_dicts()
    for row in result.to_pylist():
        assert row["left_tags"] == rows[row["left_n"]]["tags"]
        assert row["right_pair"] == rows[row["right_n"]]["pair"]


def test_mistakes_are_named():
    for arguments, message in (
        ({"on": "kee"}, "left input has no column 'kee'; its columns are 'n', 'time'"),
        ({"on": "key=kee"}, "right input has no column 'kee'"),
        ({"on": ""}, "no key columns in ''"),
        ({"on": "key,"}, "no key columns"),
        ({"time": "name"}, "time column 'name' is of type string"),
        ({"window": "5s"}, "holds plain numbers"),
    ):
        with pytest.raises(rc.RecollectError, match=message):
            joined(LEFT, RIGHT, **({"window": 20} | arguments))
    with pytest.raises(InputError, match="cannot read tuples from list"):
        joined([1, 2], RIGHT, window=5)
    stamps = LEFT.set_column(1, "time", LEFT["time"].cast(pa.timestamp("s")))
    with pytest.raises(InputError, match=r"do not go together: timestamp.s. and int64"):
        joined(stamps, RIGHT, window=5)
    twice = pa.table([[1], [1], [2]], names=["time", "key", "key"])
    with pytest.raises(InputError, match="2 columns called 'key'"):
        joined(twice, RIGHT, window=5)


def test_progress_is_told_stage_by_stage():
    told: dict[str, int] = {}
    rc.join(
        LocalityStream(5_000), LocalityStream(4_000), window=9, budget="5%", count_only=True,
        progress=lambda stage, n: told.update({stage: told.get(stage, 0) + n}), **WHAT,
    )  # fmt: skip
    assert told == {"exact join": 9_000, "join": 9_000}
