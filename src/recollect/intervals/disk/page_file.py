"""One file of pages, and changes that happen whole or not at all.

A new file is made beside its place (``….loading``) and moved there once it is complete, so a load
that is killed leaves what was there before. Later changes go through a :class:`Journal`. One
process may change a file, or many may read it: a lock belongs to the open file and goes with the
process that held it, however that ended.
"""

import fcntl
import os
import struct
import zlib
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import BinaryIO

import numpy as np

from recollect.errors import StateError
from recollect.intervals.disk.page import PAGE_BYTES, is_sound, seal

_RECORD = struct.Struct("<II")
"""A number (of pages at the beginning, of a page before its content) and a checksum."""


class PageFile:
    """Pages by number.

    Of a new one, what is at its path stays there until :meth:`commit`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from recollect.intervals.disk.page import new_page
    >>> folder = TemporaryDirectory()
    >>> path = Path(folder.name) / "pages"
    >>> file = PageFile(path, new=True)
    >>> words = new_page()
    >>> words[-1] = 42
    >>> file.write(0, words)
    >>> path.exists()
    False
    >>> file.commit()
    >>> file.read(0, words)
    >>> int(words[-1]), path.stat().st_size
    (42, 4096)
    >>> file.close()
    """

    def __init__(self, path: Path, new: bool) -> None:
        self.path = path
        self.is_new = new
        """Whether the file has not taken its place yet."""
        self._loading = path.with_name(path.name + ".loading")
        self._journal_path = path.with_name(path.name + ".journal")
        self._journal: Journal | None = None
        self._file = self._create() if new else self._open()

    def _create(self) -> FileIO:
        try:
            file = FileIO(os.open(self._loading, os.O_RDWR | os.O_CREAT, 0o666), "r+")
        except OSError as error:
            raise StateError(f"{self._loading}: {error.strerror}") from None
        self._require_lock(file, exclusive=True)
        # Emptied only now: another process may have been working on it.
        file.truncate(0)
        return file

    def _open(self) -> FileIO:
        try:
            file = FileIO(self.path, "r+")
        except FileNotFoundError:
            if self._loading.exists():
                raise StateError(
                    f"{self.path}: incomplete load, it was cut short or still goes on; load again"
                ) from None
            raise StateError(f"{self.path}: there is no such index") from None
        except OSError as error:
            raise StateError(f"{self.path}: {error.strerror}") from None
        # With a shared lock, nobody else is in the middle of a change.
        self._require_lock(file, exclusive=False)
        if self._journal_path.exists():
            self._require_lock(file, exclusive=True)
            _put_back(self._journal_path, file)
            self._require_lock(file, exclusive=False)
        return file

    def _require_lock(self, file: FileIO, exclusive: bool) -> None:
        if not _lock(file, exclusive):
            file.close()
            raise StateError(f"{self.path}: in use by another process; try again later")

    @property
    def size(self) -> int:
        """How many whole pages the file has."""
        return os.fstat(self._file.fileno()).st_size // PAGE_BYTES

    def read(self, page: int, words: np.ndarray, check: bool = True) -> None:
        """Read a page into an array of words; a damaged one is an error unless it is unchecked."""
        self._file.seek(page * PAGE_BYTES)
        if (self._file.readinto(words.data) or 0) < PAGE_BYTES:
            raise StateError(f"{self.path}: page {page} is missing or cut off; load again")
        if check and not is_sound(words, page):
            raise StateError(f"{self.path}: page {page} is damaged; load again")

    def write(self, page: int, words: np.ndarray) -> None:
        """Write a page from an array of words."""
        if self._journal is not None:
            self._journal.sync()
        seal(words, page)
        self._file.seek(page * PAGE_BYTES)
        try:
            written = self._file.write(words.data)
        except OSError as error:
            raise StateError(f"{self.path}: {error.strerror}") from None
        if written != PAGE_BYTES:
            raise StateError(f"{self.path}: no room for page {page}; make room on the disk")

    def begin(self) -> None:
        """Begin a change that :meth:`commit` completes and :meth:`roll_back` undoes."""
        if not self.is_new and self._journal is None:
            if not _lock(self._file, exclusive=True):
                _lock(self._file, exclusive=False)
                raise StateError(f"{self.path}: in use elsewhere; close it there to change it")
            self._journal = Journal(self._journal_path, self.size)

    def keep(self, page: int, words: np.ndarray) -> None:
        """Note what a page holds before it is changed."""
        if self._journal is not None:
            self._journal.keep(page, words)

    def commit(self) -> None:
        """Complete the change: from now on, everything written so far is there to stay."""
        os.fsync(self._file.fileno())
        if self.is_new:
            self._take_place()
        elif self._journal is not None:
            self._journal.end()
            self._journal = None
        _sync_folder(self.path)
        _lock(self._file, exclusive=False)

    def _take_place(self) -> None:
        # Nobody may be in the middle of changing the old file: its journal would be taken for ours.
        old = PageFile(self.path, new=False) if self.path.exists() else None
        try:
            if old is not None:
                old._require_lock(old._file, exclusive=True)
            os.replace(self._loading, self.path)
            self.is_new = False
        finally:
            if old is not None:
                old.close()

    def roll_back(self) -> None:
        """Undo what was written since :meth:`begin`."""
        if self._journal is not None:
            self._journal.close()
            _put_back(self._journal_path, self._file)
            self._journal = None
            _lock(self._file, exclusive=False)

    def close(self) -> None:
        """Close the file; a change or a new file that is not complete is undone."""
        if self._file.closed:
            return
        self.roll_back()
        if self.is_new:
            self._loading.unlink()
        self._file.close()


