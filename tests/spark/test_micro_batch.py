"""One micro-batch after the other through a shard, with Spark's rule for late rows; no Spark."""

from dataclasses import fields, replace
from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.join.kernel import BEFORE_ALL
from recollect.spark.keeping import shared_memory
from recollect.spark.keeping.header import HEADER, Header, read_header
from recollect.spark.keeping.micro_batch import Moment, _late_before, join_micro_batch, read_input
from recollect.spark.keeping.shard import Shard
from recollect.spark.live.numbers import Numbers
from recollect.spark.operators import DictVault
from recollect.spark.packing import from_bytes, to_buffer
from tests.policies.scenarios import examples
from tests.spark.shards import batch_of, feed, job_of, pairs_in, stream

COUNTED = ("rows_in", "results", "evicted", "refused", "expired", "late")


@pytest.fixture(autouse=True)
def memory(tmp_path, monkeypatch):
    """A place of its own for shared memory."""
    monkeypatch.setattr(shared_memory, "_owned", lambda: tmp_path)
    return tmp_path


def packed(rows, missing: int = 0, pieces: int = 1) -> list[SimpleNamespace]:
    """Rows as they come out of the shuffle, with the signal that every shard gets."""
    signal = SimpleNamespace(shard=0, side=0, origin=-1, missing=missing, micros=5, packed=None)
    found = [signal]
    for side in (0, 1):
        for origin in range(pieces):
            batch = batch_of(rows[origin::pieces], side)
            if batch is not None:
                found.append(
                    SimpleNamespace(
                        shard=0, side=side, origin=origin, missing=0, micros=7,
                        packed=to_buffer(batch),
                    )
                )  # fmt: skip
    return found


def run(job, vault, rows, batch, watermark=BEFORE_ALL, missing=0):
    """One micro-batch; the pairs and the numbers."""
    moment = Moment("query", batch, watermark)
    *results, numbers = join_micro_batch(job, packed(rows, missing), vault, moment)
    assert isinstance(numbers, Numbers)
    return pairs_in(from_bytes(part) for part in results), numbers


def test_numbers_add_up():
    """Over all micro-batches they are what a shard counts that was never put away."""
    job = job_of("lru", window=40, budget=30, lateness=15)
    vault = DictVault()
    shard = Shard(job, 0)
    total = Numbers()
    before = 0
    for at, rows in enumerate(stream(seed=2, batches=12, rows=40)):
        watermark = max(0, at * 40 - 8)
        pairs, numbers = run(job, vault, rows, at, watermark, missing=at)
        assert pairs == feed(shard, rows, before + 1, watermark + 1)
        before = watermark
        assert numbers.results == len(pairs)
        assert numbers.rows_in == 40 + at
        assert numbers.null_keys == at
        assert numbers.buffered == shard.buffered <= 30
        assert numbers.buffered_bytes > 0
        assert numbers.rebuilt == 0
        assert 0 < numbers.state_bytes <= sum(map(len, vault.values()))
        assert numbers.engine_micros >= 0
        assert numbers.overhead_micros > 0
        for field in fields(Numbers):
            value = getattr(total, field.name) + getattr(numbers, field.name)
            setattr(total, field.name, value)
    counts = shard.counts
    assert total.null_keys == sum(range(12))
    assert total.rows_in - total.null_keys == counts["rows_in"] == 480
    for name in COUNTED[1:]:
        assert getattr(total, name) == counts[name], name
    assert counts["late"] > 0
    assert counts["evicted"] > 0


def test_micro_batches_without_rows():
    """They cost a header, keep the state and its memory, and are no rebuilding."""
    job = job_of("clock", window=100, budget=50)
    vault = DictVault()
    numbers = [run(job, vault, [], at)[1] for at in range(3)]
    assert [one.rows_in for one in numbers] == [0, 0, 0]
    assert list(vault) == [HEADER]
    pairs, first = run(job, vault, [(0, 1, 1, 1)], 3)
    assert (pairs, first.rebuilt, first.buffered) == ([], 0, 1)
    parts = {name: value for name, value in vault.items() if name != HEADER}
    _, empty = run(job, vault, [], 4, missing=9)
    assert (empty.buffered, empty.buffered_bytes) == (1, first.buffered_bytes)
    assert (empty.rows_in, empty.null_keys, empty.late) == (9, 9, 0)
    assert {name: value for name, value in vault.items() if name != HEADER} == parts
    pairs, second = run(job, vault, [(1, 2, 1, 1)], 5)
    assert (pairs, second.rebuilt) == ([(1, 1)], 0)


def test_a_retry_gives_the_same():
    """The attempt before broke off after a result; its vault is gone, its memory is not."""
    job = job_of("rand", window=60, budget=25)
    vault = DictVault()
    shard = Shard(job, 0)
    for at, rows in enumerate(stream(seed=3, batches=8, rows=40, keys=8)):
        if at % 2:
            lost = DictVault(vault)
            next(join_micro_batch(job, packed(rows), lost, Moment("query", at, BEFORE_ALL)))
        pairs, numbers = run(job, vault, rows, at)
        assert pairs == feed(shard, rows)
        assert numbers.rebuilt == at % 2
    assert shard.counts["evicted"] > 50


