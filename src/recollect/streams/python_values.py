"""Values of Arrow columns as Python values, also where Python's own types are too small.

Python's dates end with the year 9999 and its times with the microsecond. Arrow's go further, and
Arrow turns nanoseconds into Python values only with pandas there, which this library does without.
"""

from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyarrow import types

TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""How many of each unit make a second."""


class Seconds(Decimal):
    """A duration that ``timedelta`` cannot hold."""

    def __str__(self) -> str:
        """The number, never with an exponent, and its unit."""
        return f"{self:f} s"


def python_values(array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the values of a column, NULL as None.

    What Python's types cannot hold in full comes as Arrow's text, a duration as :class:`Seconds`.

    Examples
    --------
    >>> python_values(pa.array([0, 2**62], pa.timestamp("ns")))
    ['1970-01-01 00:00:00.000000000', '2116-02-20 23:53:38.427387904']
    >>> python_values(pa.array([86_400 * 10**9], pa.duration("ns")))
    [datetime.timedelta(days=1)]
    """
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in python_values(chunk)]
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    kind = array.type
    if types.is_nested(kind):
        return [_nested(scalar) for scalar in array] if _has_times(kind) else array.to_pylist()
    if not types.is_temporal(kind) or types.is_interval(kind):
        return array.to_pylist()
    try:
        if getattr(kind, "unit", "") == "ns":
            array = array.cast(_micros(kind))  # raises if that would lose digits
        return array.to_pylist()
    except (pa.ArrowInvalid, OverflowError, ValueError):
        return _seconds(array) if types.is_duration(kind) else array.cast(pa.string()).to_pylist()


def text_of(value: pa.Scalar) -> str:
    """Return the text of a value for a message.

    Examples
    --------
    >>> text_of(pa.scalar(1, pa.timestamp("ns"))), text_of(pa.scalar(0, pa.timestamp("ns")))
    ('1970-01-01 00:00:00.000000001', '1970-01-01 00:00:00')
    """
    return str(_python_value(value))


def _python_value(scalar: pa.Scalar) -> Any:
    return python_values(pa.array([scalar], scalar.type))[0]


def _has_times(kind: pa.DataType) -> bool:
    if types.is_dictionary(kind):
        return _has_times(kind.value_type)
    if not types.is_nested(kind):
        return bool(types.is_temporal(kind))
    return any(_has_times(kind.field(i).type) for i in range(kind.num_fields))


def _nested(scalar: pa.Scalar) -> Any:
    if not scalar.is_valid:
        return None
    if types.is_map(scalar.type):
        pairs = scalar.values
        keys, values = (python_values(pairs.field(i)) for i in range(2))
        return list(zip(keys, values, strict=True))
    if isinstance(scalar, pa.StructScalar):
        return {name: _python_value(member) for name, member in scalar.items()}
    if hasattr(scalar, "values"):
        return python_values(scalar.values)
    return scalar.as_py()  # unions


def _micros(kind: pa.DataType) -> pa.DataType:
    if types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.duration("us") if types.is_duration(kind) else pa.time64("us")


def _seconds(array: pa.Array) -> list[Seconds | None]:
    ticks = array.cast(pa.int64()).to_pylist()
    whole = TICKS[array.type.unit]
    return [None if n is None else Seconds(Decimal(n) / whole) for n in ticks]
