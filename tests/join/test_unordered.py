"""The engine on batches that overlap in time, against the naive join of such batches."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.join import engine as engines
from recollect.join.budget import Capacity
from recollect.join.engine import Engine, new_output
from recollect.join.feed import Encoded, Piece, feed_of
from recollect.join.kernel import BEFORE_ALL, DONE, FOREVER, OUTPUT_FULL
from recollect.join.setting import Setting
from recollect.join.window import LANDMARK, TIME, UNLIMITED, lifetimes
from recollect.policies import parse_policy, policy_names
from tests.engines import buffered_in
from tests.naive import clock, greedy_dual, simple, unordered
from tests.naive.join import Item, LandmarkWindow, TimeWindow, UnlimitedWindow
from tests.naive.unordered import Batch, UnorderedTrace, in_order
from tests.policies.scenarios import examples, runs

KINDS = {TimeWindow: TIME, LandmarkWindow: LANDMARK, UnlimitedWindow: UNLIMITED}
POLICIES = [*policy_names(), "gdj:method=2", "gdj:method=3", "prob:counts=sketch,entries=32"]
TWINS = {
    "fifo": simple.Fifo,
    "lru": simple.Lru,
    "lfu": simple.Lfu,
    "rand": simple.Rand,
    "clock": clock.Clock,
    "clock-exp": clock.ClockExp,
    "gdj:percentile=0.5": greedy_dual.with_rules(greedy_dual.Method1(0.5)),
    "gdj:method=2,percentile=0.5": greedy_dual.with_rules(greedy_dual.Method2(0.5)),
    "prob": unordered.UnorderedProb,
    "life": unordered.UnorderedLife,
}
windows = st.one_of(
    st.integers(0, 40).map(TimeWindow),
    st.integers(1, 30).map(LandmarkWindow),
    st.just(UnlimitedWindow()),
)
SPREAD = 250
"""Times lie between an origin and so much later."""
ORIGINS = [0, -60, -(10**15), 10**12, BEFORE_ALL, FOREVER - SPREAD]


@st.composite
def overlapping(draw, sizes: bool = False, longest: int = 14) -> list[Batch]:
    """Batches that keep what the horizon before them promised; some empty, some of one row."""
    origin = draw(st.sampled_from(ORIGINS))
    key = st.integers(-1, draw(st.integers(0, 5)))
    now = 0
    promised = BEFORE_ALL
    batches = []
    for _ in range(draw(st.integers(0, 6))):
        length = draw(st.sampled_from([0, 1, longest]))
        back = draw(st.sampled_from([0, 3, 25]))
        least = max(promised, origin + max(0, now - back))
        ahead = draw(st.sampled_from([0, 4, 8, 90]))
        time = st.integers(least, max(least, origin + now + ahead))
        row = st.tuples(st.integers(0, 1), time, key, *([st.integers(1, 4)] * sizes))
        rows = draw(runs(row, length))
        now += draw(st.sampled_from([0, 1, 7, 18]))
        probable = origin + max(0, now - draw(st.sampled_from([0, 5, 40])))
        certain = max(promised, draw(st.sampled_from([promised, origin, probable, probable - 9])))
        certain = max(certain, BEFORE_ALL)
        batches.append(Batch(rows, certain, max(certain, probable)))
        promised = certain
    return batches


def long_stream(seed: int, batches: int = 60) -> list[Batch]:
    """Many batches, some with rows far behind or far ahead, and a horizon that always moves."""
    random = np.random.default_rng(seed)
    made = []
    promised = 0
    for at in range(batches):
        rows = []
        for _ in range(int(random.integers(0, 14))):
            ahead = 60 if random.random() < 0.06 else int(random.integers(-20, 7))
            time = max(promised, 10 * at + ahead)
            rows.append((int(random.integers(0, 2)), time, int(random.integers(0, 4))))
        certain = max(promised, 10 * at + int(random.integers(-25, 8)))
        probable = max(certain, 10 * at + int(random.integers(-25, 15)))
        made.append(Batch(rows, certain, probable))
        promised = certain
    return made


def new_engine(policy, capacity, seed=0, sizes=False) -> Engine:
    room = Capacity((capacity,))
    engine = Engine(parse_policy(policy), Setting.of(), room, seed=seed, unordered=True)
    engine.plan.overhead[0] = int(sizes)
    return engine


class Run:
    """An engine that is fed batch by batch; rows are numbered as they come in each stream.

    Parameters
    ----------
    room
        How many pairs fit the output; few make the engine stop often.
    """

    def __init__(self, engine: Engine, spans, room: int = 8) -> None:
        self.engine, self.spans = engine, spans
        self.serials: list[list[int]] = [[], []]
        self.output = new_output(room)

    def feed(self, batch: Batch, items: list[Item]) -> list[tuple[int, int]]:
        """Join a batch; return the pairs of serials."""
        pieces = []
        for stream, serials in enumerate(self.serials):
            own = [item for item in items if item.stream == stream]
            part = encoded(own, self.spans[stream])
            pieces.append(Piece(stream, part, 0, len(own), len(serials)))
            serials += [item.serial for item in own]
        feed = feed_of(pieces)
        self.engine.expect_from(batch.certain, batch.probable)
        at, why = 0, OUTPUT_FULL
        pairs: list[tuple[int, int]] = []
        while why != DONE:
            self.output.filled[0] = 0
            why, at = self.engine.run(feed, at, self.output)
            found = int(self.output.filled[0])
            pairs += [
                (self.serials[0][left], self.serials[1][right])
                for left, right in self.output.rows[:, :found].T
            ]
            if why == OUTPUT_FULL and not found:
                self.output = new_output(2 * len(self.output.join))
        assert at == len(items)
        return pairs


def encoded(items: list[Item], window) -> Encoded:
    """Some items of a stream, in order of time, as numbers."""
    times = np.array([item.time for item in items], np.int64)
    keys = np.array([[item.key] for item in items], np.int64).reshape(-1, 1)
    sizes = np.array([item.size - 1 for item in items], np.int64)
    span = window[0] if window else 0
    moments, expires = lifetimes(KINDS[type(window)], span, times, 0)
    extra = np.zeros((len(items), 0), np.int64)
    return Encoded(times, moments, expires, keys, np.ones(keys.shape, np.uint8), sizes, extra)


def run_all(
    engine: Engine, spans, batches: list[Batch]
) -> tuple[list[tuple[int, int]], list[list[int]]]:
    """The pairs, and what is buffered after each batch."""
    run = Run(engine, spans)
    pairs, buffered = [], []
    for batch, items in zip(batches, in_order(batches), strict=True):
        pairs += run.feed(batch, items)
        buffered.append(buffered_in(engine))
        assert engine.ledger.used[0] <= engine.capacity.pools[0]
    assert engine.ledger.results.sum() == len(pairs)
    return pairs, buffered


def assert_same(engine: Engine, spans, batches: list[Batch], twin: UnorderedTrace) -> None:
    """The engine did the same as the naive join."""
    pairs, buffered = run_all(engine, spans, batches)
    assert buffered == twin.buffered
    assert pairs == twin.pairs
    for name in ("expired", "evicted", "refused"):
        counts = [len(serials) for serials in getattr(twin.counts, name)]
        assert getattr(engine.ledger, name).tolist() == counts, name


# -- nothing is forgotten too early ----------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
@examples(25)
@given(overlapping(), st.tuples(windows, windows))
def test_all_pairs_and_each_once(policy, batches, spans):
    pairs, _ = run_all(new_engine(policy, FOREVER), spans, batches)
    assert len(set(pairs)) == len(pairs)
    assert sorted(pairs) == sorted(unordered.exact_pairs(batches, spans))


@examples(60)
@given(overlapping(longest=25), st.tuples(windows, windows))
def test_what_is_removed_without_a_budget_could_match_nothing_more(batches, spans):
    """Also what is kept is what the naive join keeps."""
    assert_same(new_engine("fifo", FOREVER), spans, batches, unordered.join(batches, spans))


@pytest.mark.parametrize("policy", POLICIES)
@examples(8)
@given(overlapping(), st.tuples(windows, windows), st.sampled_from([5, FOREVER]))
def test_the_buffer_drains(policy, batches, spans, capacity):
    """When horizon and times are beyond all windows, only what never expires is left."""
    engine = new_engine(policy, capacity)
    late = min(FOREVER, max((row[1] for batch in batches for row in batch.rows), default=0) + 100)
    last = [Batch([(0, late, 999), (1, late, 999)], late, late)]
    run_all(engine, spans, batches + last)
    endless = [not window or late > FOREVER - 50 for window in spans]
    for stream in (0, 1):
        assert endless[stream] or engine.live(stream) <= 1


def test_far_apart_times_do_not_overflow():
    """The whole range of 64 bits; a window must neither wrap around nor hide a pair."""
    moments = [BEFORE_ALL, BEFORE_ALL + 1, -1, 0, 1, FOREVER - 1, FOREVER]
    rows = [(stream, time, 1) for time in moments for stream in (0, 1)]
    batches = [Batch(rows[at::3], BEFORE_ALL, BEFORE_ALL) for at in range(3)]
    spans = [TimeWindow(0), TimeWindow(1), TimeWindow(2**62), LandmarkWindow(2**62)]
    for span in [*spans, LandmarkWindow(3), UnlimitedWindow()]:
        pairs, _ = run_all(new_engine("fifo", FOREVER), (span, span), batches)
        assert sorted(pairs) == sorted(unordered.exact_pairs(batches, (span, span)))


# -- with a budget ---------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", TWINS)
@examples(30)
@given(overlapping(longest=25), st.tuples(windows, windows), st.integers(1, 12), st.integers(0, 99))
def test_same_as_the_naive_join(policy, batches, spans, capacity, seed):
    twin = unordered.join(batches, spans, capacity, TWINS[policy], seed)
    assert_same(new_engine(policy, capacity, seed), spans, batches, twin)


@pytest.mark.parametrize("policy", TWINS)
@examples(10)
@given(
    overlapping(sizes=True, longest=25),
    st.tuples(windows, windows),
    st.integers(1, 25),
    st.sampled_from([2, 3, 1024]),
)
def test_same_with_sizes_and_growing_buffers(policy, batches, spans, capacity, first_slots):
    twin = unordered.join(batches, spans, capacity, TWINS[policy], 5)
    with mock.patch.object(engines, "FIRST_SLOTS", first_slots):
        assert_same(new_engine(policy, capacity, 5, sizes=True), spans, batches, twin)


@pytest.mark.parametrize("policy", TWINS)
@pytest.mark.parametrize(
    "spans",
    [(TimeWindow(25), TimeWindow(12)), (LandmarkWindow(20), TimeWindow(0))],
    ids=["time", "landmark"],
)
@pytest.mark.parametrize("capacity", [12, FOREVER])
def test_long_streams(policy, spans, capacity):
    """Rows far ahead hold up the list of arrivals; rows far behind come after younger ones."""
    for seed in range(3):
        batches = long_stream(seed + 10 * len(policy))
        twin = unordered.join(batches, spans, capacity, TWINS[policy], seed)
        assert sum(map(len, twin.counts.expired)) > 50
        assert_same(new_engine(policy, capacity, seed), spans, batches, twin)
        exact = unordered.exact_pairs(batches, spans)
        assert set(twin.pairs) <= set(exact)
        assert capacity < FOREVER or len(twin.pairs) == len(exact)


@pytest.mark.parametrize("policy", POLICIES)
@examples(10)
@given(overlapping(longest=25), st.tuples(windows, windows), st.integers(1, 9))
def test_results_are_among_the_exact_ones(policy, batches, spans, capacity):
    engine = new_engine(policy, capacity)
    pairs, buffered = run_all(engine, spans, batches)
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) <= set(unordered.exact_pairs(batches, spans))
    assert all(len(part) <= capacity for part in buffered)
    gone = sum(int(part.sum()) for part in (engine.ledger.evicted, engine.ledger.expired))
    arrived = int((engine.ledger.arrivals - engine.ledger.refused).sum())
    assert arrived == gone + engine.live(0) + engine.live(1)
