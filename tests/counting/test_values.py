"""Values of any type come back as they were, and only those with an entry are kept."""

from collections import Counter
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from recollect.counting import ValueCounter

DAYS = [date(2020, 1, day) for day in range(1, 29)]
MAKERS = {
    "int8": (pa.int8(), lambda i: i),
    "bool": (pa.bool_(), lambda i: i % 2 == 0),
    "double": (pa.float64(), lambda i: i / 7),
    "string": (pa.string(), lambda i: "é" * i),
    "binary": (pa.binary(), lambda i: bytes([i] * 9)),
    "decimal": (pa.decimal128(30, 3), lambda i: Decimal(int(i)) / 8),
    "date": (pa.date32(), lambda i: DAYS[i]),
    "timestamp": (pa.timestamp("us", "UTC"), lambda i: datetime(2024, 1, 1 + i)),
    "list": (pa.list_(pa.int64()), lambda i: [i] * (i % 4)),
    "struct": (pa.struct([("a", pa.int64()), ("b", pa.string())]), lambda i: {"a": i, "b": "x"}),
}


@pytest.mark.parametrize("name", MAKERS)
def test_every_type(name):
    kind, make = MAKERS[name]
    random = np.random.default_rng(1)
    numbers = (28 * random.random(400) ** 2).astype(int)
    whole = pa.array([None if i == 5 else make(i) for i in numbers], kind)
    counter = ValueCounter(kind, epsilon=0.02, memory=20)
    for start in range(0, 400, 37):
        counter.add(whole.slice(start, 37))
    values, entries = counter.all_entries()
    assert values.type == kind
    assert len(values) == len(entries.counts) <= 20
    assert counter.nulls == whole.null_count > 0
    true = Counter(map(repr, whole.drop_null().to_pylist()))
    shown = [repr(value) for value in values.to_pylist()]
    assert len(set(shown)) == len(shown)
    for value, count, error in zip(shown, entries.counts, entries.errors, strict=True):
        assert count <= true[value] <= count + error
    found = counter.frequent(0.2)
    wanted = {value for value, count in true.items() if count >= 0.2 * (400 - counter.nulls)}
    assert wanted <= {repr(value) for value in found.values.to_pylist()}


def test_nan_is_no_value():
    counter = ValueCounter(pa.float64(), epsilon=0.1)
    counter.add(pa.array([0.0, -0.0, float("nan"), None, float("nan")]))
    assert (counter.nulls, counter.counter.tuples) == (3, 2)
    assert counter.frequent(1.0).values.to_pylist() == [0.0]


def test_no_rows():
    counter = ValueCounter(pa.string(), epsilon=0.1)
    counter.add(pa.array([], pa.string()))
    counter.add(pa.array([None], pa.string()))
    assert counter.frequent(0.5).values.to_pylist() == []
