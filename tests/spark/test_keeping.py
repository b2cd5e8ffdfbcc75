"""A shard that is saved after every micro-batch, and what may happen to it in between.

Whatever happens, results, counts and the engine's arrays must be those of a shard that was never
put away.
"""

import errno
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from recollect.errors import StateError
from recollect.join import engine as engines
from recollect.join.kernel import BEFORE_ALL
from recollect.policies import policy_names
from recollect.spark.keeping import keeper as keeping
from recollect.spark.keeping import shard as shards
from recollect.spark.keeping import shared_memory
from recollect.spark.keeping.header import FORMAT, HEADER, identity_of, read_header
from recollect.spark.keeping.keeper import Keeper
from recollect.spark.keeping.shard import Job, Shard
from recollect.spark.operators import DictVault
from tests.spark.shards import SCHEMAS, batches_of, contents_of, feed, job_of, keep, stream

POLICIES = [*policy_names(), "gdj:method=2", "prob:counts=sketch,entries=64"]
QUERY = "query"


@pytest.fixture(autouse=True)
def memory(tmp_path, monkeypatch) -> Path:
    """A place of its own for shared memory."""
    monkeypatch.setattr(shared_memory, "_owned", lambda: tmp_path)
    return tmp_path


def arrays_of(shard: Shard) -> dict[str, bytes]:
    """All arrays of the engine, to be compared."""
    return {
        name: array.tobytes() + str(array.shape).encode()
        for name, array in contents_of(shard).items()
    }


def folders(memory: Path) -> list[Path]:
    """The pieces of shared memory of the shard."""
    return list((memory / QUERY / "0").glob("*"))


@pytest.fixture
def compared(memory, monkeypatch) -> Callable[..., "Compared"]:
    """Make a comparison in which whole arrays can be compared.

    Policies leave parts of their arrays as they find them; here they find zeros.
    """

    def make(policy: str, **options) -> Compared:
        job = job_of(policy, **options)
        Shard(job, 0)  # numba must see the real functions when it compiles
        monkeypatch.setattr(np, "empty", np.zeros)
        return Compared(job)

    return make


# -- what happens to the memory between two micro-batches -----------------------------------------


def nothing(memory: Path) -> None:
    """Everything is at hand."""


def all_gone(memory: Path) -> None:
    shutil.rmtree(memory / QUERY, ignore_errors=True)


def arrays_gone(memory: Path) -> None:
    for folder in folders(memory):
        (folder / shared_memory.ARRAYS).unlink()


