"""Keys that SQL and Arrow have no comparison for, and keys that never match."""

import math
import uuid
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest

from recollect.errors import InputError, NullKeyError
from tests.join.brute import ALWAYS, brute_force, joined, pairs_in, table

LISTS = [[], [1], [1, 2], [2, 1], [None], [1, None], None]
STRUCTS = [{"a": a, "b": b} for a in (None, 1, 2) for b in (None, "x", "y")] + [None]
IDS = [uuid.UUID(int=i).bytes for i in range(4)]
NESTED = {
    "list": pa.array(LISTS, pa.list_(pa.int64())),
    "large list": pa.array(LISTS, pa.large_list(pa.int8())),
    "fixed list": pa.array([[1, 2], [2, 1], [1, None], None], pa.list_(pa.int16(), 2)),
    "struct": pa.array(STRUCTS),
    "deep": pa.array([[{"a": [x]}] for x in (1, 2, None)] + [[]]),
    "map": pa.array([[("a", 1)], [("a", 2)], [("b", 1)], []], pa.map_(pa.string(), pa.int8())),
    "list of words": pa.array([["a"], ["a", "b"], ["ab"], [""], [None]]),
    "list of moments": pa.array([[0], [1], [1, 0]], pa.list_(pa.timestamp("ns"))),
    "uuid": pa.array(IDS, pa.uuid()),
    "interval": pa.array([(1, 2, 3), (1, 2, 4), None], pa.month_day_nano_interval()),
    "half": pa.array(np.array([0.5, 1, 2, -0.0, 0], np.float16)),
}


def twice(values: pa.Array) -> list[pa.Table]:
    random = np.random.default_rng(5)
    picks = [random.integers(0, len(values), 60) for _ in range(2)]
    return [table(range(60), values.take(pa.array(pick))) for pick in picks]


@pytest.mark.parametrize("kind", NESTED)
def test_every_pair_of_equal_values_and_no_other(kind):
    left, right = twice(NESTED[kind])
    expected = brute_force(left, right, (40, 40))
    assert len(expected) > 100
    assert pairs_in(joined(left, right, window=40), left, right) == expected


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (pa.array([1, 2, 3], pa.int8()), pa.array([3, 2, 1], pa.int64())),
        (pa.array([1, 2, 3], pa.int32()), pa.array([1.0, 2.5, 3.0])),
        (pa.array([1, 2, 3], pa.float32()), pa.array([1.0, 2.5, 3.0])),
        (pa.array(["a", "b"]), pa.array(["b", "c"], pa.large_string())),
        (pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "a"], pa.string_view())),
        (pa.array([timedelta(1)], pa.duration("s")), pa.array([timedelta(1)], pa.duration("ns"))),
        (pa.array([[1], [2]], pa.list_(pa.int8())), pa.array([[2]], pa.large_list(pa.int64()))),
    ],
    ids=lambda array: str(array.type),
)
def test_keys_of_different_types(one, two):
    left, right = table(range(len(one)), one), table(range(len(two)), two)
    expected = brute_force(left, right, (ALWAYS, ALWAYS))
    assert expected
    result = joined(left, right, window="unlimited")
    found = zip(result["left_n"].to_pylist(), result["right_n"].to_pylist(), strict=True)
    assert sorted(found) == expected


@pytest.mark.parametrize("other", ["x", True, b"x", [1], timedelta(1), None])
def test_keys_that_cannot_be_compared(other):
    with pytest.raises(InputError, match="cannot be compared"):
        joined(table([1], pa.array([1])), table([1], pa.array([other])), window=1)


def test_null_and_nan_never_match():
    keys = pa.array([None, math.nan, 1.0, None, math.nan, -0.0, 0.0])
    left = table(range(7), keys, b=pa.array([1] * 7))
    answer = joined(left, left, window=100)
    assert pairs_in(answer, left, left) == [(2, 2), (5, 5), (5, 6), (6, 5), (6, 6)]
    assert joined(left, left, window=100, on="b,key").num_rows == 5
    both = pa.array([None, None, 1, 1])
    several = table(range(4), both, b=pa.array([1, None, None, 1]))
    assert pairs_in(joined(several, several, on="key,b", window=9), several, several) == [(3, 3)]


@pytest.mark.parametrize(("key", "what"), [(None, "NULL"), (math.nan, "NaN")])
def test_null_and_nan_can_be_errors_that_name_the_row(key, what):
    good, bad = table([1, 2], pa.array([1.0, 2.0])), table([1, 2], pa.array([1.0, key]))
    with pytest.raises(NullKeyError, match=f"'key' of the right stream is {what} in row 1"):
        joined(good, bad, window=1, null_keys="error")
    with pytest.raises(InputError, match="null_keys='maybe'"):
        joined(good, bad, window=1, null_keys="maybe")
