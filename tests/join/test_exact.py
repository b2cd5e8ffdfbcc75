"""Without a budget the join is the one that SQL defines, row by row, whatever the keys are."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from tests.join.brute import joined, pairs_in, random_table

ROWS = 400
RANDOM = np.random.default_rng(7)
PICK = RANDOM.integers(0, 25, (2, ROWS))
KEYS = {
    "int8": pa.array(range(25), pa.int8()),
    "uint64": pa.array(range(2**64 - 25, 2**64), pa.uint64()),
    "float": pa.array([0.1 * i - 1 for i in range(25)]),
    "string": pa.array(["", "a", "aa", "é", *map(str, range(21))]),
    "large": pa.array([f"a rather long key, number {i}" for i in range(25)], pa.large_string()),
    "binary": pa.array([bytes([i, 0, 255 - i]) for i in range(25)]),
    "decimal": pa.array([Decimal(i) / 4 for i in range(25)], pa.decimal128(9, 2)),
    "date": pa.array([date(2020, 1, 1) + timedelta(i) for i in range(25)]),
    "timestamp": pa.array([datetime(1969, 12, 20) + timedelta(i) for i in range(25)]),
    "boolean": pa.array([i % 2 == 0 for i in range(25)]),
    "null": pa.array([None if i < 5 else i for i in range(25)]),
}


def streams(values: pa.Array, **more) -> list[pa.Table]:
    tables = [random_table(seed, ROWS, 25, **more) for seed in (1, 2)]
    return [
        one.set_column(2, "key", values.take(pa.array(pick)))
        for one, pick in zip(tables, PICK, strict=True)
    ]


def sql(left: pa.Table, right: pa.Table, condition: str) -> list[tuple[int, int]]:
    with duckdb.connect() as connection:
        connection.register("l", left)
        connection.register("r", right)
        query = f"SELECT l.n, r.n FROM l, r WHERE {condition} ORDER BY ALL"
        return connection.execute(query).fetchall()


def within(left_window: int, right_window: int) -> str:
    return f"l.key = r.key AND r.time - l.time BETWEEN -{right_window} AND {left_window}"


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_every_kind(kind):
    left, right = streams(KEYS[kind])
    expected = sql(left, right, within(60, 60))
    assert len(expected) > 100
    assert pairs_in(joined(left, right, window=60), left, right) == expected


@pytest.mark.parametrize("windows", [(0, 0), (0, 40), (40, 0), (25, 90), (10_000, 10_000)])
def test_windows_of_both_sides(windows):
    left, right = streams(KEYS["int8"])
    expected = sql(left, right, within(*windows))
    assert pairs_in(joined(left, right, window=windows), left, right) == expected


def test_several_columns_under_different_names():
    left, right = streams(KEYS["string"], b=PICK[0] % 3, c=PICK[1] % 2)
    other = right.rename_columns(["n", "time", "key2", "c2", "b"])
    expected = sql(left, other, within(200, 200).replace("r.key", "r.key2 AND l.b=r.b AND c=c2"))
    assert len(expected) > 30
    result = joined(left, other, on="key=key2,b,c=c2", window=200)
    assert pairs_in(result.rename_columns({"key": "left_key"}), left, other) == expected


def test_a_table_with_itself():
    left, _ = streams(KEYS["string"])
    expected = sql(left, left, within(30, 30))
    assert pairs_in(joined(left, left, window=30), left, left) == expected


def test_a_condition_on_the_pair():
    left, right = streams(KEYS["int8"], x=PICK[0] % 4, name=KEYS["string"].take(PICK[1]))
    for condition in ("left.x != right.x", "left.name == right.name or left.time < right.time - 9"):
        spelling = condition.replace("left.", "l.").replace("right.", "r.").replace("==", "=")
        expected = sql(left, right, f"{within(50, 50)} AND ({spelling})")
        assert len(expected) > 100
        assert pairs_in(joined(left, right, window=50, where=condition), left, right) == expected


@pytest.mark.parametrize(
    "units", [("s", "ns"), ("us", "ms"), ("ms", "ms"), ("date32", "us"), ("date32", "date64")]
)
def test_time_columns_of_different_units(units):
    sides = []
    for side, unit in zip(streams(KEYS["int8"]), units, strict=True):
        seconds = np.asarray(side["time"]) * (43_200 if "date32" in units else 1) - 200
        times = pa.array(seconds, pa.timestamp("s"))
        kind = {"date32": pa.date32(), "date64": pa.date64()}.get(unit)
        kind = kind or pa.timestamp(unit, "UTC" if unit == "ms" else None)
        sides.append(side.set_column(1, "time", times.cast(kind, safe=False)))
    span, micros = ("9d", 9 * 86_400 * 10**6) if "date32" in units else ("50s", 50 * 10**6)
    moments = [f"epoch_us({side}.time::TIMESTAMP)" for side in "rl"]
    condition = f"l.key = r.key AND abs({moments[0]} - {moments[1]}) <= {micros}"
    expected = sql(*[side.set_column(1, "time", _naive(side)) for side in sides], condition)
    assert len(expected) > 100
    assert pairs_in(joined(*sides, window=span), *sides) == expected


def _naive(side: pa.Table) -> pa.ChunkedArray:
    return (
        side["time"]
        .cast(pa.timestamp("us", getattr(side["time"].type, "tz", None)))
        .cast(pa.timestamp("us"))
    )
