"""Wrong parameters are refused when the generator is made, with the value and what is allowed."""

import pytest

from recollect.errors import InputError
from recollect.streams import LocalityStream, TrendStream, UniformIntervals, WalkStream, ZipfStream

BOTH = [
    ({"tuples": -1}, r"tuples must be a whole number of at least 0, not -1"),
    ({"tuples": 2.5}, r"tuples must be a whole number of at least 0, not 2\.5"),
    ({"tuples": True}, r"tuples .* not True"),
    ({"keys": 0}, r"keys must be a whole number from 1 to 1099511627776, not 0"),
    ({"keys": 2**41}, r"keys must be a whole number from 1 to"),
    ({"exponent": -0.1}, r"exponent must be a number of at least 0, not -0\.1"),
    ({"exponent": float("nan")}, r"exponent .* not nan"),
    ({"exponent": float("inf")}, r"exponent .* not inf"),
    ({"exponent": "steep"}, r"exponent .* not 'steep'"),
    ({"seed": -3}, r"seed must be a whole number of at least 0, not -3"),
]
LOCALITY = [
    ({"repeat": 1.01}, r"repeat must be a number from 0 to 1, not 1\.01"),
    ({"repeat": -0.5}, r"repeat must be a number from 0 to 1, not -0\.5"),
    ({"depth": 0}, r"depth must be a whole number of at least 1, not 0"),
    ({"weights": []}, r"weights must be at least one number .* not \[\]"),
    ({"weights": [0.6, 0.6]}, r"sum to at most 1, not \[0\.6, 0\.6\]"),
    ({"weights": [0.5, -0.1]}, r"weight 2 must be a number from 0 to 1, not -0\.1"),
]
OTHERS = [
    (TrendStream, {"slope": float("nan")}, r"slope must be a number .* not nan"),
    (TrendStream, {"lag": 0.5}, r"lag must be a whole number .* not 0\.5"),
    (TrendStream, {"deviation": 0}, r"deviation must be a number from 0\.01 to 100000, not 0"),
    (TrendStream, {"bound": -1}, r"bound must be a whole number from 0 to 1000000, not -1"),
    (WalkStream, {"deviation": float("inf")}, r"deviation must be a number .* not inf"),
    (WalkStream, {"drift": None}, r"drift must be a number .* not None"),
    (WalkStream, {"start": 1.5}, r"start must be a whole number .* not 1\.5"),
    (UniformIntervals, {"time_range": 0}, r"time_range must be a whole number .* not 0"),
    (UniformIntervals, {"span": 1.5}, r"span must be a number from 0 to 1, not 1\.5"),
]


@pytest.mark.parametrize("kind", [ZipfStream, LocalityStream])
@pytest.mark.parametrize(("parameters", "message"), BOTH)
def test_shared_parameters(kind, parameters, message):
    with pytest.raises(InputError, match=message):
        kind(**{"tuples": 10} | parameters)


@pytest.mark.parametrize(("parameters", "message"), LOCALITY)
def test_locality_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        LocalityStream(tuples=10, **parameters)


@pytest.mark.parametrize(("kind", "parameters", "message"), OTHERS)
def test_parameters_of_the_others(kind, parameters, message):
    with pytest.raises(InputError, match=message):
        kind(tuples=10, **parameters)


@pytest.mark.parametrize("kind", sorted({kind for kind, _, _ in OTHERS}, key=lambda k: k.__name__))
@pytest.mark.parametrize(("parameters", "message"), [BOTH[0], BOTH[-1]])
def test_length_and_seed_of_the_others(kind, parameters, message):
    with pytest.raises(InputError, match=message):
        kind(**{"tuples": 10} | parameters)


@pytest.mark.parametrize("batch_rows", [0, -5, 1.5])
def test_batch_rows(batch_rows):
    with pytest.raises(InputError, match="batch_rows must be a whole number of at least 1"):
        ZipfStream(10).batches(batch_rows=batch_rows)


def test_weights_may_sum_to_one_up_to_rounding():
    assert LocalityStream(tuples=10, weights=[0.1] * 10).table().num_rows == 10
