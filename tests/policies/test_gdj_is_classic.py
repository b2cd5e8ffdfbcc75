"""GreedyDual-Join with fixed rules is LRU, LFU or FIFO (paper, section 4.1), and 1 is 3."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines import assert_same_victims, trace_engine
from tests.naive.greedy_dual import FifoRules, LfuRules, LruRules, with_rules
from tests.naive.join import CountWindow, TimeWindow, join
from tests.policies.scenarios import arrivals, capacities, examples, local_stream, windows

CLASSICS = {"lru": LruRules(), "lfu": LfuRules(), "fifo": FifoRules()}


@pytest.mark.parametrize("name", CLASSICS)
@examples(25)
@given(arrivals(), st.tuples(windows, windows), capacities)
def test_fixed_rules_on_small_streams(name, rows, spans, capacity):
    twin = join(rows, spans, capacity, with_rules(CLASSICS[name]))
    assert_same_victims(trace_engine(name, rows, spans, capacity), twin)


@pytest.mark.parametrize("name", CLASSICS)
def test_fixed_rules_on_a_long_stream(name):
    rows = local_stream(seed=3, length=1200)
    spans = (TimeWindow(200), CountWindow(400))
    twin = join(rows, spans, 60, with_rules(CLASSICS[name]))
    assert_same_victims(trace_engine(name, rows, spans, 60), twin)


@pytest.mark.parametrize("percentile", [0.3, 0.9, 0.99])
@pytest.mark.parametrize("capacity", [40, (15, 30)])
def test_methods_1_and_3_choose_the_same(percentile, capacity):
    rows = local_stream(seed=4, length=1500)
    spans = (TimeWindow(300), TimeWindow(500))
    one, three = (
        trace_engine(f"gdj:method={method},percentile={percentile}", rows, spans, capacity)
        for method in (1, 3)
    )
    assert one == three
    assert any(step.evicted == [1] for step in one.steps)


def test_methods_1_and_2_do_not():
    rows = local_stream(seed=4, length=1500)
    spans = (TimeWindow(300), TimeWindow(500))
    one, two = (trace_engine(f"gdj:method={method}", rows, spans, 40) for method in (1, 2))
    assert one != two
