"""One file of pages, and changes that happen whole or not at all.

A new file is made beside its place (``….loading``) and moved there once it is complete, so a load
that is killed leaves what was there before. Later changes go through a
:class:`~recollect.intervals.journal.Journal`.
"""

import os
from io import FileIO
from pathlib import Path

import numpy as np

from recollect.errors import StateError
from recollect.intervals.file_lock import lock
from recollect.intervals.journal import Journal, sync_folder
from recollect.intervals.page import PAGE_BYTES, is_sound, seal


def loading_path(path: Path) -> Path:
    """Where a file is made before it is complete."""
    return path.with_name(path.name + ".loading")


class PageFile:
    """Pages by number.

    Parameters
    ----------
    path
        Where the file is, or will be once it is complete.
    new
        Whether to make a new one. What is at ``path`` stays there until :meth:`commit`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from recollect.intervals.page import new_page
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
        self._new = new
        self._journal: Journal | None = None
        self._file = self._made() if new else self._found()

    def _made(self) -> FileIO:
        beside = loading_path(self.path)
        try:
            file = FileIO(os.open(beside, os.O_RDWR | os.O_CREAT, 0o666), "r+")
        except OSError as error:
            raise StateError(f"{beside}: {error.strerror}") from None
        self._lock(file, exclusive=True)
        # Emptied only now: it may have been the work of another process.
        file.truncate(0)
        return file

    def _found(self) -> FileIO:
        try:
            file = FileIO(self.path, "r+")
        except FileNotFoundError:
            if loading_path(self.path).exists():
                raise StateError(
                    f"{self.path}: incomplete load, it was cut short or still goes on; load again"
                ) from None
            raise StateError(f"{self.path}: there is no such index") from None
        except OSError as error:
            raise StateError(f"{self.path}: {error.strerror}") from None
        # With a shared lock, nobody else is in the middle of a change.
        self._lock(file, exclusive=False)
        journal = Journal(self.path)
        if journal.left_behind():
            self._lock(file, exclusive=True)
            journal.put_back(file)
            self._lock(file, exclusive=False)
        return file

    def _lock(self, file: FileIO, exclusive: bool) -> None:
        if not lock(file, exclusive):
            file.close()
            raise StateError(f"{self.path}: in use by another process; try again later")

    @property
    def size(self) -> int:
        """How many whole pages the file has."""
        return os.fstat(self._file.fileno()).st_size // PAGE_BYTES

    @property
    def is_new(self) -> bool:
        """Whether the file has not taken its place yet."""
        return self._new

    @property
    def closed(self) -> bool:
        """Whether the file has been let go of."""
        return self._file.closed

    def read_unchecked(self, page: int, words: np.ndarray) -> None:
        """Read a page into an array of words, damaged or not."""
        self._file.seek(page * PAGE_BYTES)
        if (self._file.readinto(words.data) or 0) < PAGE_BYTES:
            raise StateError(f"{self.path}: page {page} is missing or cut off; load again")

    def read(self, page: int, words: np.ndarray) -> None:
        """Read a page into an array of words."""
        self.read_unchecked(page, words)
        if not is_sound(words, page):
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
        if not self._new and self._journal is None:
            if not lock(self._file, exclusive=True):
                lock(self._file, exclusive=False)
                raise StateError(f"{self.path}: in use elsewhere; close it there to change it")
            self._journal = Journal(self.path)
            self._journal.begin(self.size)

    def keep(self, page: int, words: np.ndarray) -> None:
        """Note what a page holds before it is changed."""
        if self._journal is not None:
            self._journal.keep(page, words)

    def commit(self) -> None:
        """Make everything written so far last, whatever happens from now on."""
        os.fsync(self._file.fileno())
        if self._new:
            self._take_place()
        elif self._journal is not None:
            self._journal.end()
            self._journal = None
        sync_folder(self.path)
        lock(self._file, exclusive=False)

    def _take_place(self) -> None:
        # Nobody may be in the middle of changing the old file: its journal would be taken for ours.
        old = PageFile(self.path, new=False) if self.path.exists() else None
        try:
            if old is not None:
                old._lock(old._file, exclusive=True)
            os.replace(loading_path(self.path), self.path)
            self._new = False
        finally:
            if old is not None:
                old.close()

    def roll_back(self) -> None:
        """Undo what was written since :meth:`begin`."""
        if self._journal is not None:
            self._journal.put_back(self._file)
            self._journal = None
            lock(self._file, exclusive=False)

    def close(self) -> None:
        """Let go of the file; a change or a new file that is not complete is undone."""
        if self._file.closed:
            return
        self.roll_back()
        if self._new:
            loading_path(self.path).unlink()
        self._file.close()
