"""The payload store gives back the right rows, whatever was forgotten, moved or loaded since."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import recollect as rc
from recollect.join import payload
from recollect.join.payload import PLACE_BITS, RAW, SLACK, PayloadStore
from tests.join.brute import WHAT, random_table
from tests.join.feeding import take_all

SEGMENT = 16


class Store(RuleBasedStateMachine):
    """A buffer that admits and forgets rows as it likes, and what it knows of them."""

    def __init__(self):
        super().__init__()
        self.store = PayloadStore()
        self.rows: dict[int, int] = {}  # by slot
        self.values: dict[int, str] = {}
        self.next_value = self.next_slot = 0
        self.longest = 0

    def relocate(self, slots, rows):
        assert len(slots) == len(rows)
        self.rows |= dict(zip(slots.tolist(), rows.tolist(), strict=True))

    def arrays(self, raw_only: bool):
        chosen = [item for item in self.rows.items() if not raw_only or item[1] >= RAW]
        return np.array(chosen, np.int64).reshape(-1, 2).T

    @rule(length=st.integers(1, 30), admitted=st.floats(0, 1), seed=st.integers(0, 99))
    def join_a_batch(self, length, admitted, seed):
        values = [f"row {self.next_value + i}" for i in range(length)]
        self.next_value += length
        self.longest = max(self.longest, length)
        base = self.store.add(pa.record_batch({"value": values, "length": [*map(len, values)]}))
        for i in np.flatnonzero(np.random.default_rng(seed).random(length) < admitted).tolist():
            self.rows[self.next_slot] = base + i
            self.values[self.next_slot] = values[i]
            self.next_slot += 1
        self.store.joined(base)
        if self.store.needs_settling:
            self.store.settle(*self.arrays(raw_only=True), self.relocate)

    @rule(share=st.floats(0, 1), seed=st.integers(0, 99), oldest=st.booleans())
    def forget(self, share, seed, oldest):
        slots = sorted(self.rows)
        count = int(share * len(slots))
        gone = slots if oldest else np.random.default_rng(seed).permutation(slots).tolist()
        for slot in gone[:count]:
            del self.rows[slot], self.values[slot]
        if self.store.needs_compacting(len(self.rows)):
            self.store.compact(*self.arrays(raw_only=False), self.relocate)

    @rule()
    def save_and_load(self):
        segments, joined = dict(self.store.segments()), list(self.store.raw_joined)
        self.store = PayloadStore()
        self.store.restore(segments, joined)

    @precondition(lambda self: self.rows)
    @rule(seed=st.integers(0, 99))
    def take(self, seed):
        slots = np.random.default_rng(seed).choice(list(self.rows), 20)
        taken = self.store.take(np.array([self.rows[slot] for slot in slots.tolist()]))
        expected = [self.values[slot] for slot in slots.tolist()]
        assert taken.column("value").to_pylist() == expected
        assert taken.column("length").to_pylist() == [*map(len, expected)]

    @invariant()
    def little_more_is_stored_than_is_buffered(self):
        assert len(set(self.rows.values())) == len(self.rows)
        raw = sum(part.num_rows for n, part in self.store.segments() if n << PLACE_BITS >= RAW)
        packed = sum(part.num_rows for n, part in self.store.segments() if n << PLACE_BITS < RAW)
        assert packed == self.store.packed_rows <= SLACK * len(self.rows) + SEGMENT
        assert raw < SEGMENT + self.longest


def test_any_history(monkeypatch):
    monkeypatch.setattr(payload, "SEGMENT_ROWS", SEGMENT)
    monkeypatch.setattr(payload, "SMALL", SEGMENT // 2)
    monkeypatch.setattr(payload, "FEW_BYTES", 10)
    steps = settings(max_examples=60, stateful_step_count=30, deadline=None)
    run_state_machine_as_test(Store, settings=steps)


@pytest.mark.parametrize("policy", ["fifo", "clock"])
def test_a_long_join_stores_little_more_than_it_remembers(policy, monkeypatch):
    monkeypatch.setattr(payload, "SEGMENT_ROWS", SEGMENT)
    monkeypatch.setattr(payload, "SMALL", SEGMENT // 2)
    monkeypatch.setattr(payload, "FEW_BYTES", 10)
    names = pa.array([f"payload {i}" for i in range(3000)])
    left, right = (random_table(seed, 3000, 50, name=names) for seed in (1, 2))
    join = rc.Join(**(WHAT | {"policy": policy}), window=400, budget=60)
    for start in range(0, 3000, 25):
        rows = take_all(join.feed("left", left.slice(start, 25)))
        rows += take_all(join.feed("right", right.slice(start, 25)))
        assert all(row["left_name"] == f"payload {row['left_n']}" for row in rows)
        assert all(row["right_name"] == f"payload {row['right_n']}" for row in rows)
        stored = sum(part.num_rows for store in join._stores for _, part in store.segments())
        assert stored <= SLACK * 60 + 2 * (2 * SEGMENT + 25)
