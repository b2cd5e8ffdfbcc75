"""Values of every kind as 64-bit words that sort like the values do.

One kind of word makes one compiled sweep and one index for all: whole numbers and decimals are the
number (of hundredths, say), times the number of units since 1970, floats their bits put in order,
strings the place where they were first seen. NULL is the least word.

>>> import pyarrow as pa
>>> prices = codec_of(pa.decimal128(9, 2), "price")
>>> prices.encode(pa.array(["1.50", None, "-0.25"]).cast(pa.decimal128(9, 2))).tolist()[::2]
[150, -25]
>>> floats = codec_of(pa.float64(), "x")
>>> words = floats.encode(pa.array([-1.5, float("-inf"), 2.0, None]))
>>> floats.decode(np.sort(words)).to_pylist()
[None, -inf, -1.5, 2.0]
>>> codec_of(pa.timestamp("s"), "at").place("1970-01-02 00:00:00.5")
Fraction(172801, 2)
"""

import re
from abc import ABC, abstractmethod
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from recollect.compiled import inlined
from recollect.errors import FilterError, InputError
from recollect.join.window import NANOSECONDS, parse_duration

Words = np.ndarray
NULL = np.iinfo(np.int64).min
LEAST, MOST = int(NULL) + 1, int(np.iinfo(np.int64).max)
INFINITY, NAN = 0x7FF0_0000_0000_0000, 0x7FF8_0000_0000_0000
NEGATIVE_ZERO = NULL
"""The bits of floats that need care."""
MOST_DIGITS = 38


@inlined
def bits_of(word):  # type: ignore[no-untyped-def]
    """The bits of a float from its word, and the other way round; also of arrays of them."""
    return word ^ ((word >> 63) & MOST)


# pyarrow's own conversions (``pa.array``, ``fill_null``) load pandas, if it is installed, to see
# whether they were given something of it. That takes 40 MB, so the next two go by the buffers.


def numpy_words(array: pa.Array) -> Words:
    """The words of an array of a 64-bit type, as int64; those of NULLs are anything."""
    if not len(array):
        return np.empty(0, np.int64)
    return np.frombuffer(array.buffers()[1], np.int64, len(array), 8 * array.offset)


