"""The generators of the papers do what every generator must do."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import InputError
from recollect.streams import WalkStream, ZipfStream
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
from tests.streams import generators as check

DERIVED = [
    RankedStream(ZipfStream(tuples=1000, keys=50), ranking="random", seed=7),
    BurstyStream(WalkStream(tuples=1000), busy=5, quiet=20, busy_rate=4, quiet_rate=0, seed=7),
]
ORIGINAL = [
    AutoregressiveStream(tuples=1000, seed=7),
    ParetoStream(tuples=1000, seed=7),
    AttributesStream(tuples=1000, exponents=(0.0, 0.5, 1.0), seed=7),
    WindStream(tuples=1000, sensors=20, seed=7),
    ViewingStream(tuples=1000, viewers=30, seed=7),
    ProgrammeStream(tuples=1000, channels=9, seed=7),
    NormalIntervals(tuples=1000, seed=7),
]
MISTAKES = [
    (ParetoStream, {"keys": 10**8}, r"keys must be a whole number from 1 to 10000000, not 1000000"),
    (ParetoStream, {"shape": -1}, r"shape must be a number from 0 to 100, not -1"),
    (ParetoStream, {"longest": 1}, r"longest must be a number from 1\.01 to 1000000\.0, not 1"),
    (AutoregressiveStream, {"coefficient": 1}, r"coefficient must be a number .* not 1"),
    (AutoregressiveStream, {"deviation": -2}, r"deviation must be a number .* not -2"),
    (AutoregressiveStream, {"unit": 0}, r"unit must be a number .* not 0"),
    (AttributesStream, {"exponents": []}, r"one number per attribute, not \[\]"),
    (AttributesStream, {"exponents": 0.5}, r"one number per attribute, not 0\.5"),
    (AttributesStream, {"exponents": [0.5, -1]}, r"exponent must be a number .* not -1"),
    (NormalIntervals, {"time_range": 7}, r"time_range must be a whole number from 8 .* not 7"),
    (WindStream, {"sensors": 0}, r"sensors must be a whole number .* not 0"),
    (WindStream, {"persistence": 1.1}, r"persistence must be a number from 0 to 1, not 1\.1"),
    (WindStream, {"mean_speed": -1}, r"mean_speed must be a number .* not -1"),
    (ProgrammeStream, {"channels": 0}, r"channels must be a whole number .* not 0"),
    (ViewingStream, {"viewers": 0}, r"viewers must be a whole number .* not 0"),
    (ViewingStream, {"channels": 0}, r"channels must be a whole number .* not 0"),
    (ViewingStream, {"zapping": 2}, r"zapping must be a number from 0 to 1, not 2"),
]
every_generator = pytest.mark.parametrize("stream", [*DERIVED, *ORIGINAL], ids=check.name)


@every_generator
@settings(max_examples=15, deadline=None)
@given(batch_rows=st.integers(1, 1100))
def test_batch_size_does_not_change_the_tuples(stream, batch_rows):
    check.check_batches(stream, batch_rows)


@pytest.mark.parametrize("stream", [DERIVED[0], ORIGINAL[0]], ids=check.name)
def test_one_tuple_per_time_unit(stream):
    check.check_one_tuple_per_time_unit(stream)


@pytest.mark.parametrize("stream", [*DERIVED, *ORIGINAL[:-1]], ids=check.name)
def test_times_never_go_back(stream):
    check.check_times_never_go_back(stream)


@every_generator
def test_replay(stream):
    check.check_replay(stream)


@pytest.mark.parametrize("stream", ORIGINAL, ids=check.name)
def test_any_length(stream):
    check.check_any_length(stream)


def test_empty_and_single_tuple_streams():
    assert ParetoStream(tuples=0).table().num_rows == 0
    assert ParetoStream(tuples=1, keys=1).table()["key"].to_pylist() == [0]


@pytest.mark.parametrize(("kind", "parameters", "message"), MISTAKES)
def test_mistakes(kind, parameters, message):
    with pytest.raises(InputError, match=message):
        kind(tuples=10, **parameters)
