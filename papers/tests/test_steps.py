"""The setting of the stochastic paper, against tuples in a list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.tests import naive_steps as naive
from recollect.errors import InputError
from recollect_papers.theory import best_steps, run_steps, run_steps_together
from tests.policies.scenarios import examples


@examples(40)
@given(
    values=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=20),
    capacity=st.integers(1, 4),
    warm_up=st.integers(0, 5),
)
def test_steps_are_the_naive_steps(values, capacity, warm_up):
    left, right = ([pair[side] for pair in values] for side in (0, 1))

    def worth(stream, value, arrived, now):
        return (value * 7 + stream * 3 + (now - arrived) * 2) % 11

    run = run_steps(
        left, right, capacity,
        lambda c, now: worth(c.stream, c.value, c.arrived, now).astype(float), warm_up,
    )  # fmt: skip
    expected = naive.run_steps(left, right, capacity, lambda one, now: worth(*one, now), warm_up)
    assert run.results == expected
    assert 0 <= run.left_share <= 1


@examples(20)
@given(
    runs=st.integers(1, 3).flatmap(
        lambda steps: st.lists(
            st.lists(st.integers(0, 3), min_size=8 * steps, max_size=8 * steps), max_size=4
        )
    ),
    capacity=st.integers(1, 4),
)
def test_runs_made_together_are_those_made_alone(runs, capacity):
    streams = np.array(runs, np.int64).reshape(len(runs), 2, -1 if runs else 0)

    def worth(c, now):
        return ((c.value * 7 + c.stream * 3 + (now - c.arrived) * 2) % 11).astype(float)

    together = run_steps_together(streams[:, 0], streams[:, 1], capacity, worth, warm_up=2)
    assert together == [run_steps(*run, capacity, worth, warm_up=2) for run in streams]


def test_mistakes():
    with pytest.raises(InputError, match="a value for each step of each run, but their shapes are"):
        run_steps_together([1, 2], [1, 2], 3, None)
    with pytest.raises(InputError, match="a value for each step"):
        run_steps([1, 2], [1], 3, None)
    with pytest.raises(InputError, match="capacity must be"):
        run_steps([1], [1], 0, None)


@examples(60)
@given(
    values=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6),
    capacity=st.integers(1, 3),
    warm_up=st.integers(0, 3),
)
def test_the_best_equals_every_choice(values, capacity, warm_up):
    left, right = ([pair[side] for pair in values] for side in (0, 1))
    best = best_steps(left, right, capacity, warm_up)
    assert best.results == naive.most_step_results(left, right, capacity, warm_up)
