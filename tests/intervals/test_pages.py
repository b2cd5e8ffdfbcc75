"""Damage to the file is noticed and named."""

import errno
import json

import numpy as np
import pytest

from recollect.errors import StateError
from recollect.intervals.disk import IntervalIndex
from recollect.intervals.disk.page import PAGE_BYTES, new_page, seal
from recollect.intervals.disk.page_file import PageFile
from recollect.intervals.disk.store import FORMAT


@pytest.fixture
def path(tmp_path):
    start = np.random.default_rng(0).integers(0, 10**6, 20_000)
    IntervalIndex.create(tmp_path / "index", [], [np.array([start, start + 1000])], 5).close()
    return tmp_path / "index"


def sweep(path):
    with IntervalIndex.open(path, 20) as index:
        return sum(len(time) for time, _, _ in index.events())


@pytest.mark.compiled
def test_every_page_is_checked(path):
    sound = path.read_bytes()
    pages = len(sound) // PAGE_BYTES
    random = np.random.default_rng(1)
    assert sweep(path) == 40_000
    for page in range(pages):
        damaged = bytearray(sound)
        place = page * PAGE_BYTES + int(random.integers(PAGE_BYTES))
        damaged[place] ^= 1 << int(random.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(StateError, match=rf"index: (page {page} is damaged|this is not)"):
            sweep(path)


def test_a_page_in_a_wrong_place(path):
    content = path.read_bytes()
    path.write_bytes(content[: 3 * PAGE_BYTES] + content[: -3 * PAGE_BYTES])
    with pytest.raises(StateError, match=r"page \d+ is damaged"):
        sweep(path)


@pytest.mark.parametrize("missing", [1, PAGE_BYTES, 10 * PAGE_BYTES - 1])
def test_the_end_is_cut_off(path, missing):
    content = path.read_bytes()
    path.write_bytes(content[:-missing])
    first = (len(content) - missing) // PAGE_BYTES
    with pytest.raises(StateError, match=f"index: page {first} and those after it are cut off"):
        IntervalIndex.open(path)


def test_cut_off_while_it_is_open(path):
    with IntervalIndex.open(path, 3) as index:
        path.write_bytes(path.read_bytes()[: 20 * PAGE_BYTES])
        with pytest.raises(StateError, match=r"page \d+ is missing or cut off"):
            list(index.events())


def test_other_files(path):
    for content, message in [
        (b"", "page 0 is missing or cut off"),
        (b"start,end\n1,2\n" * 1000, "this is not an index of intervals"),
    ]:
        path.write_bytes(content)
        with pytest.raises(StateError, match=message):
            IntervalIndex.open(path)
    with pytest.raises(StateError, match="nowhere: there is no such index"):
        IntervalIndex.open(path.with_name("nowhere"))
    with pytest.raises(StateError, match="Is a directory"):
        IntervalIndex.open(path.parent)
    with pytest.raises(StateError, match="No such file or directory"):
        IntervalIndex.create(path.parent / "nowhere" / "index", [], [])


def test_another_format(path):
    words = new_page()
    first = path.read_bytes()[:PAGE_BYTES]
    old = json.dumps({"format": FORMAT})[:-1].encode()
    assert old in first
    changed = first.replace(old, old.replace(str(FORMAT).encode(), str(FORMAT + 1).encode()))
    words.view(np.uint8)[:] = np.frombuffer(changed, np.uint8)
    seal(words, 0)
    path.write_bytes(words.tobytes() + path.read_bytes()[PAGE_BYTES:])
    with pytest.raises(StateError, match="another version"):
        IntervalIndex.open(path)


class FullDisk:
    def __init__(self, answer):
        self.answer = answer

    def seek(self, place):
        pass

    def write(self, words):
        if isinstance(self.answer, OSError):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [(100, "no room for page 3"), (OSError(errno.ENOSPC, "No space left"), "No space left")],
)
def test_a_full_disk(path, monkeypatch, answer, message):
    file = PageFile(path, new=False)
    with monkeypatch.context() as context:
        context.setattr(file, "_file", FullDisk(answer))
        with pytest.raises(StateError, match=message):
            file.write(3, new_page())
    file.close()
