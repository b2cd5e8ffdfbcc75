"""Coincidences at each lag: equal to comparing tuple by tuple, however the stream is cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import InputError
from recollect.locality.coincidences import Coincidences
from tests.naive import locality_model as naive

batches = st.lists(st.lists(st.integers(-2, 2), max_size=12), max_size=6)


@settings(max_examples=60, deadline=None)
@given(batches, st.integers(1, 9))
def test_batches_against_comparing(cut, h):
    counted = Coincidences(h)
    for batch in cut:
        counted.add(np.array(batch, np.int64))
    keys = [key for batch in cut for key in batch]
    assert counted.tuples == len(keys)
    assert counted.counts.tolist() == naive.coincidences(keys, h)


def test_codes_are_not_rounded():
    """Neighbouring codes of 63 bits are equal as floats."""
    counted = Coincidences(1)
    counted.add(np.array([2**62, 2**62 + 1, 2**62 + 1]))
    assert counted.counts.tolist() == [1]


@pytest.mark.parametrize("h", [0, -1, 2.5, True, 1001])
def test_bad_h(h):
    with pytest.raises(InputError, match=r"h must be a whole number from 1 to 1000, not"):
        Coincidences(h)


@pytest.mark.parametrize("codes", [np.array([0.5]), np.array(["a"]), np.zeros((2, 2), np.int64)])
def test_bad_codes(codes):
    with pytest.raises(InputError, match=r"one-dimensional array of integers.*code_of_columns"):
        Coincidences(3).add(codes)
