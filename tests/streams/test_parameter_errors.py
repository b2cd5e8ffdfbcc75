"""Wrong parameters are refused when the generator is made, with the value and what is allowed."""

import pytest

from recollect.errors import InputError
from recollect.streams import LocalityStream, ZipfStream

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


@pytest.mark.parametrize("kind", [ZipfStream, LocalityStream])
@pytest.mark.parametrize(("parameters", "message"), BOTH)
def test_shared_parameters(kind, parameters, message):
    with pytest.raises(InputError, match=message):
        kind(**{"tuples": 10} | parameters)


@pytest.mark.parametrize(("parameters", "message"), LOCALITY)
def test_locality_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        LocalityStream(tuples=10, **parameters)


@pytest.mark.parametrize("batch_rows", [0, -5, 1.5])
def test_batch_rows(batch_rows):
    with pytest.raises(InputError, match="batch_rows must be a whole number of at least 1"):
        ZipfStream(10).batches(batch_rows=batch_rows)


def test_weights_may_sum_to_one_up_to_rounding():
    assert LocalityStream(tuples=10, weights=[0.1] * 10).table().num_rows == 10
