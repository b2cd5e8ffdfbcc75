"""Equal values have equal codes and different values different ones, however they are stored."""

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import InputError
from recollect.hashing import code_of, code_of_columns, fits_in_64_bits, hash_strings, missing

WHOLE = [0, 1, 2, 127]
WORDS = ["", "a", "b", "ab", "ba", "a\0", "\0a", "é", "x" * 100]
VALUES = {
    **dict.fromkeys((pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint32()), WHOLE),
    pa.int64(): [*WHOLE, 2**63 - 1, -(2**63), -1],
    pa.uint64(): [*WHOLE, 2**64 - 1, 2**63],
    pa.float64(): [0.0, 0.5, -0.5, 1e300, math.inf, -math.inf, 5e-324],
    pa.float32(): [0.0, 0.5, -0.5, math.inf],
    pa.bool_(): [True, False],
    pa.string(): WORDS,
    pa.large_string(): WORDS,
    pa.string_view(): WORDS,
    pa.binary(): [word.encode() for word in WORDS],
    pa.large_binary(): [word.encode() for word in WORDS],
    pa.binary_view(): [word.encode() for word in WORDS],
    pa.binary(3): [b"abc", b"abd", b"\0\0\0"],
    pa.decimal128(20, 3): [Decimal(0), Decimal("0.001"), Decimal(-1), Decimal(10**15)],
    pa.decimal256(50, 3): [Decimal(0), Decimal("0.001"), Decimal(-1), Decimal(10**15)],
    pa.date32(): [date(1970, 1, 1), date(1969, 1, 1), date(2020, 2, 29)],
    pa.date64(): [date(1970, 1, 1), date(1969, 1, 1), date(2020, 2, 29)],
    pa.timestamp("ns", "UTC"): [datetime(1970, 1, 1), datetime(2020, 1, 1)],
    pa.time32("ms"): [time(0), time(12), time(23, 59, 59)],
    pa.time64("us"): [time(0), time(12), time(23, 59, 59)],
    pa.duration("s"): [timedelta(0), timedelta(1), timedelta(-1)],
    pa.list_(pa.int8()): [[], [0], [0, 0], [1, 2], [2, 1], [None], [None, None], [1, None]],
    pa.large_list(pa.string()): [[], [""], ["", ""], ["a", "b"], ["ab"], [None]],
    pa.list_(pa.float64(), 2): [[0.0, 1.0], [1.0, 0.0], [None, 0.0], [0.0, None]],
    pa.struct({"a": pa.int8(), "b": pa.string()}): [
        {"a": a, "b": b} for a in (0, 1, None) for b in ("", "x", None)
    ],
    pa.map_(pa.string(), pa.int8()): [[], [("a", 1)], [("a", None)], [("b", 1)], [("a", 0)] * 2],
    pa.list_(pa.struct({"a": pa.list_(pa.int8())})): [
        [], [None], [{"a": None}], [{"a": []}], [{"a": [1]}], [{"a": [1]}, {"a": []}]
    ],
    pa.dictionary(pa.int8(), pa.string()): ["a", "b", ""],
    pa.list_(pa.dictionary(pa.int8(), pa.string())): [["a"], ["b"], ["a", "b"]],
}  # fmt: skip


@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_equal_values_have_equal_codes_and_others_have_not(kind):
    values = VALUES[kind]
    array = pa.array(values + values[::-1], kind)
    codes = code_of(array)
    assert (codes.dtype, len(codes)) == (np.int64, 2 * len(values))
    assert len(set(codes.tolist())) == len(values)
    assert codes.tolist() == codes[::-1].tolist()
    # Pieces start in the middle of their buffers.
    for start, length in ((1, len(values)), (len(values), 1), (2 * len(values) - 1, 1)):
        assert code_of(array.slice(start, length)).tolist() == codes[start:][:length].tolist()
    assert code_of(array.slice(0, 0)).shape == (0,)
    with_null = pa.array([None, *values, None], kind)
    assert code_of(with_null)[1:-1].tolist() == codes[: len(values)].tolist()
    columns = code_of_columns([array, array])
    assert len(set(columns.tolist())) == len(values)


@pytest.mark.parametrize("plain", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_the_encoding_makes_no_difference(plain):
    words = pa.array([*WORDS, None])
    expected = code_of(words)[:-1].tolist()
    for array in (words.cast(plain), words.cast(plain).dictionary_encode()):
        assert code_of(array)[:-1].tolist() == expected


def test_what_is_equal_in_value_is_equal_in_code():
    assert len(set(code_of(pa.array([0.0, -0.0])))) == 1
    assert len(set(code_of(pa.array([[0.0], [-0.0]])))) == 1
    assert len(set(code_of(pa.array([{"x": 0.0}, {"x": -0.0}])))) == 1
    single, double = pa.array([0.5, -0.0], pa.float32()), pa.array([0.5, 0.0])
    assert code_of(single).tolist() == code_of(double).tolist()


def test_the_order_of_columns_and_their_borders_matter():
    one, two = pa.array(["ab", "a", "b"]), pa.array(["c", "bc", "ac"])
    assert len({*code_of_columns([one, two]), *code_of_columns([two, one])}) == 6


@given(st.lists(st.binary(max_size=12), max_size=30), st.integers(0, 5))
@settings(max_examples=80, deadline=None)
def test_any_bytes(values, start):
    codes = code_of(pa.array(values, pa.binary()).slice(start))
    assert len(set(codes.tolist())) == len(set(values[start:]))
    other = hash_strings(pa.array(values, pa.large_binary()).slice(start), seed=1)
    assert not set(codes.tolist()) & set(other.tolist())


def test_the_code_is_the_value_itself_where_it_fits():
    for kind, values in VALUES.items():
        if fits_in_64_bits(kind) and pa.types.is_integer(kind):
            assert code_of(pa.array(values, kind)).astype(np.uint64).tolist() == [
                value % 2**64 for value in values
            ]
    assert not any(fits_in_64_bits(kind) for kind in (pa.string(), pa.decimal128(5), pa.binary(8)))


def test_missing_values():
    floats, words = pa.array([1.0, math.nan, None, 2.0]), pa.array(["a", "b", "c", None])
    assert missing([floats, words]).tolist() == [False, True, True, True]
    assert missing([floats.slice(3), words.slice(0, 1)]) is None
    assert missing([pa.array([[None], None])]).tolist() == [False, True]
    assert missing([pa.nulls(2)]).tolist() == [True, True]


def test_what_has_no_code():
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    with pytest.raises(InputError, match=r"a key of type .*union.* cannot be compared"):
        code_of(union)
