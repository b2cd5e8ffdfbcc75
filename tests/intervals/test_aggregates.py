"""All aggregates against their definition."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import InputError
from tests.intervals.relations import SMALL, answer, relations, rows_of, tuples_of
from tests.naive.intervals import AGGREGATES, constant_intervals, same, spans


def assert_same(found, expected):
    assert len(found) == len(expected), (found, expected)
    for one, other in zip(found, expected, strict=True):
        assert all(map(same, one, other)), (one, other)


@settings(max_examples=150, deadline=None)
@given(relations(), st.sets(st.sampled_from(AGGREGATES), min_size=1))
def test_by_the_definition(table, names):
    names = [name for name in AGGREGATES if name in names]
    found = answer(table, agg=names)
    assert_same(rows_of(found.table), constant_intervals(tuples_of(table), names))
    for name in names:
        alone = constant_intervals(tuples_of(table), [name])
        assert_same(rows_of(found.of(name)), alone)
        assert found.stats.constant_intervals[name] == len(alone)


@settings(max_examples=60, deadline=None)
@given(relations("whole"), SMALL, st.integers(1, 20))
def test_a_window_cuts_the_answer(table, low, length):
    found = answer(table, from_=low, to=low + length)
    expected = constant_intervals(tuples_of(table), window=(low, low + length))
    assert_same(rows_of(found.table), expected)


@settings(max_examples=60, deadline=None)
@given(relations("float", endless=False), st.integers(1, 9))
def test_spans_count_all_that_overlap_them(table, length):
    expected = spans(tuples_of(table), length)
    assert_same(rows_of(answer(table, span=length).table), expected)


@settings(max_examples=60, deadline=None)
@given(relations("decimal"))
def test_groups_are_relations_of_their_own(table):
    found = answer(table, group_by="kind")
    expected = []
    for kind in ("x", "y", None):
        pairs = zip(tuples_of(table), table["kind"].to_pylist(), strict=True)
        rows = [row for row, of_kind in pairs if of_kind == kind]
        expected += [(kind, *row) for row in constant_intervals(rows)]
    assert_same(rows_of(found.table), expected)
    assert found.stats.constant_intervals == {name: found.of(name).num_rows for name in AGGREGATES}


@settings(max_examples=60, deadline=None)
@given(relations("whole"), st.sampled_from(["<", "<=", "=", "!=", ">", ">="]), st.integers(-5, 5))
def test_conditions_leave_tuples_out(table, sign, bound):
    compare = {"=": int.__eq__, "!=": int.__ne__, "<": int.__lt__, "<=": int.__le__,
               ">": int.__gt__, ">=": int.__ge__}[sign]  # fmt: skip
    found = answer(table, where=f"value {sign} {bound} and kind != 'y'")
    kept = [
        row
        for row, kind in zip(tuples_of(table), table["kind"].to_pylist(), strict=True)
        if row[2] is not None and compare(row[2], bound) and kind == "x"
    ]
    assert_same(rows_of(found.table), constant_intervals(kept))


def test_without_a_value_all_tuples_count():
    table = pa.table({"from": [1, 2], "till": [3, 4]})
    from recollect.intervals import aggregate

    found = aggregate(table, "from", "till", agg="count")
    assert rows_of(found.table) == [(1, 2, 1), (2, 3, 2), (3, 4, 1)]
    with pytest.raises(InputError, match="value"):
        aggregate(table, "from", "till")


def test_sums_of_floats_leave_nothing_behind():
    table = pa.table({"from": [0, 1, 2], "till": [9, 4, 3], "value": [0.1, 1e300, -0.3]})
    sums = answer(table, agg="sum").table["sum"].to_pylist()
    assert sums == [0.1, 1e300, 0.1]


def test_a_sum_beyond_64_bits_is_an_error():
    table = pa.table({"from": [0, 0], "till": [5, 5], "value": [2**62, 2**62]})
    with pytest.raises(InputError, match="from 0 to 5 does not fit in 64 bits"):
        _ = answer(table).table