def test_rows_come_in_pieces_and_in_any_order():
    job = job_of("clock", window=60, budget=25)
    vaults = [DictVault(), DictVault()]
    for at, rows in enumerate(stream(seed=4, batches=6, rows=40)):
        outcomes = []
        for order, vault in zip((1, -1), vaults, strict=True):
            moment = Moment(f"query{order}", at, BEFORE_ALL)
            given = packed(rows, pieces=5)[::order]
            *results, numbers = join_micro_batch(job, given, vault, moment)
            outcomes.append((pairs_in(from_bytes(part) for part in results), numbers.evicted))
        assert outcomes[0] == outcomes[1]


def test_input_of_nothing():
    read = read_input(packed([], missing=3))
    assert (read.batches, read.missing, read.micros) == ([None, None], 3, 5)


# -- late rows -------------------------------------------------------------------------------------


def test_before_which_time_rows_are_late():
    """What is not after the watermark of the micro-batch before; at first, of the epoch."""
    first = Header({})
    assert _late_before(first, Moment("q", 0, BEFORE_ALL)) == (BEFORE_ALL, BEFORE_ALL)
    assert _late_before(first, Moment("q", 0, 0)) == (1, 1)
    assert _late_before(first, Moment("q", 0, 700)) == (1, 701)
    later = Header({}, batch=4, watermark=500)
    assert _late_before(later, Moment("q", 5, 700)) == (501, 701)
    assert _late_before(later, Moment("q", 6, 700)) == (701, 701)


@examples(40)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 400)), max_size=6), max_size=10),
    st.integers(0, 60),
)
def test_late_rows_are_those_of_spark(batches, delay):
    """Against Spark's own bookkeeping of watermarks, micro-batches without rows included.

    Spark drops in a micro-batch what is not after the watermark of the one before. It moves the
    watermark after a micro-batch with rows, to the slower stream's latest time less the delay. If
    that moved it and no rows follow, a micro-batch without rows comes, of which shards do not hear.
    """
    job = job_of("fifo", window=10**6, lateness=delay)
    vault = DictVault()
    latest = [0, 0]
    watermarks = [0]
    late = 0
    number = -1
    for rows in batches:
        number += 1
        if rows:
            given = [(side, time, 1, 100 * number + at) for at, (side, time) in enumerate(rows)]
            before = watermarks[-2] if len(watermarks) > 1 else 0
            dropped = sum(time <= before for _, time in rows)
            _, numbers = run(job, vault, given, number, watermarks[-1])
            assert numbers.late == dropped
            late += dropped
            for side, time in rows:
                latest[side] = max(latest[side], time)
        moved = max(watermarks[-1], min(latest) - delay)
        watermarks.append(moved)
    assert read_header(vault, job).batch <= number


def test_late_rows_do_not_count_as_newest():
    job = job_of("fifo", window=50)
    vault = DictVault()
    run(job, vault, [(0, 100, 1, 0), (1, 100, 1, 0)], 0, 0)
    run(job, vault, [], 1, 90)
    _, numbers = run(job, vault, [(0, 80, 1, 1), (1, 95, 1, 1)], 2, 90)
    assert numbers.late == 1
    header = read_header(vault, job)
    assert header.newest == [100, 100]
    assert header.watermark == 90


def test_a_micro_batch_of_late_rows_only():
    job = job_of("clock", window=50, budget=10)
    vault = DictVault()
    run(job, vault, [(0, 100, 1, 0)], 0, 0)
    run(job, vault, [], 1, 90)
    pairs, numbers = run(job, vault, [(1, 60, 1, 0), (0, 70, 1, 1)], 2, 90)
    assert (pairs, numbers.late, numbers.rows_in, numbers.buffered) == ([], 2, 2, 1)
    pairs, numbers = run(job, vault, [(1, 120, 1, 1)], 3, 95)
    assert (pairs, numbers.late, numbers.rebuilt) == ([(0, 1)], 0, 0)


def test_joins_of_one_query_do_not_share_memory(memory):
    """They are told apart by their names, whatever these are made of."""
    names = ["one", "two", "../../one", "a/b", "a", ".."]
    jobs = [replace(job_of("clock", window=50), name=name) for name in names]
    vaults = [DictVault() for _ in jobs]
    for at in range(3):
        for job, vault in zip(jobs, vaults, strict=True):
            _, numbers = run(job, vault, [(0, at, 1, at)], at)
            assert numbers.rebuilt == 0
            assert numbers.buffered == at + 1
    assert len(list(memory.glob("query*/0/*"))) == len(names)
    assert all(path.name.startswith("query") for path in memory.iterdir())


def test_results_are_packed_in_the_schema_of_both_sides():
    job = job_of("clock", window=50)
    moment = Moment("query", 0, BEFORE_ALL)
    result, _ = join_micro_batch(job, packed([(0, 1, 5, 1), (1, 2, 5, 2)]), DictVault(), moment)
    batch = from_bytes(result)
    assert batch.schema.names == ["left_t", "left_k", "left", "left_text",
                                  "right_t", "right_k", "right", "right_text"]  # fmt: skip
    assert isinstance(batch, pa.RecordBatch)
