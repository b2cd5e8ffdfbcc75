"""Filters against a naive twin, pair by pair in plain Python, and against DuckDB."""

import math
import operator
import pickle
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.compiled import is_interpreted, specialise
from recollect.join.residual import EMPTY, LEFT, RIGHT, TEXT_EQ, TEXT_NE, Residual, assemble, holds
from recollect.join.where import compile_where

Tree = tuple[Any, ...]
Row = dict[str, Any]


def _first_pair(code, left, right):
    return holds(code, left, 0, right, 0)


def _all_pairs(passed, code, left, right):
    for i in range(len(left)):
        for j in range(len(right)):
            passed[i, j] = holds(code, left, i, right, j)


def _passing(code, left, right):
    passed = np.zeros((len(left), len(right)), np.bool_)
    specialise(_all_pairs, code)(passed, code, left, right)
    return passed


def passing(text: str, left: pa.RecordBatch, right: pa.RecordBatch) -> list[tuple[int, int]]:
    where = compile_where(text, left.schema, right.schema)
    words = where.encode(0, left), where.encode(1, right)
    assert {array.shape[1] for array in words} == {where.width}
    assert all(array.flags.c_contiguous and array.dtype == np.int64 for array in words)
    return [(int(i), int(j)) for i, j in np.argwhere(_passing(where.code, *words))]


# --- the twin -----------------------------------------------------------------------------------

COMPARE = {
    "==": operator.eq, "!=": operator.ne, "=": operator.eq, "<>": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
CALCULATE = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def wrapped(number: float) -> float:
    return (number + 2**63) % 2**64 - 2**63 if isinstance(number, int) else number


def value(tree: Tree, rows: dict[str, Row]) -> Any:
    match tree:
        case ("literal", literal):
            return literal
        case ("column", side, name):
            return rows[side][name]
        case ("abs", x):
            return None if (a := value(x, rows)) is None else wrapped(abs(a))
        case ("minus", x):
            return None if (a := value(x, rows)) is None else wrapped(-a)
        case (sign, x, y):
            a, b = value(x, rows), value(y, rows)
            if a is None or b is None:
                return None
            if sign == "/":
                return None if b == 0 else ieee(operator.truediv, float(a), float(b))
            if isinstance(a, float) or isinstance(b, float):
                return ieee(CALCULATE[sign], float(a), float(b))
            return wrapped(CALCULATE[sign](int(a), int(b)))


def ieee(calculate: Any, a: float, b: float) -> float:
    with np.errstate(all="ignore"):
        return float(calculate(np.float64(a), np.float64(b)))


def truth(tree: Tree, rows: dict[str, Row]) -> bool | None:
    match tree:
        case ("and", x, y):
            truths = {truth(x, rows), truth(y, rows)}
            return False if False in truths else None if None in truths else True
        case ("or", x, y):
            truths = {truth(x, rows), truth(y, rows)}
            return True if True in truths else None if None in truths else False
        case ("not", x):
            return None if (known := truth(x, rows)) is None else not known
        case ("chain", x, first, y, second, z):
            return truth(("and", (first, x, y), (second, y, z)), rows)
        case ("column", side, name):
            return rows[side][name]
        case (sign, x, y):
            a, b = value(x, rows), value(y, rows)
            if a is None or b is None:
                return None
            if isinstance(a, float) or isinstance(b, float):
                a, b = float(a), float(b)
            return bool(COMPARE[sign](a, b))
    raise AssertionError(tree)


def written(tree: Tree) -> str:
    match tree:
        case ("literal", literal):
            return repr(literal)
        case ("column", side, name):
            return f"{side}.{name}" if name.isidentifier() else f"{side}[{name!r}]"
        case ("abs", x):
            return f"abs({written(x)})"
        case ("minus", x):
            return f"(-{written(x)})"
        case ("not", x):
            return f"(NOT {written(x)})"
        case ("chain", x, first, y, second, z):
            return f"({written(x)} {first} {written(y)} {second} {written(z)})"
        case (sign, x, y):
            return f"({written(x)} {sign} {written(y)})"
    raise AssertionError(tree)


# --- random expressions over random rows --------------------------------------------------------

INTEGERS = st.one_of(st.integers(-3, 3), st.sampled_from([2**62, -(2**62), 2**53 + 1, 2**63 - 1]))
FLOATS = st.sampled_from([0.0, -0.0, 0.5, 1.0, -2.5, 1e300, math.inf, math.nan])
TEXTS = st.sampled_from(["", "a", "b", "it's", "AND = <>", "é"])
SCHEMA = pa.schema(
    {
        "i": pa.int64(),
        "small": pa.uint8(),
        "f": pa.float64(),
        "flag": pa.bool_(),
        "s": pa.string(),
        "odd name": pa.dictionary(pa.int8(), pa.large_string()),
    }
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "i": st.none() | INTEGERS,
            "small": st.none() | st.integers(0, 3),
            "f": st.none() | FLOATS,
            "flag": st.none() | st.booleans(),
            "s": st.none() | TEXTS,
            "odd name": st.none() | TEXTS,
        }
    ),
    min_size=1,
    max_size=4,
)


