"""The k_opt of each key, against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InputError
from recollect.locality import KeyNumbers
from recollect_papers.theory import k_opt
from tests.naive import locality as naive
from tests.policies.scenarios import examples


@given(st.lists(st.integers(0, 5), max_size=50), st.integers(1, 60))
@examples(40)
def test_as_the_definition(keys, window):
    numbers = KeyNumbers().add(np.array(keys, np.int64))
    assert k_opt(numbers, window).tolist() == naive.k_opt(keys, window)


def test_keys_of_different_rhythm_have_different_ages():
    # Key 0 every 7 tuples, key 1 in triples 100 apart: an age for all would serve neither.
    stream = np.full(2_000, -1)
    stream[::7] = 0
    for start in range(1, 2_000, 100):
        free = [n for n in range(start, start + 9) if n % 7 and n < 2_000][:3]
        stream[free] = 1
    rest = stream == -1
    stream[rest] = 2 + np.arange(rest.sum())
    ages = k_opt(stream.astype(np.int32), window=500)
    assert ages[0] == 7
    assert ages[1] <= 3
    assert set(ages[2:]) == {0}


def test_a_window_of_nothing_is_refused():
    with pytest.raises(InputError, match="window must be a whole number of at least 1, not 0"):
        k_opt(np.array([0, 0], np.int32), 0)
