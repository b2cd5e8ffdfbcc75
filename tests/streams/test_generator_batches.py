"""A generator gives the same tuples whatever the size of the batches, and again on replay."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.streams import LocalityStream, ZipfStream

GENERATORS = [
    ZipfStream(tuples=1000, keys=50, exponent=1.1, seed=7),
    LocalityStream(tuples=1000, keys=50, repeat=0.7, depth=9, seed=7),
    LocalityStream(tuples=1000, weights=[0.1, 0.0, 0.6], seed=7),
]

every_generator = pytest.mark.parametrize("stream", GENERATORS, ids=lambda s: type(s).__name__)


@every_generator
@settings(max_examples=30, deadline=None)
@given(batch_rows=st.integers(1, 1100))
def test_batch_size_does_not_change_the_tuples(stream, batch_rows):
    batches = list(stream.batches(batch_rows=batch_rows))
    assert pa.Table.from_batches(batches) == stream.table()
    assert all(batch.num_rows == batch_rows for batch in batches[:-1])


@every_generator
def test_one_tuple_per_time_unit(stream):
    table = stream.table()
    assert table.schema == stream.schema == pa.schema([("time", pa.int64()), ("key", pa.int64())])
    assert table["time"].to_pylist() == list(range(1000))


@every_generator
def test_seed_decides_the_tuples(stream):
    parameters = {name: getattr(stream, name) for name in stream.__dataclass_fields__}
    twin = type(stream)(**parameters)
    other = type(stream)(**parameters | {"seed": 8})
    assert twin.table() == stream.table()
    assert other.table() != stream.table()


@pytest.mark.parametrize("kind", [ZipfStream, LocalityStream])
def test_empty_and_single_tuple_streams(kind):
    assert kind(tuples=0).table().num_rows == 0
    assert kind(tuples=1, keys=1).table()["key"].to_pylist() == [0]


@pytest.mark.parametrize("kind", [ZipfStream, LocalityStream])
def test_a_longer_stream_begins_like_a_shorter_one(kind):
    short, long = kind(tuples=100).table(), kind(tuples=300).table()
    assert long.slice(0, 100) == short


@pytest.mark.parametrize("kind", [ZipfStream, LocalityStream])
def test_huge_streams_start_at_once(kind):
    first = next(kind(tuples=10**14, keys=2**40).batches(batch_rows=10))
    assert first.num_rows == 10
    assert np.all(np.diff(first["time"]) == 1)
