"""Shared memory: who may claim it, when it is whole, and when it is given back."""

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pytest

from recollect.spark.keeping import shared_memory
from recollect.spark.keeping.shared_memory import ARRAYS, STALE_SECONDS, SharedMemory

ARRAYS_OF_ALL_SORTS = {
    "slots": np.zeros(7, [("a", "i8"), ("b", "i4", (2,)), ("c", "i4")]),
    "empty": np.empty((7, 0), np.int64),
    "matrix": np.arange(6, dtype=np.float64).reshape(2, 3),
    "bytes": np.array([1, 2, 3], np.uint8),
    "last": np.array([-(2**63)]),
}


@pytest.fixture(autouse=True)
def owned(tmp_path, monkeypatch) -> Path:
    """A place of its own for shared memory."""
    monkeypatch.setattr(shared_memory, "_owned", lambda: tmp_path)
    return tmp_path


def fresh(query="query", shard=3) -> SharedMemory:
    memory = SharedMemory.fresh(query, shard)
    assert memory is not None
    return memory


def test_a_claim_succeeds_once():
    token = fresh().token
    first = SharedMemory.claim("query", 3, token)
    assert first is not None
    assert first.token != token
    assert SharedMemory.claim("query", 3, token) is None
    assert SharedMemory.claim("query", 3, first.token) is not None


@pytest.mark.parametrize(("query", "shard"), [("query", 4), ("other", 3)])
def test_memory_belongs_to_a_shard_of_a_query(query, shard):
    token = fresh().token
    assert SharedMemory.claim(query, shard, token) is None
    assert SharedMemory.claim("query", 3, token) is not None


def test_arrays_are_changed_in_place():
    memory = fresh()
    layout = memory.write_arrays(ARRAYS_OF_ALL_SORTS)
    layout = json.loads(json.dumps(layout))  # as it is in the header
    arrays = memory.arrays(layout)
    assert arrays is not None
    for name, array in ARRAYS_OF_ALL_SORTS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].flags.c_contiguous
        assert arrays[name].flags.aligned
        assert arrays[name].flags.writeable
    arrays["matrix"][1, 2] = 55
    claimed = SharedMemory.claim("query", 3, memory.token)
    assert claimed is not None
    again = claimed.arrays(layout)
    assert again is not None
    assert again["matrix"][1, 2] == 55


def test_mapped_arrays_can_be_written_again():
    """Some have grown, others are still those that are mapped from the file to be replaced."""
    memory = fresh()
    layout = memory.write_arrays(ARRAYS_OF_ALL_SORTS)
    mapped = memory.arrays(layout)
    assert mapped is not None
    mapped["matrix"][:] = 9
    grown = mapped | {"bytes": np.arange(200, dtype=np.uint8)}
    layout = memory.write_arrays(grown)
    again = memory.arrays(layout)
    assert again is not None
    assert again["matrix"].tolist() == [[9] * 3] * 2
    assert again["bytes"].tolist() == list(range(200))


@pytest.mark.parametrize("change", [-1, 1, -(10**6)])
def test_sizes_are_checked(owned, change):
    memory = fresh()
    layout = memory.write_arrays(ARRAYS_OF_ALL_SORTS)
    memory.write("rows", pa.py_buffer(b"12345"))
    for name in (ARRAYS, "rows"):
        file = owned / "query" / "3" / memory.token / name
        os.truncate(file, max(0, file.stat().st_size + change))
    assert memory.arrays(layout) is None
    assert memory.read("rows", 5) is None


def test_bytes_by_name():
    memory = fresh()
    memory.write("rows", pa.py_buffer(b"12345"))
    assert memory.read("rows", 4) is None
    assert memory.read("others", 5) is None
    before = memory.read("rows", 5)
    assert before is not None
    memory.write("rows", pa.py_buffer(b"abcde"))
    assert before.to_pybytes() == b"12345"  # those who have it mapped keep it
    after = memory.read("rows", 5)
    assert after is not None
    assert after.to_pybytes() == b"abcde"
    memory.drop("rows")
    memory.drop("rows")
    assert memory.read("rows", 5) is None


