"""Killed at any moment, a load or a change leaves the old index, the new one or a clear error."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.errors import StateError
from recollect.intervals.index import IntervalIndex
from tests.intervals.crashing import OLD, contents

SCRIPT = Path(__file__).with_name("crashing.py")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes it has forked")


def environment():
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("work", "possible"),
    [("load", {"old", "new", "incomplete"}), ("change", {"old", "new"})],
)
def test_killed_at_a_write(tmp_path, work, possible):
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path, work],
        env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    states = done.stdout.split()
    assert len(states) > 10
    assert set(states) == possible
    assert states[0] != "new"
    assert states[-1] == "new"


ENDLESS = """
import sys, numpy as np
from recollect.intervals.index import IntervalIndex
def batches():
    while True:
        print("batch", flush=True)
        yield {"start": np.arange(1000), "end": np.arange(1, 1001)}
IntervalIndex.create(sys.argv[1], []).bulk_load(batches())
"""


@pytest.mark.parametrize("old", [False, True])
def test_killed_from_outside(tmp_path, old):
    path = tmp_path / "index"
    if old:
        with IntervalIndex.create(path, []) as index:
            index.bulk_load([OLD])
    child = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, path], env=environment(), stdout=subprocess.PIPE
    )
    for _ in range(20):
        assert child.stdout.readline() == b"batch\n"
    with pytest.raises(StateError, match="in use by another process"):
        IntervalIndex.create(path, [])
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    if old:
        with IntervalIndex.open(path) as index:
            assert contents(index.search()) == contents(OLD)
    else:
        with pytest.raises(StateError, match="index: incomplete load"):
            IntervalIndex.open(path)
    with IntervalIndex.create(path, []) as index:
        index.bulk_load([OLD])
    assert [file.name for file in tmp_path.iterdir()] == ["index"]


def test_an_unfinished_file_is_recognised_by_its_mark(tmp_path):
    index = IntervalIndex.create(tmp_path / "index", [])
    shutil.copy(tmp_path / "index.loading", tmp_path / "copy")
    with pytest.raises(StateError, match="copy: incomplete load"):
        IntervalIndex.open(tmp_path / "copy")
    index.close()


def test_an_error_in_a_load_leaves_the_old_index(tmp_path):
    path = tmp_path / "index"
    with IntervalIndex.create(path, []) as index:
        index.bulk_load([OLD])

    def batches():
        yield OLD
        raise ZeroDivisionError

    with IntervalIndex.create(path, []) as index, pytest.raises(ZeroDivisionError):
        index.bulk_load(batches())
    with IntervalIndex.open(path) as index:
        assert contents(index.search()) == contents(OLD)
    assert [file.name for file in tmp_path.iterdir()] == ["index"]


def test_a_journal_that_was_cut_short(tmp_path):
    path, journal = tmp_path / "index", tmp_path / "index.journal"
    with IntervalIndex.create(path, []) as index:
        index.bulk_load([OLD])
    # The process was killed before the first old page was safe: nothing is overwritten yet.
    for content in (b"", b"\x05\0\0", os.urandom(8), os.urandom(5000)):
        journal.write_bytes(content)
        with IntervalIndex.open(path) as index:
            assert contents(index.search()) == contents(OLD)
        assert not journal.exists()


def test_one_writer_or_many_readers(tmp_path):
    path = tmp_path / "index"
    with IntervalIndex.create(path, []) as index:
        index.bulk_load([OLD])
    tuples = {"start": [1], "end": [2]}
    with IntervalIndex.open(path) as index, IntervalIndex.open(path) as other:
        with pytest.raises(StateError, match="in use elsewhere"):
            index.insert(tuples)
        with pytest.raises(StateError, match="in use"), IntervalIndex.create(path, []) as new:
            new.bulk_load([tuples])
        assert contents(other.search()) == contents(OLD)
    with IntervalIndex.open(path) as index:
        index.insert(tuples)
        assert index.tuples == len(OLD["start"]) + 1
