"""Conditions: how they are written, what they let pass, and that their boxes let nothing out."""

from datetime import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from recollect.errors import FilterError, InputError
from recollect.intervals import aggregate
from recollect.intervals.predicate import Condition, bind, boxes_of, mask_of, parse_where
from recollect.intervals.words import codec_of

COLUMNS = {
    "n": pa.array([1, 2, None, 3, 2]),
    "x": pa.array([0.5, float("nan"), None, float("-inf"), -0.0]),
    "price": pa.array([Decimal("1.25"), Decimal("1.30"), None, Decimal("-2.00"), Decimal("0.00")]),
    "ok": pa.array([True, False, None, True, False]),
    "at": pa.array([0, 1, None, 86_400, -1], pa.timestamp("s")),
    "day": pa.array([0, 1, None, 365, -1], pa.int32()).cast(pa.date32()),
    "took": pa.array([0, 90, None, 60, 61], pa.duration("s")),
    "odd name": pa.array(["a b", "it's", None, "z", "and"]),
}


def passing(text: str) -> list[int]:
    codecs = {name: codec_of(column.type, name) for name, column in COLUMNS.items()}
    words = {name: codecs[name].encode(column) for name, column in COLUMNS.items()}
    checks = bind(parse_where(text), codecs)
    mask = mask_of(checks, words, 5)
    for name, (low, high) in boxes_of(checks).items():
        assert -(2**63) <= low < 2**63
        assert -(2**63) <= high < 2**63
        inside = (words[name] >= low) & (words[name] <= high)
        assert not np.any(mask & ~inside)
    return np.flatnonzero(mask).tolist()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("n = 2", [1, 4]),
        ("n==2", [1, 4]),
        ("n <> 2", [0, 3]),
        ("n != 2.5", [0, 1, 3, 4]),
        ("n = 2.5", []),
        ("n > 1.5 and n<2.5", [1, 4]),
        ("n >= 2 AND n <= 2", [1, 4]),
        ("n < 99999999999999999999", [0, 1, 3, 4]),
        ("n > 9223372036854775807", []),
        ("n < -9223372036854775808", []),
        ("n = 99999999999999999999", []),
        ("x < 0.5", [3, 4]),
        ("x <= 0.5", [0, 3, 4]),
        ("x = 0", [4]),
        ("x >= -1e400", [0, 3, 4]),
        ("x != 0.5", [1, 3, 4]),
        ("price > 1.249", [0, 1]),
        ("price = 1.3", [1]),
        ("ok = true", [0, 3]),
        ("ok != TRUE", [1, 4]),
        ("at >= 1970-01-01 00:00:00.5", [1, 3]),
        ("at < '1970-01-01T00:00:01Z'", [0, 4]),
        ("at = '1970-01-01 01:00+01:00'", [0]),
        ("day > 1970-01-01", [1, 3]),
        ("took > 1min", [1, 4]),
        ("\"odd name\" = 'a b'", [0]),
        ('"odd name" = a b', [0]),
        ("\"odd name\" = 'it''s'", [1]),
        ("\"odd name\" = 'and' and n = 2", [4]),
        ('"odd name" >= b', [1, 3]),
        ('"odd name" != z', [0, 1, 4]),
        ("\"odd name\" = 'nothing like it'", []),
        ('"odd name" is null', [2]),
        ("n IS NOT NULL and x is not null", [0, 1, 3, 4]),
        ("n is null and n = 2", []),
    ],
)
def test_what_passes(text, rows):
    assert passing(text) == rows


@pytest.mark.parametrize(
    "text", ["", "n", "n =", "= 3", "n = 3 and", "n = 3 or n = 4", "n ~ 3", "n = 'it's", "n is 3"]
)
def test_what_is_not_understood(text):
    with pytest.raises(FilterError, match=r"not understood|no column"):
        passing(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n = many", "n is of type int64, and 'many' is no such value"),
        ("n = 1e999999999", "'1e999999999' is no such value"),
        ("x > nan", "nothing compares with NaN"),
        ("ok = 1", "ok is of type bool"),
        ("at > noon", "at is of type timestamp"),
        ("m = 1", "no column 'm' to ask about; there are 'n', 'x'"),
    ],
)
def test_what_does_not_fit(text, message):
    with pytest.raises(FilterError, match=message):
        passing(text)


def test_a_quoted_condition():
    assert parse_where("a='x and y' and b<1") == [
        Condition("a", "=", "x and y"),
        Condition("b", "<", "1"),
    ]
    assert parse_where(None) == []


def test_rows_without_a_start_can_be_left_out():
    table = pa.table({"s": pa.array([datetime(2024, 1, 1), None]), "e": [datetime(2024, 1, 2)] * 2})
    with pytest.raises(InputError, match=r'row 1 has no .s.; .* where="s is not null"'):
        aggregate(table, "s", "e", agg="count")
    found = aggregate(table, "s", "e", agg="count", where="s is not null")
    assert found.table["count"].to_pylist() == [1]
