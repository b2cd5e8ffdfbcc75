"""A shard: order inside batches, late rows, payload, budgets; without Spark."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.join.kernel import BEFORE_ALL, FOREVER
from recollect.join.payload import MANY, PLACE_BITS, SEGMENT_ROWS
from recollect.policies import policy_names
from recollect.spark.keeping.shard import Shard
from tests.naive.join import LandmarkWindow, TimeWindow, UnlimitedWindow
from tests.naive.unordered import Batch, exact_pairs, in_order
from tests.policies.scenarios import examples
from tests.spark.shards import SCHEMAS, batches_of, feed, job_of, pairs_in, stream

WINDOWS = {
    "20": (20, (TimeWindow(20), TimeWindow(20))),
    "0=35": ((0, 35), (TimeWindow(0), TimeWindow(35))),
    "landmark": (("landmark:16", 9), (LandmarkWindow(16), TimeWindow(9))),
    "unlimited": ("unlimited", (UnlimitedWindow(), UnlimitedWindow())),
}


def naive_pairs(batches, spans) -> list[tuple[int, int]]:
    """The numbers of the rows in all pairs that belong together."""
    given = [Batch([(s, t, k) for s, t, k, _ in rows], 0, 0) for rows in batches]
    numbers = [row[3] for rows in batches for row in sorted(rows, key=lambda row: (row[1], row[0]))]
    assert len(numbers) == sum(map(len, in_order(given)))
    return sorted(
        (numbers[left - 1], numbers[right - 1]) for left, right in exact_pairs(given, spans)
    )


@pytest.mark.parametrize("how", WINDOWS)
@pytest.mark.parametrize("policy", ["clock", "prob"])
def test_exact_without_a_budget(policy, how):
    """With a watermark that is as far behind as rows are out of order, and without any."""
    window, spans = WINDOWS[how]
    batches = stream(seed=3, batches=12, rows=25, keys=6)
    for marked in (False, True):
        shard = Shard(job_of(policy, window, lateness=15), 0)
        pairs = []
        for at, rows in enumerate(batches):
            oldest, following = ((at * 25 - 15), (at + 1) * 25 - 15) if marked else [BEFORE_ALL] * 2
            pairs += feed(shard, rows, oldest, following)
        assert shard.late == 0
        assert sorted(pairs) == naive_pairs(batches, spans)
        assert shard.counts["results"] == len(pairs)
        assert shard.counts["rows_in"] == 300


@examples(25)
@given(st.randoms(use_true_random=False), st.sampled_from([*policy_names(), "gdj:method=2"]))
def test_order_inside_a_batch_is_of_no_consequence(random, policy):
    """Rows of equal times keep their order, so these stay as they are among each other."""
    job = job_of(policy, window=15, budget=12)
    sorted_shard, shuffled_shard = Shard(job, 0), Shard(job, 0)
    for rows in stream(seed=random.randrange(99), batches=5, rows=30, keys=5):
        in_time = sorted(rows, key=lambda row: row[1])
        shuffled = list(rows)
        random.shuffle(shuffled)
        equal: dict[int, list] = {}
        for row in in_time:
            equal.setdefault(row[1], []).append(row)
        shuffled = [equal[time].pop(0) for _, time, _, _ in shuffled]
        assert feed(shuffled_shard, shuffled) == feed(sorted_shard, in_time)
        assert shuffled_shard.counts == sorted_shard.counts


@examples(40)
@given(
    st.lists(st.integers(-30, 30), max_size=12),
    st.lists(st.integers(-30, 30), max_size=12),
    st.integers(-35, 35),
)
def test_late_rows_are_counted_and_left_out(left, right, oldest):
    rows = [(side, time, 1, number) for side, times in enumerate((left, right))
            for number, time in enumerate(times)]  # fmt: skip
    in_time = [row for row in rows if row[1] >= oldest]
    shard = Shard(job_of(window=10), 0)
    pairs = feed(shard, rows, oldest, oldest)
    assert shard.late == shard.counts["late"] == len(rows) - len(in_time)
    assert shard.counts["rows_in"] == len(rows)
    assert sorted(pairs) == sorted(
        (a[3], b[3]) for a in in_time for b in in_time
        if (a[0], b[0]) == (0, 1) and abs(a[1] - b[1]) <= 10
    )  # fmt: skip
    for side in (0, 1):
        times = [row[1] for row in in_time if row[0] == side]
        assert shard.newest[side] == max(times, default=BEFORE_ALL)


def test_the_horizon():
    """For certain: the watermark. Probably: the slower stream less the lateness, never less."""
    shard = Shard(job_of(lateness=5), 0)
    assert shard.take([None, None], BEFORE_ALL, BEFORE_ALL).horizon == (BEFORE_ALL, BEFORE_ALL)
    left_only = shard.take(batches_of([(0, 100, 1, 0)]), BEFORE_ALL, -50)
    assert left_only.horizon == (-50, -50)
    both = shard.take(batches_of([(1, 40, 1, 0)]), -50, 10)
    assert both.horizon == (10, 35)
    older = shard.take(batches_of([(1, 20, 1, 1), (0, 99, 1, 1)]), 10, 20)
    assert older.horizon == (20, 35)
    assert shard.take([None, None], 20, 60).horizon == (60, 60)


def test_newest_near_the_limits_of_64_bits():
    """A lateness must not reach below the smallest time."""
    shard = Shard(job_of(lateness=1000), 0)
    rows = [(side, BEFORE_ALL + 3, 1, side) for side in (0, 1)]
    assert feed(shard, rows) == [(0, 1)]
    rows = [(side, FOREVER, 1, 2 + side) for side in (0, 1)]
    assert feed(shard, rows) == [(2, 3)]


def test_rows_are_given_back_when_their_windows_have_passed():
    shard = Shard(job_of(window=20), 0)
    for at, rows in enumerate(stream(seed=4, batches=60, rows=50, disorder=10)):
        feed(shard, rows, at * 50 - 10, (at + 1) * 50 - 10)
        assert shard.buffered < 50 * 3
        assert sum(part.num_rows for store in shard.stores for _, part in store.segments()) < 2500


def test_a_row_far_ahead_does_not_keep_the_others():
    """One row of the left stream comes from the future; the others must still expire."""
    shard = Shard(job_of(window=20), 0)
    feed(shard, [(0, 10**9, 5, 10**6)])
    for at, rows in enumerate(stream(seed=4, batches=60, rows=50, disorder=10)):
        feed(shard, rows, at * 50 - 10, (at + 1) * 50 - 10)
    assert shard.buffered < 50 * 3


@pytest.mark.parametrize("policy", ["clock", "rand"])
def test_many_tiny_batches(policy):
    """Few segments at any time, and the same results as from one batch, each with its rows."""
    job = job_of(policy, window="unlimited", budget=900)
    tiny, whole = Shard(job, 0), Shard(job, 0)
    random = np.random.default_rng(1)
    rows = [row for part in stream(seed=5, batches=30, rows=100, keys=300, disorder=0) for row in
            sorted(part, key=lambda row: (row[1], row[0]))]  # fmt: skip
    start, most = 0, 0
    pairs = []
    while start < len(rows):
        end = start + int(random.integers(1, 11))
        pairs += feed(tiny, rows[start:end])
        start = end
        most = max(most, *(len(dict(store.segments())) for store in tiny.stores))
    assert most <= MANY + 2
    assert pairs == feed(whole, rows)
    assert tiny.counts == whole.counts
    assert tiny.counts["evicted"] == 3000 - 900


@pytest.mark.compiled
def test_every_buffered_tuple_has_its_own_row():
    """Across settling and packing: what the engine calls a tuple's row is that tuple."""
    shard = Shard(job_of("rand", window=10**6, budget=9000), 0)
    serial = 0
    number_of: dict[int, int] = {}
    for rows in stream(seed=6, batches=12, rows=4000, keys=100_000, disorder=0):
        for row in sorted(rows, key=lambda row: (row[1], row[0])):
            serial += 1
            number_of[serial] = row[3]
        feed(shard, rows)
        for side, name in enumerate(("left", "right")):
            slots, places = shard.engine.rows_of(side)
            found = shard.stores[side].take(places).column(name).to_pylist()
            assert found == [number_of[own] for own in shard.engine.serials(slots).tolist()]
            kept = sum(part.num_rows for _, part in shard.stores[side].segments())
            assert kept <= 1.25 * len(slots) + SEGMENT_ROWS
            for segment, serials in shard.serials[side].items():
                mine = places >> PLACE_BITS == segment
                where = places[mine] & ((1 << PLACE_BITS) - 1)
                assert serials[where].tolist() == shard.engine.serials(slots[mine]).tolist()