def columns(*names: str) -> st.SearchStrategy[Tree]:
    return st.tuples(st.just("column"), st.sampled_from(["left", "right"]), st.sampled_from(names))


def operation(signs: str, *operands: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.tuples(st.sampled_from(signs.split()), *operands)


LITERALS = st.tuples(
    st.just("literal"), INTEGERS | st.sampled_from([0.5, -2.5, 1e18]) | st.booleans()
)
NUMBERS = st.recursive(
    st.one_of(columns("i", "small", "f", "flag"), columns("i", "small", "f"), LITERALS),
    lambda x: operation("+ - * /", x, x) | operation("abs minus", x),
    max_leaves=4,
)
WORDS = columns("s", "odd name") | st.tuples(st.just("literal"), TEXTS)
ORDER = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
CONDITIONS = st.recursive(
    st.one_of(
        operation("== != = <> < <= > >=", NUMBERS, NUMBERS),
        operation("== != = <>", WORDS, WORDS),
        st.tuples(st.just("chain"), NUMBERS, ORDER, NUMBERS, ORDER, NUMBERS),
        columns("flag"),
    ),
    lambda x: operation("and or", x, x) | operation("not", x),
    max_leaves=5,
)


@settings(max_examples=400, deadline=None)
@given(CONDITIONS.filter(lambda tree: "column" in str(tree)), ROWS, ROWS)
def test_same_as_the_twin(tree: Tree, left: list[Row], right: list[Row]) -> None:
    batches = [pa.RecordBatch.from_pylist(rows, schema=SCHEMA) for rows in (left, right)]
    expected = [
        (i, j)
        for i, x in enumerate(left)
        for j, y in enumerate(right)
        if truth(tree, {"left": x, "right": y}) is True
    ]
    assert passing(written(tree), *batches) == expected


# --- the same predicate in DuckDB ---------------------------------------------------------------

START = datetime(2013, 10, 7, 9, 30)
MILLIS = [None, 0, 150, 200, 1000, 86_400_000]
CARS = pa.record_batch(
    {
        "n": pa.array(range(6), pa.int32()),
        "sensor": pa.array(["a", "b", None, "c", "", "é"]),
        "speed": pa.array([1, None, 10, 11, 12, 250], pa.uint8()),
        "price": pa.array([Decimal("1.10"), None, *map(Decimal, ("1.20", "2.2", "3.3", "0"))]),
        "ts": pa.array([m if m is None else START + timedelta(0, 0, 0, m) for m in MILLIS]),
        "day": pa.array([None, *(date(2013, 10, d) for d in (6, 7, 7, 8, 9))]),
        "at": pa.array([None, *(time(9, m) for m in (0, 29, 30, 31, 59))]),
        "wait": pa.array([m if m is None else timedelta(0, 0, 0, m) for m in MILLIS]),
    }
)
PLATES = CARS.set_column(1, "sensor", CARS["sensor"].dictionary_encode())
PLATES = PLATES.set_column(2, "speed", CARS["speed"].cast(pa.float32()))
PLATES = PLATES.set_column(4, "ts", CARS["ts"].cast(pa.timestamp("ns")))
MONDAY = "TIMESTAMP '2013-10-07 00:00:00'"

SAME_IN_SQL = {
    "left.sensor != right.sensor and left.speed >= 10": None,
    "left.sensor = 'a' OR NOT left.sensor <> right.sensor": None,
    "left.speed <= right.speed and right.speed < 2 * left.n + 8": None,
    "left.price + 1.1 > right.price": None,
    "left.price = right.price or left.price * 2 = 2.2": None,
    "left.speed / (left.n - right.n) > 3": "l.speed / nullif(l.n - r.n, 0) > 3",
    "not (left.speed > 10 and right.sensor = 'b')": None,
    "left.ts >= right.ts": None,
    "left.ts > '2013-10-07 09:30:00.15'": None,
    "left.ts = '2013-10-07T11:30:00+02:00'": "l.ts = '2013-10-07 09:30:00'",
    "left.day >= right.day": None,
    "left.day - right.day <= 1": None,
    "left.day >= '2013-10-07'": None,
    "left.day < right.ts": None,
    "left.at < '09:30'": None,
    "left.at > right.at": None,
    "left.wait >= right.wait": None,
    "left.ts + left.wait >= right.ts": None,
    "abs(left.ts - right.ts) <= '200ms'": "abs(epoch_ms(l.ts) - epoch_ms(r.ts)) <= 200",
    "abs(left.ts - right.ts) <= 200000000": "abs(epoch_ms(l.ts) - epoch_ms(r.ts)) <= 200",
    "left.ts - right.ts >= '1d'": "l.ts - r.ts >= INTERVAL 1 DAY",
    "right.ts <= left.ts + '5min'": "r.ts <= l.ts + INTERVAL 5 MINUTE",
    "left.wait * 2 > '0.3s'": "epoch_ms(l.wait) * 2 > 300",
    # Between two ticks of the columns, here days.
    "left.day >= '2013-10-07 09:30:00'": f"l.day >= {MONDAY} + INTERVAL 570 MINUTE",
    "'2013-10-07 09:30:00' > left.day": f"{MONDAY} + INTERVAL 570 MINUTE > l.day",
    "left.day <= '2013-10-07 09:30:00'": f"l.day <= {MONDAY} + INTERVAL 570 MINUTE",
    "left.day = '2013-10-07 09:30:00'": f"l.day = {MONDAY} + INTERVAL 570 MINUTE",
    "'2013-10-07 09:30:00' != left.day": f"{MONDAY} + INTERVAL 570 MINUTE != l.day",
}


@pytest.mark.parametrize("text", SAME_IN_SQL)
def test_same_as_duckdb(text: str) -> None:
    predicate = SAME_IN_SQL[text] or text.replace("left.", "l.").replace("right.", "r.")
    left, right = pa.table(CARS), pa.table(PLATES)
    with duckdb.connect() as connection:
        connection.register("cars", left)
        connection.register("plates", right)
        expected = connection.execute(
            f"SELECT l.n, r.n FROM cars l, plates r WHERE {predicate} ORDER BY ALL"
        ).fetchall()
    assert 0 < len(expected) < 36 or text.startswith("left.day = ")
    assert passing(text, CARS, PLATES) == expected


# --- what neither of them shows ------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype",
    [
        *(pa.int8(), pa.int16(), pa.int32(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float16(), pa.float32(), pa.decimal128(5, 2), pa.decimal256(5, 2)),
        *(pa.date32(), pa.date64(), pa.time32("ms"), pa.time64("ns"), pa.duration("us")),
        *(pa.string(), pa.large_string(), pa.string_view()),
        *(pa.binary(), pa.large_binary(), pa.binary_view()),
        *(pa.dictionary(pa.int32(), value) for value in (pa.int8(), pa.binary(), pa.time32("s"))),
    ],
    ids=str,
)
def test_every_type_of_column(dtype: pa.DataType) -> None:
    plain = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    text = any(word in str(plain) for word in ("string", "binary"))
    values = ["", "1", None, "2", "1"] if text else [0, 1, None, 2, 1]
    if pa.types.is_date64(plain):
        values = [value and value * 86_400_000 for value in values]
    array = pa.array(values, plain)
    batch = pa.record_batch({"c": array if plain == dtype else array.dictionary_encode()})
    # The second batch starts in the middle of its buffers.
    assert passing("left.c == right.c", batch, batch.slice(1)) == [
        (1, 0), (1, 3), (3, 2), (4, 0), (4, 3)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("left.x == 'a = b'", False),
        ("left.x == 'it''s <> AND \"x\"'", True),
        ('left.x == "it\'s <> AND \\"x\\""', True),
        ("left.AND = 1\n AND NOT\n left.AND <> 1", True),
        ("1 = left.AND = 1.0", True),
        ("left.AND == -9223372036854775808 or left.AND != -1", True),
        ("left.AND / 0 == 1 or left.AND / 0 != 1", False),
        ("left.AND + 9223372036854775807 < 0", True),
        ("left.AND == True and True", True),
        ("not False and left.AND == 1", True),
    ],
)
def test_spelling(text: str, passes: bool) -> None:
    batch = pa.record_batch({"x": ['it\'s <> AND "x"'], "AND": [1]})
    assert bool(passing(text, batch, batch)) is passes


