"""LFD is the best cache there is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InputError
from recollect.forecast import Ar1
from recollect.optimum import most_results
from recollect_papers.theory import lfd_hits
from recollect_papers.theory.lfd import next_references
from tests.naive import flow as naive
from tests.policies.scenarios import examples


@pytest.mark.parametrize("refuse", [True, False])
@examples(60)
@given(references=st.lists(st.integers(0, 4), max_size=9), capacity=st.integers(0, 3))
def test_equals_every_choice(refuse, references, capacity):
    assert lfd_hits(references, capacity, refuse) == naive.most_hits(references, capacity, refuse)


def test_is_the_optimum_of_the_join_it_reduces_to():
    """Section 3.1: a row waits for its next reference only, so a match is a hit."""
    references = Ar1(0.7, 6, 4).sample(600, seed=1)
    following = next_references(references)
    waiting = np.flatnonzero(following < len(references))
    for capacity in (2, 10):
        best = most_results(waiting, waiting, following[waiting], capacity)
        assert lfd_hits(references, capacity) == best.results


def test_mistakes():
    with pytest.raises(InputError, match="flat array of whole numbers"):
        lfd_hits(["a"], 1)
    with pytest.raises(InputError, match="capacity must be"):
        lfd_hits([1], -1)
