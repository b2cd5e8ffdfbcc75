"""On disk the answer is the one in memory, also after changes."""

from datetime import date

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import BudgetError, InputError, StateError
from recollect.intervals import IntervalFile, aggregate
from tests.intervals.relations import SMALL, answer, relations, rows_of, tuples_of
from tests.intervals.test_aggregates import assert_same
from tests.naive.intervals import constant_intervals

QUESTIONS = [
    {},
    {"agg": "min,sum", "where": "kind = 'x' and value != 2"},
    {"where": "kind is null", "replacement": "lru"},
    {"group_by": "kind", "where": "value is not null"},
    {"from_": -5, "to": 4},
    {"span": 4, "to": 30},
]


def same(one: pa.Table, two: pa.Table) -> bool:
    """Whether two tables have the same rows, NaN being NaN."""
    return one.schema == two.schema and repr(one.to_pylist()) == repr(two.to_pylist())


@settings(max_examples=25, deadline=None)
@given(relations(), st.sampled_from(QUESTIONS[:1] + QUESTIONS[4:]), st.integers(1, 4))
def test_through_a_temporary_index(table, question, pages):
    found = answer(table, buffer_pages=pages, **question)
    assert same(found.table, answer(table, **question).table)
    assert found.stats.plan == "disk"
    assert (found.stats.page_reads > 0) == any(s < e for s, e, _ in tuples_of(table))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_file_that_changes(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("file") / "intervals"
    held = data.draw(relations("whole"))
    IntervalFile.load(path, held, "from", "till", "value", ["kind"], pages=2).close()
    rows = [row for row in held.to_pylist() if row["till"] is None or row["from"] < row["till"]]
    for _ in range(data.draw(st.integers(0, 3))):
        more = data.draw(relations("whole")).to_pylist()
        more = [row for row in more if row["till"] is None or row["from"] < row["till"]]
        gone = [row for row in rows if data.draw(st.booleans())] if data.draw(st.booleans()) else []
        for row in gone:
            rows.remove(row)
        rows += more
        file = IntervalFile.open(path, pages=3)
        tables = [pa.Table.from_pylist(part, held.schema) for part in (gone, more)]
        if data.draw(st.booleans()):
            file.update(*tables)
        else:
            file.delete(tables[0])
            file.insert(tables[1])
        assert file.tuples == len(rows)
        file.close()
    table = pa.Table.from_pylist(rows, held.schema)
    question = data.draw(st.sampled_from(QUESTIONS))
    found = aggregate(path, value="value", buffer_pages=2, **question)
    assert same(found.table, answer(table, **question).table)
    if question == {}:
        assert_same(rows_of(found.table), constant_intervals(tuples_of(table)))


def test_conditions_save_page_reads(tmp_path):
    rows = 20_000
    table = pa.table(
        {
            "from": pa.array([n * 7919 % rows for n in range(rows)], pa.int64()),
            "till": pa.array([n * 7919 % rows + 5 for n in range(rows)], pa.int64()),
            "value": range(rows),
            "kind": [f"k{n % 40}" for n in range(rows)],
        }
    )
    kept = answer(table, agg="count", where="kind = 'k7'", index=tmp_path / "kept")
    every = aggregate(tmp_path / "kept", agg="count")
    assert kept.stats.page_reads < every.stats.page_reads / 3
    assert same(kept.table, answer(table, agg="count", where="kind = 'k7'").table)


@pytest.mark.compiled
def test_too_much_for_memory_goes_to_disk():
    table = pa.table({"from": range(50_000), "till": range(3, 50_003), "value": range(50_000)})
    found = answer(table, memory="1MB")
    assert (found.stats.plan, found.stats.tuples) == ("disk", 50_000)
    assert same(found.table, answer(table).table)
    assert answer(table).stats.plan == "memory"


def test_mistakes_are_named(tmp_path):
    table = pa.table({"from": [1], "till": [2], "value": [3], "kind": ["a"]})
    path = tmp_path / "kept"
    answer(table, index=path)
    with pytest.raises(InputError, match="exists already"):
        answer(table, index=path)
    with pytest.raises(InputError, match="index already"):
        aggregate(path, value="value", index=tmp_path / "other")
    with pytest.raises(InputError, match="does not hold column 'kind'; it holds 'value'"):
        aggregate(path, value="value", where="kind = 'a'")
    with pytest.raises(InputError, match="made with 'from', not 'start'"):
        aggregate(path, "start", "till", "value")
    with pytest.raises(InputError, match="no folder"):
        answer(table, index=tmp_path / "nowhere" / "kept")
    with pytest.raises(InputError, match="replacement 'fifo' is unknown"):
        answer(table, buffer_pages=3, replacement="fifo")
    with pytest.raises(BudgetError, match="more than the memory of this machine"):
        answer(table, buffer_pages=10**15)
    with pytest.raises(InputError, match="row 0 ends before it starts"):
        answer(pa.table({"from": [3], "till": [2], "value": [1]}), index=tmp_path / "bad")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["kept", "kept.columns"]


@settings(max_examples=20, deadline=None)
@given(relations("decimal"), SMALL)
def test_strings_and_types_come_back_from_the_file(tmp_path_factory, table, low):
    path = tmp_path_factory.mktemp("file") / "intervals"
    first = answer(table, group_by="kind", from_=low, index=path)
    again = aggregate(path, value="value", group_by="kind", from_=low)
    assert same(first.table, again.table)
    assert again.table.schema.field("sum").type == pa.decimal128(38, 2)


def test_after_a_load_that_was_killed(tmp_path):
    table = pa.table({"from": [1], "till": [2], "value": [3], "kind": ["a"]})
    path = tmp_path / "kept"
    with IntervalFile.load(path, table, "from", "till", "value", ["kind"]):
        pass
    path.rename(tmp_path / "kept.loading")  # as if it had been killed just before the end
    with pytest.raises(StateError, match="incomplete load"):
        aggregate(path, value="value")
    other = table.set_column(3, "kind", pa.array(["b"]))
    with IntervalFile.load(path, other, "from", "till", "value", ["kind"]) as file:
        file.insert(table)
    assert aggregate(path, agg="count", group_by="kind").table["kind"].to_pylist() == ["a", "b"]


def test_damage_beside_the_index(tmp_path):
    table = pa.table({"from": [1], "till": [2], "value": [3], "kind": ["a"]})
    for name, attributes in (("kept", ["kind"]), ("other", [])):
        IntervalFile.load(tmp_path / name, table, "from", "till", "value", attributes).close()
    beside = tmp_path / "kept.columns"
    whole = beside.read_bytes()
    for place in range(0, len(whole), 29):
        beside.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        with pytest.raises(StateError, match=r"kept.columns(: this does not describe| is damaged)"):
            aggregate(tmp_path / "kept", value="value")
    beside.write_bytes(whole[:-1])
    with pytest.raises(StateError, match="is damaged"):
        aggregate(tmp_path / "kept", value="value")
    beside.write_bytes((tmp_path / "other.columns").read_bytes())
    with pytest.raises(StateError, match=r"kept.columns is not that of .*kept; load"):
        aggregate(tmp_path / "kept", value="value")


def test_rows_of_other_types_are_not_taken_in(tmp_path):
    table = pa.table({"from": [1], "till": [2], "value": [3.5], "kind": ["a"]})
    with IntervalFile.load(tmp_path / "kept", table, "from", "till", "value", ["kind"]) as file:
        file.insert(table.set_column(2, "value", pa.array([4])))  # a number is a number
        for place, wrong in ((0, [date(2024, 1, 1)]), (2, ["4"]), (3, [5])):
            with pytest.raises(InputError, match=r"types? (string|int64)|date"):
                file.insert(table.set_column(place, table.column_names[place], pa.array(wrong)))
        assert file.tuples == 2
