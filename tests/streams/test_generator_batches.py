"""A generator gives the same tuples whatever the size of the batches, and again on replay."""

import tracemalloc
from dataclasses import fields, replace
from math import inf

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.streams import (
    LocalityStream,
    TrendStream,
    UniformIntervals,
    WalkStream,
    ZipfStream,
    open_source,
)
from recollect_papers.streams import (
    AttributesStream,
    AutoregressiveStream,
    BurstyStream,
    NormalIntervals,
    ParetoStream,
    ProgrammeStream,
    RankedStream,
    ViewingStream,
    WindStream,
)

STEADY = [
    ZipfStream(tuples=1000, keys=50, exponent=1.1, seed=7),
    LocalityStream(tuples=1000, keys=50, repeat=0.7, depth=9, seed=7),
    LocalityStream(tuples=1000, weights=[0.1, 0.0, 0.6], seed=7),
    TrendStream(tuples=1000, deviation=2, seed=7),
    TrendStream(tuples=1000, slope=-0.3, lag=5, deviation=inf, seed=7),
    WalkStream(tuples=1000, drift=0.2, seed=7),
    AutoregressiveStream(tuples=1000, seed=7),
    RankedStream(ZipfStream(tuples=1000, keys=50), ranking="random", seed=7),
]
GENERATORS = [
    *STEADY,
    ParetoStream(tuples=1000, seed=7),
    BurstyStream(WalkStream(tuples=1000), busy=5, quiet=20, busy_rate=4, quiet_rate=0, seed=7),
    AttributesStream(tuples=1000, exponents=(0.0, 0.5, 1.0), seed=7),
    UniformIntervals(tuples=1000, seed=7),
    NormalIntervals(tuples=1000, seed=7),
    WindStream(tuples=1000, sensors=20, seed=7),
    ViewingStream(tuples=1000, viewers=30, seed=7),
    ProgrammeStream(tuples=1000, channels=9, seed=7),
]
KINDS = [ZipfStream, LocalityStream, ParetoStream]


def name(stream):
    return type(stream).__name__


every_generator = pytest.mark.parametrize("stream", GENERATORS, ids=name)


@every_generator
@settings(max_examples=15, deadline=None)
@given(batch_rows=st.integers(1, 1100))
def test_batch_size_does_not_change_the_tuples(stream, batch_rows):
    batches = list(stream.batches(batch_rows=batch_rows))
    assert pa.Table.from_batches(batches) == stream.table()
    assert all(batch.num_rows == batch_rows for batch in batches[:-1])


@pytest.mark.parametrize("stream", STEADY, ids=name)
def test_one_tuple_per_time_unit(stream):
    table = stream.table()
    assert table.schema == stream.schema == pa.schema([("time", pa.int64()), ("key", pa.int64())])
    assert table["time"].to_pylist() == list(range(1000))


@pytest.mark.parametrize("stream", GENERATORS, ids=name)
def test_times_never_go_back(stream):
    table = stream.table()
    if type(stream) in (UniformIntervals, NormalIntervals):
        pytest.skip("a relation is in no order")
    assert np.all(np.diff(table[0].to_numpy()) >= 0)


@every_generator
def test_seed_decides_the_tuples(stream):
    given = {f.name: getattr(stream, f.name) for f in fields(stream) if f.init}
    assert type(stream)(**given).table() == stream.table()
    assert hash(type(stream)(**given)) == hash(stream)
    assert replace(stream, seed=8).table() != stream.table()


@every_generator
def test_a_generator_is_a_source(stream):
    source = open_source(stream)
    assert source.replayable
    assert pa.Table.from_batches(source.batches()) == stream.table()


@pytest.mark.parametrize("kind", KINDS)
def test_empty_and_single_tuple_streams(kind):
    assert kind(tuples=0).table().num_rows == 0
    assert kind(tuples=1, keys=1).table()["key"].to_pylist() == [0]


@pytest.mark.parametrize("stream", [s for s in GENERATORS if not hasattr(s, "stream")], ids=name)
def test_a_longer_stream_begins_like_a_shorter_one(stream):
    assert stream.table().slice(0, 100) == replace(stream, tuples=100).table()


@pytest.mark.parametrize("stream", [s for s in GENERATORS if not hasattr(s, "stream")], ids=name)
def test_huge_streams_start_at_once(stream):
    first = next(replace(stream, tuples=10**14).batches(batch_rows=10))
    assert first.num_rows == 10


@pytest.mark.parametrize("stream", [s for s in GENERATORS if not hasattr(s, "stream")], ids=name)
def test_memory_does_not_grow_with_the_stream(stream):
    stream.table()  # compiled before measuring
    tracemalloc.start()
    for batch in replace(stream, tuples=300_000).batches(batch_rows=8_192):
        assert batch.num_rows <= 8_192
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The last column alone would be 2.4 MB.
    assert peak < 2_000_000


@pytest.mark.parametrize("kind", [ZipfStream, LocalityStream])
def test_many_keys_do_not_matter(kind):
    first = next(kind(tuples=10**14, keys=2**40).batches(batch_rows=10))
    assert np.all(np.diff(first["time"]) == 1)