def test_times_are_counted_in_the_finest_unit_named() -> None:
    seconds = pa.record_batch({"ts": pa.array([0, 1], pa.timestamp("s"))})
    millis = pa.record_batch({"ts": pa.array([0, 1], pa.timestamp("ms"))})
    assert passing("left.ts - right.ts == 1", seconds, seconds) == [(1, 0)]
    assert passing("left.ts - right.ts == 999", seconds, millis) == [(1, 1)]
    nanos = pa.record_batch({"ts": pa.array([0, 1], pa.timestamp("ns", "UTC"))})
    for text in ("> '1970-01-01 00:00:00.000000000'", "= '1970-01-01T01:00:00.000000001+01:00'"):
        assert passing(f"left.ts {text}", nanos, seconds.slice(1)) == [(1, 0)]


def test_a_string_of_two_words_has_both_places_null() -> None:
    batch = pa.record_batch({"n": pa.array([None, 7]), "s": pa.array(["x", None])})
    where = compile_where("left.n == 7 and left.s != right.s", batch.schema, batch.schema)
    assert where.columns == (("n", "s"), ("s",))
    assert where.width == 4
    left, right = where.encode(0, batch), where.encode(1, batch)
    assert left[:, -1].tolist() == [0b001, 0b110]
    assert right[:, -1].tolist() == [0, 0b011]
    assert left[:, 0].tolist() == [0, 7]
    assert left[0, 1:3].tolist() == right[0, :2].tolist()
    assert where.encode(0, batch.slice(0, 0)).shape == (0, 4)


