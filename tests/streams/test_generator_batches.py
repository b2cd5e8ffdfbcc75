"""A generator gives the same tuples whatever the size of the batches, and again on replay."""

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.streams import (
    LocalityStream,
    TrendStream,
    UniformIntervals,
    WalkStream,
    ZipfStream,
)
from tests.streams import generators as check

STEADY = [
    ZipfStream(tuples=1000, keys=50, exponent=1.1, seed=7),
    LocalityStream(tuples=1000, keys=50, repeat=0.7, depth=9, seed=7),
    LocalityStream(tuples=1000, weights=[0.1, 0.0, 0.6], seed=7),
    TrendStream(tuples=1000, deviation=2, seed=7),
    TrendStream(tuples=1000, slope=-0.3, lag=5, deviation=inf, seed=7),
    WalkStream(tuples=1000, drift=0.2, seed=7),
]
every_generator = pytest.mark.parametrize(
    "stream", [*STEADY, UniformIntervals(tuples=1000, seed=7)], ids=check.name
)


@every_generator
@settings(max_examples=15, deadline=None)
@given(batch_rows=st.integers(1, 1100))
def test_batch_size_does_not_change_the_tuples(stream, batch_rows):
    check.check_batches(stream, batch_rows)


@pytest.mark.parametrize("stream", STEADY, ids=check.name)
def test_one_tuple_per_time_unit(stream):
    check.check_one_tuple_per_time_unit(stream)


@every_generator
def test_replay(stream):
    check.check_replay(stream)


@pytest.mark.compiled
@every_generator
def test_any_length(stream):
    check.check_any_length(stream)


@pytest.mark.parametrize("kind", [ZipfStream, LocalityStream])
def test_empty_and_single_tuple_streams(kind):
    assert kind(tuples=0).table().num_rows == 0
    assert kind(tuples=1, keys=1).table()["key"].to_pylist() == [0]


@pytest.mark.parametrize("kind", [ZipfStream, LocalityStream])
def test_many_keys_do_not_matter(kind):
    first = next(kind(tuples=10**14, keys=2**40).batches(batch_rows=10))
    assert np.all(np.diff(first["time"]) == 1)
