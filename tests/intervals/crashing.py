"""Kills a process at every so many-th write to an index and looks at what is left.

    python crashing.py FOLDER load|change

Prints, for each write at which a process was killed, whether the index is then the old one, the new
one, or cannot be used because its load is incomplete. Anything else is an error.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

import numpy as np

from recollect.errors import StateError
from recollect.intervals.disk import IntervalIndex, page_file

POOL = 3


def relation(seed, tuples):
    start = np.random.default_rng(seed).integers(0, 10**6, tuples)
    return np.array([start, start + 1 + start % 997])


OLD, MORE, NEW = relation(1, 1500), relation(2, 1000), relation(3, 3000)


def load(path):
    IntervalIndex.create(path, [], (NEW[:, half::2] for half in range(2)), POOL).close()


def change(path):
    with IntervalIndex.open(path, POOL) as index:
        index.update(OLD[:, :700], MORE)


def after(work):
    """What an index holds after the work."""
    return sorted_tuples(NEW if work is load else np.concatenate([OLD[:, 700:], MORE], axis=1))


def sorted_tuples(rows):
    return sorted(rows.T.tolist())


def contents(index):
    """The tuples of an index, each of which must start and end."""
    started, ended = [], []
    for _, signs, rows in index.events():
        started += rows[:, signs > 0].T.tolist()
        ended += rows[:, signs < 0].T.tolist()
    assert sorted(started) == sorted(ended)
    return sorted(started)


def state(path, work):
    """What a killed process left. Unless it had finished, the work is then done again."""
    try:
        with IntervalIndex.open(path, POOL) as index:
            found = contents(index)
    except StateError as error:
        if "incomplete load" not in str(error):
            raise
        work(path)
        return "incomplete"
    if found == sorted_tuples(OLD):
        work(path)
        return "old"
    assert found == after(work), "wrong answers"
    return "new"


def killed(path, work, at):
    """Do the work in a process that is killed at a write; whether it came so far."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == signal.SIGKILL
    left = at

    def counting(function):
        def call(*arguments):
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return function(*arguments)

        return call

    page_file.PageFile.write = counting(page_file.PageFile.write)
    page_file.Journal.keep = counting(page_file.Journal.keep)
    page_file.Journal.end = counting(page_file.Journal.end)
    page_file.os.fsync = counting(os.fsync)
    page_file.os.replace = counting(os.replace)
    work(path)
    os._exit(0)


def main():
    folder, work = Path(sys.argv[1]), {"load": load, "change": change}[sys.argv[2]]
    original = folder / "original"
    IntervalIndex.create(original, [], [OLD], POOL).close()
    states, at, step = [], 0, 1
    while True:
        place = folder / f"{at}"
        place.mkdir()
        # The first load of all has nothing to fall back on.
        if work is change or at % 2:
            shutil.copy(original, place / "index")
        if not killed(place / "index", work, at):
            break
        states.append(state(place / "index", work))
        with IntervalIndex.open(place / "index") as index:
            assert contents(index) == after(work), "no way out"
        at, step = at + step, step + at // 20
    print(*states)


if __name__ == "__main__":
    main()
