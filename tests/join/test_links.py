"""A buffer that is written without its links and read again goes on as if nothing had been."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.join import buffer as buffers
from recollect.join.links import without_links
from tests.engines import trace_engine
from tests.naive.join import TimeWindow
from tests.policies.scenarios import arrivals, capacities, examples, local_stream, windows


def write_and_read(engine):
    """Continue from a snapshot; the rows are told as whoever keeps them does."""
    kept = [engine.rows_of(stream) for stream in (0, 1)]
    engine.restore_snapshot(engine.snapshot())
    for slots, rows in kept:
        engine.relocate(slots, rows)


@pytest.mark.parametrize("policy", ["clock", "rand", "prob", "lba:h=3,warmup=8"])
@examples(15)
@given(arrivals(), st.tuples(windows, windows), capacities, st.sampled_from([2, 1024]))
def test_at_any_moment(policy, rows, spans, capacity, first_slots):
    words = {"seed": 3, "first_slots": first_slots}
    plain = trace_engine(policy, rows, spans, capacity, **words)
    again = trace_engine(policy, rows, spans, capacity, before=write_and_read, **words)
    assert again == plain


def test_links_are_not_written():
    """Of what is remembered there is nothing twice, and of what is forgotten nothing at all."""
    engines = []
    spans = (TimeWindow(60), TimeWindow(90))
    trace_engine("clock", local_stream(1, 400), spans, 20, before=engines.append)
    storage = engines[-1].storage
    bare = without_links(storage, engines[-1].setting.shape)
    live = storage.slots["stream"][: storage.free[buffers.FRESH_SLOT]] != buffers.NONE
    assert live.sum() == 20
    assert not bare.table.any()
    assert not any(bare.slots[name].any() for name in ("row", "older", "newer", "previous"))
    assert set(bare.slots["expires"][: len(live)][live]) == {60, 90}
    assert np.count_nonzero(bare.slots["time"]) == np.count_nonzero(
        storage.slots["time"][: len(live)][live]
    )
