"""A plain join of two streams chooses the same victims when it is described as one of many."""

from functools import partial
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.join import setting
from recollect.policies import policy_names
from recollect.policies.shape import Many, Pair, shape_of
from tests.engines import pair_problem, setting_of, trace_engine
from tests.policies.scenarios import arrivals, capacities, examples, windows

POLICIES = [*policy_names(), "gdj:method=2", "prob:counts=sketch,entries=32", "lba:h=3,warmup=8"]
AS_MANY = mock.patch.object(setting, "shape_of", partial(shape_of, as_many=True))


@pytest.mark.parametrize("policy", POLICIES)
@examples(10)
@given(arrivals(), st.tuples(windows, windows), capacities, st.integers(0, 99))
def test_same_victims(policy, rows, spans, capacity, seed):
    as_pair = trace_engine(policy, rows, spans, capacity, seed)
    with AS_MANY:
        as_many = trace_engine(policy, rows, spans, capacity, seed)
    assert as_many == as_pair


def test_it_is_another_shape():
    problem = pair_problem((None, None))._replace(windows=(1, 1))
    assert isinstance(setting_of(problem).shape, Pair)
    with AS_MANY:
        assert isinstance(setting_of(problem).shape, Many)
