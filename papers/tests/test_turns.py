"""Processes take turns as they do in a queue of Python's."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.tests import naive_streams as naive
from recollect_papers.streams.turns import take_turns

# Few different numbers, so that many are due at the same time.
numbers = st.integers(0, 4).map(float)
processes = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(processes, st.lists(numbers, max_size=60), st.integers(0, 60))
def test_turns_are_those_of_the_naive_twin(processes, pauses, cut):
    due, pace = (np.array(column) for column in zip(*processes, strict=True))
    turns = take_turns(due, pace)
    parts = [turns(np.array(part)) for part in (pauses[:cut], pauses[cut:])]
    who, when = (np.concatenate(part).tolist() for part in zip(*parts, strict=True))
    assert list(zip(who, when, strict=True)) == naive.turns(due.tolist(), pace, pauses)


def test_the_times_given_are_not_changed():
    due = np.array([1.0, 0.0])
    take_turns(due)(np.ones(5))
    assert due.tolist() == [1.0, 0.0]
