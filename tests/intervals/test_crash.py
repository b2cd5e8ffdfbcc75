"""Killed at any moment, a load or a change leaves the old index, the new one or a clear error."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from recollect.errors import StateError
from recollect.intervals.disk import IntervalIndex
from tests.intervals.crashing import OLD, contents, sorted_tuples

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
from recollect.intervals.disk import IntervalIndex
def batches():
    while True:
        print("batch", flush=True)
        yield np.array([np.arange(1000), np.arange(1, 1001)])
IntervalIndex.create(sys.argv[1], [], batches())
"""


@pytest.mark.parametrize("old", [False, True])
def test_killed_from_outside(tmp_path, old):
    path = tmp_path / "index"
    if old:
        IntervalIndex.create(path, [], [OLD]).close()
    child = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, path], env=environment(), stdout=subprocess.PIPE
    )
    for _ in range(20):
        assert child.stdout.readline() == b"batch\n"
    with pytest.raises(StateError, match="in use by another process"):
        IntervalIndex.create(path, [], [OLD])
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    if old:
        with IntervalIndex.open(path) as index:
            assert contents(index) == sorted_tuples(OLD)
    else:
        with pytest.raises(StateError, match="index: incomplete load"):
            IntervalIndex.open(path)
    IntervalIndex.create(path, [], [OLD]).close()
    assert [file.name for file in tmp_path.iterdir()] == ["index"]


def test_an_unfinished_file_is_recognised_by_its_mark(tmp_path):
    def batches():
        shutil.copy(tmp_path / "index.loading", tmp_path / "copy")
        yield OLD

    IntervalIndex.create(tmp_path / "index", [], batches()).close()
    with pytest.raises(StateError, match="copy: incomplete load"):
        IntervalIndex.open(tmp_path / "copy")


def test_an_error_in_a_load_leaves_the_old_index(tmp_path):
    path = tmp_path / "index"
    IntervalIndex.create(path, [], [OLD]).close()

    def batches():
        yield OLD
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        IntervalIndex.create(path, [], batches())
    with IntervalIndex.open(path) as index:
        assert contents(index) == sorted_tuples(OLD)
    assert [file.name for file in tmp_path.iterdir()] == ["index"]


def test_a_journal_that_was_cut_short(tmp_path):
    path, journal = tmp_path / "index", tmp_path / "index.journal"
    IntervalIndex.create(path, [], [OLD]).close()
    # The process was killed before the first old page was safe: nothing is overwritten yet.
    for content in (b"", b"\x05\0\0", os.urandom(8), os.urandom(5000)):
        journal.write_bytes(content)
        with IntervalIndex.open(path) as index:
            assert contents(index) == sorted_tuples(OLD)
        assert not journal.exists()


def test_one_writer_or_many_readers(tmp_path):
    path = tmp_path / "index"
    IntervalIndex.create(path, [], [OLD]).close()
    tuples = np.array([[1], [2]])
    with IntervalIndex.open(path) as index, IntervalIndex.open(path) as other:
        with pytest.raises(StateError, match="in use elsewhere"):
            index.insert(tuples)
        with pytest.raises(StateError, match="in use"):
            IntervalIndex.create(path, [], [tuples])
        assert contents(other) == sorted_tuples(OLD)
    with IntervalIndex.open(path) as index:
        index.insert(tuples)
        assert index.tuples == OLD.shape[1] + 1
