"""PROB and LIFE with Lossy Counting against their naive twins, victim by victim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.counting import LossyTable
from recollect.errors import PolicyError
from recollect.policies import Room, parse_policy
from tests.engines import assert_same_victims, trace_engine
from tests.naive import lossy
from tests.naive.join import TimeWindow, join
from tests.policies.scenarios import arrivals, capacities, examples, local_stream, windows

TWINS = {"prob": lossy.LossyProb, "life": lossy.LossyLife}


def _check(name, entries, rows, spans, capacity):
    twin = type(name, (TWINS[name],), {"entries": entries})
    policy = f"{name}:counts=lossy,entries={entries}"
    assert_same_victims(
        trace_engine(policy, rows, spans, capacity), join(rows, spans, capacity, twin)
    )


@pytest.mark.parametrize("name", TWINS)
@examples(18)
@given(arrivals(), st.tuples(windows, windows), capacities, st.sampled_from([4, 5, 12]))
def test_small_streams(name, rows, spans, capacity, entries):
    _check(name, entries, rows, spans, capacity)


@pytest.mark.parametrize(("name", "capacity"), [("prob", 120), ("life", (50, 70))])
def test_long_streams(name, capacity):
    rows = local_stream(seed=4, length=1500)
    _check(name, 32, rows, (TimeWindow(400), TimeWindow(300)), capacity)


def test_memory_in_bytes():
    policy = parse_policy("prob:counts=lossy")
    state = policy.start(Room(slots=10, streams=(0, 1), bytes=1_600_000))
    assert isinstance(state.counts, LossyTable)
    assert sum(array.nbytes for array in state.counts) <= 100_000
    with pytest.raises(PolicyError, match="counts=loose is not auto, exact, sketch or lossy"):
        parse_policy("life:counts=loose")