def test_find_rows_is_what_settling_told():
    shard = Shard(job_of("lru", window=500, budget=400), 0)
    for rows in stream(seed=7, batches=15, rows=100):
        feed(shard, rows)
    before = [shard.engine.rows_of(side) for side in (0, 1)]
    for slots, places in before:
        shard.engine.relocate(slots, np.zeros(len(places), np.int64))
    shard.find_rows()
    for side, (_, places) in enumerate(before):
        assert shard.engine.rows_of(side)[1].tolist() == places.tolist()


@pytest.mark.compiled
@pytest.mark.parametrize("policy", ["clock", "prob", "life", "gdj:method=2"])
def test_a_budget_in_bytes(policy):
    """What a shard takes in memory, arrays that are not full included, is within its part."""
    job = job_of(policy, window="unlimited", budget="2mb", shards=3)
    assert sum(job.capacity(number).pools[0] for number in range(3)) <= 2_000_000
    shard = Shard(job, 1)
    for rows in stream(seed=8, batches=10, rows=500, keys=2000):
        feed(shard, rows)
        assert shard.buffered_bytes <= 2_000_000 / 3
    assert shard.counts["evicted"] + shard.counts["refused"] > 1000
    assert shard.buffered_bytes > 1_200_000 / 3


@pytest.mark.compiled
@pytest.mark.parametrize("lengths", [(10, 2000), (2000, 10), (10, 400, 10)])
@pytest.mark.parametrize("policy", ["fifo", "clock"])
def test_a_budget_in_bytes_while_rows_become_wider_or_narrower(policy, lengths):
    """Arrays do not shrink when fewer rows fit, and one wide row may lie among narrow ones."""
    budget = 5_000_000
    shard = Shard(job_of(policy, "unlimited", budget=f"{budget // 1_000_000}MB"), 0)
    random = np.random.default_rng(1)
    for at, length in enumerate(np.repeat(lengths, 16).tolist()):
        brought = []
        for stream_ in (0, 1):
            numbers = np.arange(1500 * at, 1500 * (at + 1))
            texts = pa.array(["x" * size for size in random.integers(0, 2 * length, 1500).tolist()])
            keys = random.integers(0, 2**40, 1500)
            columns = [numbers, keys, numbers, texts]
            brought.append(pa.record_batch(columns, schema=SCHEMAS[stream_]))
        list(shard.results(shard.take(brought, BEFORE_ALL, BEFORE_ALL)))
        assert shard.buffered_bytes <= budget
        if at % 16 == 15:
            assert shard.buffered_bytes > 0.6 * budget
            assert shard.buffered > 100