def test_a_null_inside_a_dictionary() -> None:
    batch = pa.record_batch({"s": pa.DictionaryArray.from_arrays([0, 1], [None, "a"])})
    assert passing("left.s == right.s or left.s != right.s", batch, batch) == [(1, 1)]


def test_strings_are_equal_only_if_both_words_are() -> None:
    rows = np.array([[5, 6, 0], [5, 7, 0], [4, 6, 0]])
    same = _passing(assemble([(TEXT_EQ, LEFT, RIGHT)]), rows, rows)
    assert np.array_equal(same, np.eye(3, dtype=bool))
    assert np.array_equal(_passing(assemble([(TEXT_NE, LEFT, RIGHT)]), rows, rows), ~same)


@pytest.mark.compiled
def test_no_filter_and_every_filter_have_one_compiled_form() -> None:
    batch = pa.record_batch({"x": [1.5], "s": ["a"]})
    where = compile_where("left.x > 1 and right.s = 'a'", batch.schema, batch.schema)
    words = where.encode(0, batch)
    assert not is_interpreted()
    compiled = specialise(_first_pair, EMPTY)
    for code in (EMPTY, where.code, pickle.loads(pickle.dumps(where)).code):
        assert isinstance(code, Residual)
        assert compiled(code, words, where.encode(1, batch))
    assert len(compiled.signatures) == 1


def test_rows_of_any_layout() -> None:
    batch = pa.record_batch({"x": [1, 2, 3], "y": [3, 2, 1]})
    where = compile_where("left.x < right.y", batch.schema, batch.schema)
    left, right = where.encode(0, batch), where.encode(1, batch)
    wide = np.zeros((6, 2 * where.width), np.int64)
    wide[::2, ::2] = left
    expected = _passing(where.code, left, right)
    assert expected.sum() == 3
    assert np.array_equal(_passing(where.code, wide[::2, ::2], right), expected)
    assert np.array_equal(_passing(where.code, left, np.asfortranarray(right)), expected)


@pytest.mark.compiled
def test_a_thousand_alternatives() -> None:
    batch = pa.record_batch({"x": range(1001)})
    text = " or ".join(f"left.x = {i}" for i in range(1, 1001))
    assert passing(text, batch, batch.slice(0, 1)) == [(i, 0) for i in range(1, 1001)]
