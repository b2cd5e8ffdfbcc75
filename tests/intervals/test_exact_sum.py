"""Exact sums against Python's own, whatever comes and goes."""

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.intervals.exact_sum import (
    DIGITS,
    FLOAT_LANES,
    INTEGER_LANES,
    add_float,
    add_integer,
    rounded_float,
    rounded_integer,
)
from tests.naive.intervals import float_sum as naive_sum

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)


def lanes_of(values, add, width):
    lanes = np.zeros(width, np.int64)
    for value in values:
        add(lanes, value, 1)
    return lanes


def bits(value):
    return np.float64(value).view(np.int64)


def float_sum(lanes):
    return float(rounded_float(lanes, 0, DIGITS, np.zeros(FLOAT_LANES, np.int64)))


@settings(max_examples=100, deadline=None)
@given(st.lists(FLOATS, max_size=8), st.lists(FLOATS, max_size=4))
@example([5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 2.0**-1074], [])
@example([1.0, 2.0**-53, 2.0**-105], [1e300])
@example([-1.0, -(2.0**-53), -(2.0**-105)], [])
@example([1.7976931348623157e308] * 3, [])
def test_floats_are_rounded_once(staying, leaving):
    lanes = lanes_of(map(bits, [*leaving, *staying]), add_float, FLOAT_LANES)
    for value in leaving:
        add_float(lanes, bits(value), -1)
    assert float_sum(lanes) == naive_sum(staying)
    for value in staying:
        add_float(lanes, bits(value), -1)
    assert not lanes.any()


def test_what_is_not_finite():
    inf, nan = math.inf, math.nan
    for values, expected in (([inf, 1], inf), ([-inf, inf], nan), ([nan, 1], nan), ([-inf], -inf)):
        lanes = lanes_of(map(bits, values), add_float, FLOAT_LANES)
        assert np.array_equal(float_sum(lanes), expected, equal_nan=True)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), max_size=12))
def test_whole_numbers_beyond_64_bits(values):
    lanes = lanes_of(map(np.int64, values), add_integer, INTEGER_LANES)
    digits = np.zeros(FLOAT_LANES, np.int64)
    assert int(lanes[1]) * 2**32 + int(lanes[0]) == sum(values)
    assert float(rounded_integer(lanes, digits)) == float(sum(values))