@pytest.mark.parametrize("budget", [7, 100, 101, 103])
def test_a_budget_in_rows_is_divided_exactly(budget):
    job = job_of(budget=budget, shards=7)
    assert sum(job.capacity(number).pools[0] for number in range(7)) == budget
    assert job_of(shards=7).capacity(3).pools == (FOREVER,)


@pytest.mark.compiled
def test_hot_key_gives_all_results_in_parts():
    """One key whose results for a single row do not fit the output at once."""
    shard = Shard(job_of(window=10**6), 0)
    left = [(0, number, 1, number) for number in range(70_000)]
    assert feed(shard, left) == []
    taken = shard.take(batches_of([(1, 70_000, 1, 0), (1, 70_001, 1, 1)]), BEFORE_ALL, BEFORE_ALL)
    batches = list(shard.results(taken))
    assert sum(batch.num_rows for batch in batches) == 140_000
    assert len(set(batches[0].column("left").to_pylist())) == 70_000


@pytest.mark.parametrize(
    "rows", [[], [(0, 5, 1, 0)], [(1, 5, 1, 0)]], ids=["none", "left", "right"]
)
def test_empty_and_one_sided_batches(rows):
    shard = Shard(job_of(), 0)
    empty = [pa.RecordBatch.from_pylist([], schema) for schema in SCHEMAS]
    for _ in range(3):
        assert feed(shard, rows) == []
        assert pairs_in(shard.results(shard.take(empty, BEFORE_ALL, BEFORE_ALL))) == []
    assert shard.buffered == 3 * len(rows)


def test_time_columns_of_different_units():
    """Seconds against milliseconds: one scale for both."""
    schemas = [
        pa.schema([("t", pa.timestamp(unit)), ("k", pa.int64()), (name, pa.int64())])
        for unit, name in (("s", "left"), ("ms", "right"))
    ]
    shard = Shard(job_of(window="2s", schemas=schemas), 0)
    left = pa.record_batch([pa.array([10], schemas[0].types[0]), [1], [0]], schema=schemas[0])
    right = pa.record_batch(
        [pa.array([12_001, 12_000, 8_000, 7_999], schemas[1].types[0]), [1] * 4, range(4)],
        schema=schemas[1],
    )
    results = [*shard.results(shard.take([left, None], BEFORE_ALL, BEFORE_ALL)),
               *shard.results(shard.take([None, right], BEFORE_ALL, BEFORE_ALL))]  # fmt: skip
    assert sorted(pa.Table.from_batches(results).column("right").to_pylist()) == [1, 2]
    assert shard.newest == [10_000, 12_001]
