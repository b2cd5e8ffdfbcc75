"""Every mistake in a filter is one line that names the part and the way out."""

import pyarrow as pa
import pytest

from recollect.errors import FilterError
from recollect.join.where import compile_where

LEFT = pa.schema(
    {
        "x": pa.int64(),
        "big": pa.uint64(),
        "name": pa.string(),
        "flag": pa.bool_(),
        "ts": pa.timestamp("s"),
        "wait": pa.duration("s"),
        "clock": pa.time32("s"),
        "items": pa.list_(pa.int8()),
    }
)
RIGHT = pa.schema({"y": pa.float64(), "name": pa.large_string(), "y2": pa.int8()})

MISTAKES = {
    "left.z > 1": "left.z: no such column; the left stream has x, big, name, flag, ts",
    "right['odd name'] > 1": "no such column; the right stream has y, name, y2",
    "left.x >": "'left.x >': invalid syntax at character 8;",
    "left.x = = 1": "'left.x = = 1': invalid syntax at character 10;",
    "  left.x = 1 = = 2": "at character 16;",
    "left.name = 'open": "unterminated string literal (detected at line 1) at character 13",
    "left.x > 1 # and right.y > 2": "invalid syntax at character 12",
    "": "at character 0",
    "left.x + 1": "left.x + 1 is a value (integer), not a condition",
    "left.x and left.x > 1": "left.x is a value (integer), not a condition",
    "1 < 2": "1 < 2: names no column, such as left.x or right.x",
    "x > 1 and left.x > 1": "x: not possible here; a filter has ==",
    "round(left.x) > 1": "round(left.x): not possible here",
    "abs(left.x, 1) > 1": "abs(left.x, 1): not possible here",
    "left.x % 2 == 0": "left.x % 2: not possible here",
    "left.x ** 2 == 0": "left.x ** 2: not possible here",
    "+left.x > 0": "+left.x: not possible here",
    "left.x is None": "left.x is None: not possible here",
    "left.x in (1, 2)": "left.x in (1, 2): not possible here",
    "left.x == None": "None: not possible here",
    "left.name == b'a'": "b'a': not possible here",
    "left.x.y == 1": "left.x.y: a column is written left.name or left['odd name']",
    "left[0] == 1": "left[0]: a column is written",
    "middle.x == 1": "middle.x: a column is written",
    "left.name == 5": "left.name (string) and 5 (integer) cannot be compared",
    "left.name == right.y": "left.name (string) and right.y (float) cannot be compared",
    "left.name < right.name": "left.name (string) and right.name (string) cannot be compared",
    "left.name >= 'a'": "'a' (string) and left.name (string) cannot be compared",
    "left.x == 'a'": "left.x (integer) and 'a' (string) cannot be compared",
    "left.name + 'a' == 'b'": "left.name + 'a': left.name (string) and 'a' (string) do not go",
    "-left.name == 'b'": "-left.name: 0 (integer) and left.name (string) do not go together",
    "left.ts + left.ts > 0": "left.ts (timestamp) and left.ts (timestamp) do not go together",
    "abs(left.ts) > 0": "abs(left.ts): left.ts (timestamp)",
    "left.ts * 2 > 0": "left.ts * 2: left.ts (timestamp) and 2 (integer) do not go together",
    "left.ts > left.wait": "left.wait (duration) and left.ts (timestamp) cannot be compared",
    "left.clock == left.ts": "left.clock (time of day) and left.ts (timestamp) cannot be",
    "left.ts > '2013-13-01'": "'2013-13-01' is not a timestamp; write '2013-10-07'",
    "left.ts - left.ts > '10 parsec'": "'10 parsec' is not a duration; write '200ms'",
    "left.clock > '9 o clock'": "'9 o clock' is not a time of day; write '09:30'",
    "left.ts + '1500ms' > left.ts": "left.ts (timestamp) and '1500ms' (duration) do not go",
    "left.wait < '99999999999999999999h'": "'99999999999999999999h' is out of the range",
    "(left.x > 1) == left.flag": "left.x > 1 is a condition, not a value",
    "left.x > 9223372036854775808": "9223372036854775808 does not fit in 64 signed bits",
    "left.items == 1": "left.items is of type list<item: int8>; a filter takes numbers",
    "left.x == 1" + ")" * 3: "unmatched ')' at character 12",
    "not " * 5000 + "left.flag": "nested too deeply",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistake(text: str) -> None:
    with pytest.raises(FilterError) as caught:
        compile_where(text, LEFT, RIGHT)
    assert MISTAKES[text] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_that_two_columns_have() -> None:
    twice = pa.schema([("x", pa.int8()), ("x", pa.int8())])
    with pytest.raises(FilterError, match=r"left\.x: ambiguous column; the left stream has x, x"):
        compile_where("left.x > 1", twice, RIGHT)


@pytest.mark.parametrize(("dtype", "most"), [(pa.int8(), 63), (pa.string(), 31)])
def test_too_many_columns(dtype: pa.DataType, most: int) -> None:
    many = pa.schema([(f"c{i}", dtype) for i in range(64)])
    terms = [f"left.c{i} == left.c0" for i in range(64)]
    assert len(compile_where(" and ".join(terms[:most]), many, RIGHT).columns[0]) == most
    with pytest.raises(FilterError, match=r"words of one tuple .* name fewer columns"):
        compile_where(" and ".join(terms[: most + 1]), many, RIGHT)


def test_a_number_beyond_63_bits() -> None:
    where = compile_where("left.big > 1", LEFT, RIGHT)
    fits = pa.record_batch({"big": pa.array([2**63 - 1, None], pa.uint64())})
    assert where.encode(0, fits)[0, 0] == 2**63 - 1
    with pytest.raises(FilterError, match=r"left\.big \(uint64\) .*9223372036854775808"):
        where.encode(0, pa.record_batch({"big": pa.array([1, 2**63], pa.uint64())}))


def test_a_time_beyond_the_finest_unit() -> None:
    fine = pa.schema({"ts": pa.timestamp("ns")})
    where = compile_where("left.ts > right.ts", LEFT, fine)
    with pytest.raises(FilterError, match=r"left\.ts \(timestamp\[s\]\) has a value"):
        where.encode(0, pa.record_batch({"ts": pa.array([2**40], pa.timestamp("s"))}))
