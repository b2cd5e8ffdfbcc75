"""Memory that outlives a task: a shard's rows and arrays, ready for the next micro-batch.

Spark runs each micro-batch of a shard in whichever Python worker is free, so nothing in a process
can be relied on. Files in memory (``/dev/shm``) can be mapped by any of them at no cost. Whether
such a file is *current* only the state store can say: each use gives the memory a new random name,
its token, before anything is changed, and the token is saved with the state. If a task fails, the
state still holds the old token, under which there is no memory any more, and the shard is rebuilt
from the state store.
"""

import itertools
import logging
import mmap
import os
import shutil
import subprocess
import tempfile
import time
import uuid
from functools import cache
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa

from recollect.spark.keeping.packed import Layout, layout_of, sizes_of, views

log = logging.getLogger(__name__)

ALIGNMENT = 64
STALE_SECONDS = 3600
"""The memory of a shard that has not been used for so long is freed."""
ARRAYS = "arrays"


class SharedMemory:
    """A folder of files in memory that belongs to one shard of a query while a task runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def fresh(cls, query: str, shard: int) -> "SharedMemory | None":
        """Make new memory for a shard; None if there is no room for it."""
        try:
            _free_stale(_owned())
            folder = _owned() / query / str(shard) / uuid.uuid4().hex
            folder.mkdir(parents=True)
        except OSError as error:
            log.warning("no shared memory: %s; this shard will be read from its state", error)
            return None
        return cls(folder)

    @classmethod
    def claim(cls, query: str, shard: int, token: str) -> "SharedMemory | None":
        """Take over the memory that has a token, under a new one; None if it is not here."""
        try:
            shards = _owned() / query / str(shard)
            folder = shards / uuid.uuid4().hex
            os.rename(shards / token, folder)
        except OSError:
            return None
        return cls(folder)

    @property
    def token(self) -> str:
        """The name under which the next task may claim this memory."""
        return self._folder.name

    def free(self) -> None:
        """Free the memory."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def free_others(self) -> None:
        """Free what earlier tasks for this shard have left behind."""
        for other in self._folder.parent.glob("*"):
            if other != self._folder:
                shutil.rmtree(other, ignore_errors=True)

    def write_arrays(self, arrays: dict[str, np.ndarray]) -> Layout:
        """Copy arrays into memory."""
        layout = layout_of(arrays)
        mapped = self._new(ARRAYS, sum(_steps(layout)))
        for name, target in _views(mapped, layout).items():
            target[...] = arrays[name]
        return layout

    def arrays(self, layout: Layout) -> dict[str, np.ndarray] | None:
        """The arrays that :meth:`write_arrays` wrote, to be changed in place; None if cut."""
        mapped = self._existing(ARRAYS, sum(_steps(layout)))
        return None if mapped is None else _views(mapped, layout)

    def write(self, name: str, data: pa.Buffer) -> None:
        """Copy bytes into memory."""
        self._new(name, data.size)[:] = memoryview(data)

    def read(self, name: str, size: int) -> pa.Buffer | None:
        """The bytes of a name, not copied; None if they are not whole."""
        mapped = self._existing(name, size)
        return None if mapped is None else pa.py_buffer(mapped)

    def drop(self, name: str) -> None:
        """Free the bytes of a name."""
        (self._folder / name).unlink(missing_ok=True)

    def _new(self, name: str, size: int) -> mmap.mmap:
        # A new file: arrays mapped from the old one may be what is going to be written.
        self.drop(name)
        with open(self._folder / name, "x+b", opener=_private) as file:
            # Where memory is short this fails here, and not when it is used.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                os.truncate(file.fileno(), size)
            return mmap.mmap(file.fileno(), size)

    def _existing(self, name: str, size: int) -> mmap.mmap | None:
        try:
            with open(self._folder / name, "r+b") as file:
                whole = os.fstat(file.fileno()).st_size == size
                return mmap.mmap(file.fileno(), size) if whole else None
        except FileNotFoundError:
            return None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)


def _steps(layout: Layout) -> list[int]:
    """From the beginning of each array to that of the next."""
    return [-(-size // ALIGNMENT) * ALIGNMENT for size in sizes_of(layout)]


def _views(mapped: mmap.mmap, layout: Layout) -> dict[str, np.ndarray]:
    starts = itertools.accumulate(_steps(layout), initial=0)
    parts = (
        np.frombuffer(mapped, np.uint8, size, start)
        for size, start in zip(sizes_of(layout), starts, strict=False)
    )
    return views(parts, layout)


# -- whose memory it is, and when it is freed ------------------------------------------------------


def root() -> Path:
    """Where files in memory are; files on disk where the system has no such place."""
    shared = Path("/dev/shm")
    usable = shared.is_dir() and os.access(shared, os.W_OK)
    return (shared if usable else Path(tempfile.gettempdir())) / f"recollect-{os.getuid()}"


@cache
def _owned() -> Path:
    """The folder for all workers of this executor. It disappears soon after the executor."""
    owner = _executor()
    folder = root() / f"{owner.pid}-{int(owner.create_time())}"
    # Other users of the machine must neither read what is there nor have put it there.
    root().mkdir(mode=0o700, exist_ok=True)
    if root().lstat().st_uid != os.getuid():
        raise PermissionError(f"{root()} belongs to another user")
    _free_what_ended_executors_left()
    try:
        folder.mkdir()
    except FileExistsError:
        return folder
    wait = 'while kill -0 "$1" 2>/dev/null; do sleep 1; done; rm -rf "$2"'
    subprocess.Popen(
        ["/bin/sh", "-c", wait, "recollect-janitor", str(owner.pid), str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return folder


def _executor() -> psutil.Process:
    """The Java process that this Python worker belongs to, or else this process."""
    process = psutil.Process()
    return next((parent for parent in process.parents() if "java" in parent.name()), process)


def _free_what_ended_executors_left() -> None:
    """Free what executors that have ended left behind."""
    for folder in root().iterdir():
        pid, _, started = folder.name.partition("-")
        try:
            alive = int(psutil.Process(int(pid)).create_time()) == int(started)
        except (psutil.Error, ValueError):
            alive = False
        if not alive:
            shutil.rmtree(folder, ignore_errors=True)


def _free_stale(owned: Path) -> None:
    """Free the memory of queries that have stopped while their executor goes on."""
    for shard in owned.glob("*/*"):
        if time.time() - shard.stat().st_mtime > STALE_SECONDS:
            shutil.rmtree(shard, ignore_errors=True)