def test_others_are_given_back(owned):
    lost, other_shard, other_query = fresh(), fresh(shard=4), fresh("other")
    current = fresh()
    current.free_others()
    assert SharedMemory.claim("query", 3, lost.token) is None
    assert (owned / "query" / "3" / current.token).is_dir()
    assert SharedMemory.claim("query", 4, other_shard.token) is not None
    assert SharedMemory.claim("other", 3, other_query.token) is not None
    current.free()
    current.free()
    assert SharedMemory.claim("query", 3, current.token) is None


def test_stale_memory_is_given_back(owned):
    old, used = fresh("stopped"), fresh("running")
    past = time.time() - STALE_SECONDS - 10
    for query in ("stopped", "running"):
        os.utime(owned / query / "3", (past, past))
    claimed = SharedMemory.claim("running", 3, used.token)  # which makes it young again
    assert claimed is not None
    fresh("new")
    assert SharedMemory.claim("stopped", 3, old.token) is None
    assert SharedMemory.claim("running", 3, claimed.token) is not None


def test_no_room(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    memory = fresh()
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space"):
        memory.write("rows", pa.py_buffer(b"12345"))
    with pytest.raises(OSError, match="No space"):
        memory.write_arrays(ARRAYS_OF_ALL_SORTS)


def test_no_folder_can_be_made(owned, caplog):
    (owned / "query").write_text("in the way")
    assert SharedMemory.fresh("query", 3) is None
    assert "no shared memory" in caplog.text


# -- owners that are no more -----------------------------------------------------------------------

OWNER = """
import sys
from pathlib import Path
from recollect.spark.keeping import shared_memory
shared_memory.root = lambda: Path(sys.argv[1])
memory = shared_memory.SharedMemory.fresh("query", 0)
print(shared_memory._owned(), flush=True)
sys.stdin.read()
"""


def _owner(root: Path) -> tuple[subprocess.Popen, Path]:
    """A process that owns memory until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def _janitor(folder: Path) -> psutil.Process:
    """The shell that waits; its child bears the same words until it has become a `sleep`."""
    shells = {
        one.pid: one for one in psutil.process_iter(["cmdline", "ppid"])
        if one.info["cmdline"] and one.info["cmdline"][-1] == str(folder)
    }  # fmt: skip
    (janitor,) = [one for one in shells.values() if one.info["ppid"] not in shells]
    return janitor


def _wait_until(condition, seconds: float = 15) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


@pytest.mark.compiled
def test_the_memory_of_an_owner_that_dies_is_given_back(tmp_path):
    """The janitor does it, even if the owner is killed; it goes when its work is done."""
    process, folder = _owner(tmp_path / "root")
    assert list(folder.glob("query/0/*"))
    assert folder.name.startswith(f"{process.pid}-")
    janitor = _janitor(folder)
    time.sleep(1.2)
    assert list(folder.glob("query/0/*"))
    process.kill()
    process.wait()
    assert _wait_until(lambda: not folder.exists())
    assert _wait_until(lambda: not janitor.is_running() or janitor.status() == "zombie")


def test_what_the_dead_have_left_is_given_back(tmp_path, monkeypatch):
    """Of processes that are gone, or whose number another process has now; nobody else's."""
    monkeypatch.setattr(shared_memory, "root", lambda: tmp_path)
    alive = psutil.Process()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    names = {
        f"{dead.pid}-1": False,
        f"{alive.pid}-{int(alive.create_time()) - 100}": False,
        f"{alive.pid}-{int(alive.create_time())}": True,
    }
    for name in names:
        (tmp_path / name / "query" / "0").mkdir(parents=True)
    shared_memory._free_what_ended_executors_left()
    assert {name: (tmp_path / name).exists() for name in names} == names
