"""Words sort like the values they stand for, and give them back."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from recollect.errors import InputError
from recollect.intervals.words import codec_of, value_codec

COLUMNS = [
    pa.array([-3, None, 2**63 - 1, -(2**63) + 1]),
    pa.array([3, 0, None], pa.uint8()),
    pa.array([True, None, False]),
    pa.array([1.5, None, -0.0, float("-inf"), float("inf"), -1e-300]),
    pa.array([1.5, None, -2.0], pa.float32()),
    pa.array([Decimal("-1.25"), None, Decimal("3.10")], pa.decimal128(9, 2)),
    pa.array([Decimal("-1.25"), None], pa.decimal256(60, 2)),
    pa.array([date(1969, 12, 31), None, date(2024, 2, 29)]),
    pa.array([date(1969, 12, 31), None], pa.date64()),
    pa.array([datetime(1969, 1, 1), None, datetime(2024, 1, 1, 1, 1)], pa.timestamp("ns", "UTC")),
    pa.array([time(1, 2), None, time(0, 1)], pa.time32("s")),
    pa.array([timedelta(1), None, timedelta(-1)]),
]
STRINGS = [pa.array(["b", None, "", "é"]), pa.array([b"b", None, b"\xff"], pa.large_binary())]


@pytest.mark.parametrize("column", COLUMNS + STRINGS, ids=lambda column: str(column.type))
def test_there_and_back(column):
    padded = pa.concat_arrays([column[:1], column])[1:]  # with an offset
    codec = codec_of(column.type, "x")
    words = codec.encode(padded)
    assert codec.decode(words).to_pylist() == column.to_pylist()
    assert codec.decode(words).type == column.type
    assert codec.encode(column[:0]).tolist() == []


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_order(column):
    words = codec_of(column.type, "x").encode(column)
    values = column.take(pa.array(np.argsort(words))).to_pylist()
    assert values[0] is None
    assert values[1:] == sorted(values[1:])


def test_nan_is_the_greatest_and_all_are_equal():
    codec = codec_of(pa.float64(), "x")
    odd = np.array([0x7FF0_0000_0000_0001, 0x7FF8_0000_0000_0000], np.int64).view(np.float64)
    one, other, infinity = codec.encode(pa.array([*odd, np.inf]))
    assert one == other > infinity


def test_what_does_not_fit_is_named():
    with pytest.raises(InputError, match=r"column 'x' .uint64"):
        codec_of(pa.uint64(), "x").encode(pa.array([2**63], pa.uint64()))
    with pytest.raises(InputError, match="stands for NULL"):
        codec_of(pa.int64(), "x").encode(pa.array([-(2**63)]))
    wide = pa.array([Decimal(10) ** 20], pa.decimal128(38, 2))
    with pytest.raises(InputError, match="more digits than fit in 64 bits"):
        codec_of(wide.type, "x").encode(wide)
    with pytest.raises(InputError, match="value column 'x' is of type string; it must be a number"):
        value_codec(pa.string(), "x")
    with pytest.raises(InputError, match="list"):
        codec_of(pa.list_(pa.int64()), "x")