def arrays_cut(memory: Path) -> None:
    for folder in folders(memory):
        file = folder / shared_memory.ARRAYS
        os.truncate(file, file.stat().st_size // 2)


def arrays_emptied(memory: Path) -> None:
    for folder in folders(memory):
        os.truncate(folder / shared_memory.ARRAYS, 0)


def arrays_longer(memory: Path) -> None:
    for folder in folders(memory):
        file = folder / shared_memory.ARRAYS
        os.truncate(file, file.stat().st_size + 4096)


def rows_gone(memory: Path) -> None:
    for file in memory.glob(f"{QUERY}/0/*/rows-*"):
        file.unlink()
        return


def rows_cut(memory: Path) -> None:
    for file in memory.glob(f"{QUERY}/0/*/rows-*"):
        os.truncate(file, file.stat().st_size - 1)
        return


HARM = [all_gone, arrays_gone, arrays_cut, arrays_emptied, arrays_longer, rows_gone, rows_cut]


class Compared:
    """A shard that is kept in memory all the time beside one that is saved after each batch."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.vault = DictVault()
        self.always = Shard(job, 0)
        self.at = 0
        self.rebuilt = 0

    def step(self, rows, oldest=BEFORE_ALL, oldest_next=BEFORE_ALL, fails=0) -> Keeper:
        """One micro-batch in both; ``fails`` attempts of the saved one are lost before."""
        for attempt in range(fails):
            self._lost_attempt(rows, oldest, oldest_next, attempt)
        keeper, pairs = keep(self.job, self.vault, rows, self.at, oldest, oldest_next)
        assert pairs == feed(self.always, rows, oldest, oldest_next)
        counts, late = dict(self.always.counts), self.always.late
        assert keeper.shard.late <= late
        for count in ("rows_in", "late"):  # late rows are counted since the shard was opened
            counts[count] += keeper.shard.late - late
        assert keeper.shard.counts == counts
        assert keeper.shard.newest == self.always.newest
        assert arrays_of(keeper.shard) == arrays_of(self.always)
        self.rebuilt += keeper.rebuilt
        self.at += 1
        return keeper

    def _lost_attempt(self, rows, oldest, oldest_next, attempt) -> None:
        """An attempt that breaks off: in the middle of its results, or just before its commit."""
        lost = DictVault(self.vault)
        if attempt % 2:
            keep(self.job, lost, rows, self.at, oldest, oldest_next)
            return
        keeper = Keeper(self.job, 0, lost, read_header(lost, self.job), QUERY)
        taken = keeper.shard.take(batches_of(rows), oldest, oldest_next)
        next(keeper.shard.results(taken), None)


@pytest.mark.compiled
@pytest.mark.parametrize("policy", POLICIES)
def test_disturbances(policy, memory, monkeypatch, compared):
    """Harm of every kind at random moments; snapshots, growing slots, rows from the future."""
    monkeypatch.setattr(engines, "FIRST_SLOTS", 16)
    monkeypatch.setattr(keeping, "SMALLEST_SNAPSHOT", 300)
    monkeypatch.setattr(keeping, "PAGE", 200)
    monkeypatch.setattr(shards, "OUTPUT_ROWS", 4)
    random = np.random.default_rng(sum(map(ord, policy)))
    both = compared(policy, window=60, budget=25, lateness=15)
    harmed = 0
    for at, rows in enumerate(stream(seed=POLICIES.index(policy), batches=22, rows=20, keys=50)):
        harm = [nothing, nothing, *HARM][int(random.integers(len(HARM) + 2))]
        harm(memory)
        fails = int(random.integers(0, 3)) * (at % 4 == 1)
        if at % 5 == 2:
            rows = [*rows, (at % 2, at * 20 + 500, 1, 10_000 + at)]
        both.step(rows, at * 20 - 12, at * 20 + 5, fails)
        harmed += harm is not nothing or fails > 0
    assert both.rebuilt >= harmed - 2
    assert both.always.counts["evicted"] + both.always.counts["refused"] > 30
    assert both.always.counts["late"] > 0
    assert json.loads(both.vault[HEADER])["snapshot_pages"] > 1


@pytest.mark.parametrize("policy", ["clock", "rand"])
def test_it_is_of_no_consequence_how_results_come_out(policy, memory, compared, monkeypatch):
    """The log is replayed without results, so the engine must not care when output was full."""
    monkeypatch.setattr(shards, "OUTPUT_ROWS", 4)
    both = compared(policy, window=30, budget=60)
    for at, rows in enumerate(stream(seed=11, batches=14, rows=60, keys=8)):
        early = [(at % 2, at * 60 + 400, 1, 10_000 + at)] * (at % 3 == 0)
        if at % 4 == 3:
            all_gone(memory)
        both.step([*early, *rows], at * 60 - 15, at * 60 + 45)


@pytest.mark.compiled
@pytest.mark.parametrize("policy", ["clock", "prob:counts=exact", "life", "rand", "age"])
def test_disturbances_with_a_budget_in_bytes(policy, memory, monkeypatch, compared):
    """Statistics that grow (prob: exact counts) take from the budget; so must the rebuilt ones."""
    monkeypatch.setattr(engines, "FIRST_SLOTS", 64)
    monkeypatch.setattr(keeping, "SMALLEST_SNAPSHOT", 900)
    both = compared(policy, window=10**6, budget="200kb")
    for at, rows in enumerate(stream(seed=1, batches=14, rows=150, keys=4000)):
        [nothing, all_gone, nothing, arrays_cut][at % 4](memory)
        both.step(rows, fails=int(at == 6))
    assert both.always.counts["evicted"] + both.always.counts["refused"] > 100
    if policy.startswith("prob"):
        assert len(both.always.engine.states[0].counts.lines) > 1024


@pytest.mark.parametrize("policy", ["clock", "rand", "life"])
@pytest.mark.parametrize("smallest", [1, 3000, 2**20])
def test_rebuilt_after_every_batch_and_never(policy, smallest, memory, monkeypatch, compared):
    monkeypatch.setattr(keeping, "SMALLEST_SNAPSHOT", smallest)
    for harm in (nothing, all_gone):
        both = compared(policy, window=50, budget=60)
        for rows in stream(seed=2, batches=12, rows=40):
            harm(memory)
            both.step(rows)
        assert both.rebuilt == (0 if harm is nothing else 11)
        all_gone(memory)


@pytest.mark.parametrize("harm", HARM, ids=lambda harm: harm.__name__)
def test_after_a_loss_the_memory_is_at_hand_again(harm, memory, compared):
    """It is read from the state store once, and not in each batch from then on."""
    both = compared("clock", window=200, budget=300)
    rebuilt = []
    for at, rows in enumerate(stream(seed=3, batches=9, rows=60)):
        if at == 4:
            harm(memory)
        rebuilt.append(both.step(rows).rebuilt)
    assert rebuilt == [at == 4 for at in range(9)]


def test_a_failed_attempt_costs_one_rebuilding(memory, compared):
    both = compared("clock", window=200, budget=300)
    rebuilt = []
    for at, rows in enumerate(stream(seed=3, batches=9, rows=60)):
        rebuilt.append(both.step(rows, fails=2 * (at == 4)).rebuilt)
        assert len(folders(memory)) == 1  # what lost attempts have left behind is freed
    assert rebuilt == [at == 4 for at in range(9)]


def test_the_folder_vanishes_while_a_task_runs(memory):
    """What is mapped stays; the next micro-batch finds nothing and reads the state store."""
    job = job_of("clock", window=30, budget=40)
    vault = DictVault()
    always = Shard(job, 0)
    for at, rows in enumerate([*stream(seed=4, batches=6, rows=40), [(0, -(10**6), 1, 10**6)]]):
        keeper = Keeper(job, 0, vault, read_header(vault, job), QUERY)
        taken = keeper.shard.take(batches_of(rows), -(10**5), -(10**5))
        list(keeper.shard.results(taken))
        all_gone(memory)
        keeper.save(taken, at, BEFORE_ALL)
        feed(always, rows, -(10**5), -(10**5))
        assert arrays_of(keeper.shard)["streams"] == arrays_of(always)["streams"]


def test_no_room_in_shared_memory(memory, monkeypatch, compared):
    """It goes on from the state store, and from memory again when there is room."""
    real = os.posix_fallocate

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    both = compared("lru", window=60, budget=80)
    rebuilt = []
    for at, rows in enumerate(stream(seed=5, batches=10, rows=30)):
        monkeypatch.setattr(os, "posix_fallocate", full if 3 <= at < 6 else real)
        rebuilt.append(both.step(rows).rebuilt)
        assert len(folders(memory)) == (0 if 3 <= at < 6 else 1)
    assert rebuilt == [4 <= at <= 6 for at in range(10)]


def test_no_place_for_shared_memory(memory, monkeypatch, compared):
    """A file where the folder should be: nothing can be made there."""
    (memory / QUERY).write_text("in the way")
    both = compared("lru", window=60, budget=80)
    for rows in stream(seed=5, batches=4, rows=30):
        both.step(rows)
    assert both.rebuilt == 3


def test_room_for_the_rows_but_not_for_the_arrays(memory, monkeypatch, compared):
    real = os.posix_fallocate

    def small_only(file, start, size):
        if size > 50_000:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, start, size)

    monkeypatch.setattr(os, "posix_fallocate", small_only)
    both = compared("lru", window=60, budget=2000)
    for rows in stream(seed=5, batches=4, rows=30):
        both.step(rows)
    assert both.rebuilt == 3
    assert folders(memory) == []


def test_times_near_the_limits_of_64_bits_in_the_log(memory, compared):
    """The log holds differences of times, which may not fit 64 bits."""
    both = compared("fifo", window="unlimited", budget=5)
    for number, time in enumerate([0, BEFORE_ALL, 2**63 - 1, -1, BEFORE_ALL + 1, 2**63 - 2]):
        rows = [(side, -time - 1 if side else time, 1, number) for side in (0, 1)]
        all_gone(memory)
        both.step(rows)


def test_batches_of_nothing_and_of_one_row(memory, compared):
    both = compared("clock", window=50, budget=3)
    for at in range(30):
        if at % 5 == 0:
            all_gone(memory)
        both.step([] if at % 3 == 0 else [(at % 2, at, 1, at)], at - 20, at - 19)


# -- whose state it is -----------------------------------------------------------------------------

OTHER_COLUMNS = (SCHEMAS[0].remove(3), SCHEMAS[1])
CHANGES = {
    "policy": ({"policy": "lru"}, "clock", "lru"),
    "budget": ({"budget": 81}, "80", "81"),
    "unlimited budget": ({"budget": None}, "80", "unlimited"),
    "shards": ({"shards": 3}, "2", "3"),
    "window": ({"window": (20, 21)}, "20", "20=21"),
    "seed": ({"seed": 8}, "7", "8"),
    "lateness": ({"lateness": 4}, "0", "4"),
    "columns": ({"schemas": OTHER_COLUMNS}, "text string", "left int64"),
    "keys": ({"on": "k,text"}, "k", "k"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_join_is_refused(change, memory):
    options, before, after = CHANGES[change]
    same = {"policy": "clock", "window": 20, "budget": 80, "shards": 2}
    vault = DictVault()
    job = job_of(**same)
    keep(job, vault, [(0, 1, 1, 1)], 0)
    kept = dict(vault)
    assert read_header(vault, job_of(**same)).batch == 0
    with pytest.raises(StateError) as refused:
        read_header(vault, job_of(**(same | options)))
    message = str(refused.value)
    assert before in message
    assert after in message
    assert message.index(before) <= message.rindex(after)
    assert change.split()[-1].rstrip("s") in message
    assert vault == kept


def test_columns_in_another_order_are_refused(memory):
    """Of the same types, but not those whose values are kept."""
    names = (tuple(SCHEMAS[0].names), tuple(SCHEMAS[1].names))
    job = replace(job_of("clock", window=20, budget=80), columns=names)
    vault = DictVault()
    keep(job, vault, [(0, 1, 1, 1)], 0)
    turned = replace(job, columns=(names[0][::-1], names[1]))
    with pytest.raises(StateError, match="a join with left columns"):
        read_header(vault, turned)


@pytest.mark.parametrize(("change", "found"), [({"format": 9, "tags": []}, 9), ({}, 1)])
def test_state_of_another_format_is_refused(change, found, memory):
    """Also that of before there were formats."""
    job = job_of("clock")
    vault = DictVault()
    keep(job, vault, [(0, 1, 1, 1)], 0)
    stored = json.loads(vault[HEADER])
    del stored["format"]
    vault[HEADER] = json.dumps(stored | change).encode()
    words = f"state of format {found}, but .* reads format {FORMAT}; .* start with a new checkpoint"
    with pytest.raises(StateError, match=words):
        read_header(vault, job)


@pytest.mark.parametrize("part", ["layout", "snapshot_layout"])
def test_arrays_of_other_types_are_not_read_as_those_of_today(part, memory, monkeypatch):
    monkeypatch.setattr(keeping, "SMALLEST_SNAPSHOT", 400)
    job = job_of("lru", window=10**6, budget=40)
    vault = DictVault()
    for at, rows in enumerate(stream(seed=1, batches=12, rows=50)):
        keep(job, vault, rows, at)
    header = read_header(vault, job)
    getattr(header, part)["table"][0] = "<f8"
    if part == "layout":  # then they are not at hand, but the state store has them
        assert Keeper(job, 0, vault, header, QUERY).rebuilt
        return
    all_gone(memory)
    with pytest.raises(StateError, match="policy lru would not have kept"):
        Keeper(job, 0, vault, header, QUERY)


@pytest.mark.parametrize("smallest", [2**20, 400], ids=["log", "snapshot"])
@pytest.mark.parametrize("at_hand", [True, False])
def test_a_policy_whose_code_has_changed_is_refused(smallest, at_hand, memory, monkeypatch):
    """What it would have kept is not what is there. Its name and parameters are the same."""
    monkeypatch.setattr(keeping, "SMALLEST_SNAPSHOT", smallest)
    job = job_of("lru", window=10**6, budget=40)
    vault = DictVault()
    for at, rows in enumerate(stream(seed=1, batches=12, rows=50)):
        keep(job, vault, rows, at)
    kept = dict(vault)
    if not at_hand:
        all_gone(memory)
    changed = job_of("clock", window=10**6, budget=40)
    header = replace(read_header(vault, job), identity=identity_of(changed))
    with pytest.raises(StateError, match="policy clock would not have kept"):
        Keeper(changed, 0, vault, header, QUERY)
    assert vault == kept


@pytest.mark.parametrize("part", ["log/0", "log/2", "snapshot/0", "rows"])
def test_a_part_is_missing(part, memory, monkeypatch):
    monkeypatch.setattr(keeping, "SMALLEST_SNAPSHOT", 400 if "snapshot" in part else 2**20)
    job = job_of("clock", window=10**6, budget=500)
    vault = DictVault()
    for at, rows in enumerate(stream(seed=1, batches=12, rows=50)):
        keep(job, vault, rows, at)
    gone = next(name for name in vault if name.startswith(part))
    del vault[gone]
    all_gone(memory)
    with pytest.raises(StateError, match=gone):
        Keeper(job, 0, vault, read_header(vault, job), QUERY)


def test_the_vault_holds_only_what_is_needed(memory, monkeypatch):
    """Old logs, pages and rows are deleted."""
    monkeypatch.setattr(keeping, "SMALLEST_SNAPSHOT", 400)
    monkeypatch.setattr(keeping, "PAGE", 2000)
    job = job_of("rand", window=100, budget=60)
    vault = DictVault()
    for at, rows in enumerate(stream(seed=1, batches=60, rows=40)):
        keeper, _ = keep(job, vault, rows, at)
        header = read_header(vault, job)
        expected = {HEADER}
        expected |= {f"log/{entry}" for entry in range(header.log)}
        expected |= {f"snapshot/{page}" for page in range(header.snapshot_pages)}
        expected |= {
            f"rows-{side}-{number}"
            for side, store in enumerate(keeper.shard.stores)
            for number, _ in store.segments()
        }
        assert set(vault) == expected
        (folder,) = folders(memory)
        assert {file.name for file in folder.iterdir()} == {
            shared_memory.ARRAYS, *(name for name in expected if name.startswith("rows"))
        }  # fmt: skip
        assert header.buffered == keeper.shard.buffered <= 60


# -- how much is written ---------------------------------------------------------------------------


def _plain(random: np.random.Generator, first: int, rows: int, stream: int) -> pa.RecordBatch:
    """Rows one after the other, with keys that hardly ever match."""
    numbers = np.arange(first, first + rows)
    columns = [numbers, random.integers(0, 2**40, rows), numbers, pa.array(["text"] * rows)]
    return pa.record_batch(columns, schema=SCHEMAS[stream])


def _written(policy: str, budget: int, memory: Path) -> list[int]:
    """The bytes written per micro-batch of 2 * 500 rows when the buffer is full."""
    job = job_of(policy, window="unlimited", budget=budget)
    vault = DictVault()
    random = np.random.default_rng(1)
    first = 0
    sizes = []
    for at, rows in enumerate([budget // 2] + [500] * 120):
        keeper = Keeper(job, 0, vault, read_header(vault, job), QUERY)
        batches = [_plain(random, first, rows, stream) for stream in (0, 1)]
        taken = keeper.shard.take(batches, BEFORE_ALL, BEFORE_ALL)
        assert sum(batch.num_rows for batch in keeper.shard.results(taken)) == 0
        keeper.save(taken, at, BEFORE_ALL)
        assert keeper.shard.buffered == budget
        sizes.append(keeper.written)
        first += rows
    all_gone(memory)
    return sizes[1:]


@pytest.mark.compiled
@pytest.mark.parametrize(("policy", "factor"), [("fifo", 2), ("rand", 4)])
def test_what_is_written_does_not_grow_with_the_buffer(policy, factor, memory, monkeypatch):
    """The same batches against a buffer ten times as large.

    FIFO empties segments one after the other, so hardly a row need be written twice (a snapshot now
    and then is as large as the log since the last). RAND makes holes everywhere; with a quarter of
    the stored rows allowed to be holes, a row that comes may cost four that are written again, but
    no more, however large the buffer.
    """
    monkeypatch.setattr(keeping, "SMALLEST_SNAPSHOT", 20_000)
    small = _written(policy, 10_000, memory)
    large = _written(policy, 100_000, memory)
    assert np.mean(large) < factor * np.mean(small)
    assert np.median(large) < 1.3 * np.median(small)