class Journal:
    """What pages held before they were changed: enough to undo a change that was cut short.

    The journal lies beside its file, which has so many pages when the change begins. A page is
    overwritten only after its old content is safely in the journal, and a change is complete at the
    moment the journal is deleted. Whoever opens the file and finds a journal puts the old pages
    back; a record that did not reach the disk whole belongs to a page that was not overwritten.
    """

    def __init__(self, path: Path, pages: int) -> None:
        self._path = path
        self._pages = pages
        self._kept: set[int] = set()
        self._file = open(path, "wb")  # noqa: SIM115
        self._file.write(_RECORD.pack(pages, zlib.crc32(struct.pack("<I", pages))))
        self._synced = False

    def keep(self, page: int, words: np.ndarray) -> None:
        """Keep what a page holds, unless it is new or has been kept already."""
        if page < self._pages and page not in self._kept:
            self._kept.add(page)
            content = words.tobytes()
            self._file.write(_RECORD.pack(page, zlib.crc32(content)))
            self._file.write(content)
            self._synced = False

    def sync(self) -> None:
        """Wait until everything kept is on the disk."""
        if not self._synced:
            self._file.flush()
            os.fsync(self._file.fileno())
            _sync_folder(self._path)
            self._synced = True

    def end(self) -> None:
        """Declare the change complete."""
        self.close()
        self._path.unlink()

    def close(self) -> None:
        """Close the journal without deleting it."""
        self._file.close()


def _put_back(path: Path, file: FileIO) -> None:
    """Undo the change whose journal is at a path."""
    with open(path, "rb") as journal:
        begin = journal.read(_RECORD.size)
        if len(begin) == _RECORD.size:
            pages, checksum = _RECORD.unpack(begin)
            if checksum == zlib.crc32(begin[:4]):
                for page, content in _records(journal):
                    file.seek(page * PAGE_BYTES)
                    file.write(content)
                file.truncate(pages * PAGE_BYTES)
                os.fsync(file.fileno())
    path.unlink()


def _records(journal: BinaryIO) -> Iterator[tuple[int, bytes]]:
    while len(begin := journal.read(_RECORD.size)) == _RECORD.size:
        page, checksum = _RECORD.unpack(begin)
        content = journal.read(PAGE_BYTES)
        if len(content) < PAGE_BYTES or zlib.crc32(content) != checksum:
            return
        yield page, content


def _sync_folder(path: Path) -> None:
    """Wait until it is on the disk that a file is in its folder, or no longer."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _lock(file: FileIO, exclusive: bool) -> bool:
    """Lock a file, or change the kind of its lock; if that is impossible now, it has no lock."""
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