def arrow_column(words: Words, kind: pa.DataType, nulls: np.ndarray | None) -> pa.Array:
    """A column with NULLs where a mask says so; of a 128-bit type if there are rows of words.

    >>> arrow_column(np.array([7, 8, 9]), pa.int64(), np.array([False, True, False])).to_pylist()
    [7, None, 9]
    """
    validity = None
    if nulls is not None:
        validity = pa.py_buffer(np.packbits(~nulls, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(words))
    return pa.Array.from_buffers(kind, len(words), [validity, data])


def decimals(low: Words, high: Words, kind: pa.DataType, nulls: np.ndarray | None) -> pa.Array:
    """Decimals from the halves of 128-bit whole numbers."""
    return arrow_column(np.stack([low, high], axis=1), kind, nulls)


class Codec(ABC):
    """How the values of a column become words, and words values again."""

    floats = False
    unit = 1.0
    """By what a word must be divided to give the number."""
    finite = (LEAST, MOST)
    """The words that an order can be asked of: all but NULL and NaN."""

    def __init__(self, kind: pa.DataType, name: str) -> None:
        self.kind = kind
        self.name = name

    def encode(self, array: pa.Array) -> Words:
        """Turn a column into words."""
        try:
            words = self.words(array)
        except (pa.ArrowInvalid, OverflowError) as error:
            raise InputError(f"column {self.name!r} ({self.kind}): {error}") from None
        if array.null_count:
            words = np.where(array.is_null().to_numpy(zero_copy_only=False), NULL, words)
        if np.count_nonzero(words == NULL) > array.null_count:
            raise InputError(f"column {self.name!r} holds {NULL}, which stands for NULL here")
        return words

    def decode(self, words: Words) -> pa.Array:
        """Turn words into a column."""
        nulls = words == NULL
        return self.values(np.where(nulls, 0, words), nulls if nulls.any() else None)

    def words(self, array: pa.Array) -> Words:
        """The words of an array; those of NULLs do not matter."""
        return self._words(array)

    def values(self, words: Words, nulls: np.ndarray | None) -> pa.Array:
        """The column of some words, with NULLs where a mask says so."""
        return self._values(words, nulls)

    @abstractmethod
    def _words(self, array: pa.Array) -> Words: ...

    @abstractmethod
    def _values(self, words: Words, nulls: np.ndarray | None) -> pa.Array: ...

    def place(self, text: str) -> Fraction:
        """Where a literal lies among the words; between two of them for a value of neither."""
        try:
            return self._place(text)
        except FilterError:
            raise
        except (ValueError, ZeroDivisionError):
            raise FilterError(
                f"{self.name} is of type {self.kind}, and {text!r} is no such value"
            ) from None

    @abstractmethod
    def _place(self, text: str) -> Fraction:
        """The same, with a ValueError for a literal that does not fit the column."""


class WholeWords(Codec):
    """Whole numbers and booleans."""

    def _words(self, array: pa.Array) -> Words:
        if types.is_boolean(array.type):
            array = array.cast(pa.int8())
        return numpy_words(array.cast(pa.int64()))

    def _values(self, words: Words, nulls: np.ndarray | None) -> pa.Array:
        return arrow_column(words, pa.int64(), nulls).cast(self.kind)

    def _place(self, text: str) -> Fraction:
        if types.is_boolean(self.kind):
            return Fraction(("false", "true").index(text.lower()))
        return _number(text)


class DecimalWords(Codec):
    """Decimals that fit in 64 bits when the point is left out."""

    def __init__(self, kind: pa.DataType, name: str) -> None:
        super().__init__(kind, name)
        self.unit = 10.0**kind.scale
        self._wide = pa.decimal128(MOST_DIGITS, kind.scale)

    def _words(self, array: pa.Array) -> Words:
        array = array.cast(self._wide)
        halves = np.frombuffer(array.buffers()[1], np.int64).reshape(-1, 2)
        low, high = halves[array.offset : array.offset + len(array)].T
        wide = high != low >> 63
        if array.null_count:
            wide &= ~array.is_null().to_numpy(zero_copy_only=False)
        if len(outside := np.flatnonzero(wide)):
            value = array[int(outside[0])].as_py()
            raise OverflowError(f"{value} has more digits than fit in 64 bits; cast it to a float")
        return low.copy()

    def _values(self, words: Words, nulls: np.ndarray | None) -> pa.Array:
        return decimals(words, words >> 63, self._wide, nulls).cast(self.kind)

    def _place(self, text: str) -> Fraction:
        return _number(text) * Fraction(10) ** self.kind.scale


class FloatWords(Codec):
    """Floats by their bits; NaN comes after infinity and -0.0 is 0.0."""

    floats = True

    def __init__(self, kind: pa.DataType, name: str) -> None:
        super().__init__(kind, name)
        infinities = np.array([-np.inf, np.inf]).view(np.int64)
        low, high = bits_of(infinities).tolist()
        self.finite = (low, high)

    def _words(self, array: pa.Array) -> Words:
        bits = numpy_words(array.cast(pa.float64()))
        bits = np.where(bits == NEGATIVE_ZERO, 0, bits)
        return bits_of(np.where(bits & MOST > INFINITY, NAN, bits))

    def _values(self, words: Words, nulls: np.ndarray | None) -> pa.Array:
        return arrow_column(bits_of(words), pa.float64(), nulls).cast(self.kind)

    def _place(self, text: str) -> Fraction:
        number = float(text)  # the nearest that there is
        if np.isnan(number):
            raise FilterError(f"{self.name}: nothing compares with NaN")
        return Fraction(int(bits_of(np.array([number + 0.0]).view(np.int64))[0]))


class TimeWords(Codec):
    """Dates, time stamps, times of day and durations."""

    def _words(self, array: pa.Array) -> Words:
        array = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
        return numpy_words(array.cast(pa.int64()))

    def _values(self, words: Words, nulls: np.ndarray | None) -> pa.Array:
        array = arrow_column(words, pa.int64(), nulls)
        if self.kind.bit_width == 32:
            array = array.cast(pa.int32())
        return array.view(self.kind)

    def _place(self, text: str) -> Fraction:
        return _nanoseconds(text, self.kind) / (unit_of(self.kind) or 1)


class StringWords(Codec):
    """Strings and bytes by their place in a list of all that have been seen."""

    def __init__(self, kind: pa.DataType, name: str, seen: Any = ()) -> None:
        super().__init__(kind, name)
        self.seen: list[Any] = list(seen)
        self._places = {value: place for place, value in enumerate(self.seen)}

    def _words(self, array: pa.Array) -> Words:
        encoded = array.dictionary_encode()
        local = encoded.dictionary.to_pylist()
        for value in local:
            if value not in self._places:
                self._places[value] = len(self.seen)
                self.seen.append(value)
        places = np.array([self._places[value] for value in local] or [0], np.int64)
        return places[encoded.indices.fill_null(0).to_numpy()]

    def _values(self, words: Words, nulls: np.ndarray | None) -> pa.Array:
        return pa.array(self.seen, self.kind).take(pa.array(words, mask=nulls))

    def _place(self, text: str) -> Fraction:
        # The words of strings are numbers in a list, not in the order of the strings.
        raise FilterError(f"{text} has no place among the strings of column {self.name!r}")

    def literal(self, text: str) -> Any:
        """A literal as it is in the list."""
        return text if _is_text(self.kind) else text.encode()


def codec_of(kind: pa.DataType, name: str) -> Codec:
    """The codec for a column of a type; messages call it by its name."""
    if types.is_integer(kind) or types.is_boolean(kind):
        return WholeWords(kind, name)
    if types.is_floating(kind):
        return FloatWords(kind, name)
    if types.is_decimal(kind):
        return DecimalWords(kind, name)
    if types.is_temporal(kind) and not types.is_interval(kind):
        return TimeWords(kind, name)
    if _is_text(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return StringWords(kind, name)
    raise InputError(
        f"column {name!r} is of type {kind}; a number, a time, a boolean or a string is needed"
    )


def value_codec(kind: pa.DataType, name: str) -> Codec:
    """The codec for a column of which there are sums: numbers only."""
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return codec_of(kind, name)
    raise InputError(f"value column {name!r} is of type {kind}; it must be a number")


def unit_of(kind: pa.DataType) -> int | None:
    """The nanoseconds of a unit of a type of times; None if it has no unit.

    >>> unit_of(pa.date32())
    86400000000000
    """
    if types.is_date(kind):
        return NANOSECONDS["d" if types.is_date32(kind) else "ms"]
    return NANOSECONDS.get(getattr(kind, "unit", ""))


def _is_text(kind: pa.DataType) -> bool:
    return types.is_string(kind) or types.is_large_string(kind)


def _number(text: str) -> Fraction:
    if re.search(r"e[+-]?\d{4}", text, re.IGNORECASE):
        raise ValueError("a number with thousands of digits")
    return Fraction(text)


def _nanoseconds(text: str, kind: pa.DataType) -> Fraction:
    """The nanoseconds of an ISO time (in UTC unless it says otherwise) or of a duration."""
    if types.is_duration(kind):
        duration = parse_duration(text)
        if duration is None:
            raise ValueError(text)
        return Fraction(duration.nanoseconds)
    if types.is_time(kind):
        text = f"1970-01-01 {text}"
    # Python's clock stops at microseconds, so the fraction of a second is read apart from it.
    fraction = re.search(r"(?<=:\d\d)\.\d+", text)
    moment = datetime.fromisoformat(text.replace(fraction[0], "") if fraction else text)
    since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    part = Fraction(f"0{fraction[0]}" if fraction else 0)
    return (since // timedelta(seconds=1) + part) * NANOSECONDS["s"]
