"""What pages held before they were changed: enough to undo a change that was cut short.

The journal lies beside its file. A page is overwritten only after its old content is safely in the
journal, and a change is complete at the moment the journal is deleted. Whoever opens the file and
finds a journal puts the old pages back; a record that did not reach the disk whole belongs to a
page that has not been overwritten.
"""

import os
import struct
import zlib
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import BinaryIO

import numpy as np

from recollect.intervals.page import PAGE_BYTES

_RECORD = struct.Struct("<II")
"""A number (of pages at the beginning, of a page before its content) and a checksum."""


class Journal:
    """The old pages of one change.

    Parameters
    ----------
    path
        The file that is changed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + ".journal")
        self._file: BinaryIO | None = None
        self._pages = 0
        self._kept: set[int] = set()

    def left_behind(self) -> bool:
        """Whether a change was cut short."""
        return self._path.exists()

    def begin(self, pages: int) -> None:
        """Begin a change of a file that has so many pages."""
        self._pages = pages
        self._file = open(self._path, "wb")  # noqa: SIM115
        self._file.write(_RECORD.pack(pages, zlib.crc32(struct.pack("<I", pages))))
        self._synced = False

    def keep(self, page: int, words: np.ndarray) -> None:
        """Keep what a page holds, unless it is new or has been kept already."""
        if self._file is not None and page < self._pages and page not in self._kept:
            self._kept.add(page)
            content = words.tobytes()
            self._file.write(_RECORD.pack(page, zlib.crc32(content)))
            self._file.write(content)
            self._synced = False

    def sync(self) -> None:
        """Wait until everything kept is on the disk."""
        if self._file is not None and not self._synced:
            self._file.flush()
            os.fsync(self._file.fileno())
            sync_folder(self._path)
            self._synced = True

    def end(self) -> None:
        """Declare the change complete."""
        if self._file is not None:
            self._file.close()
        self._path.unlink()

    def put_back(self, file: FileIO) -> None:
        """Undo the change."""
        if self._file is not None:
            self._file.close()
        with open(self._path, "rb") as journal:
            begin = journal.read(_RECORD.size)
            if len(begin) == _RECORD.size:
                pages, checksum = _RECORD.unpack(begin)
                if checksum == zlib.crc32(begin[:4]):
                    for page, content in _records(journal):
                        file.seek(page * PAGE_BYTES)
                        file.write(content)
                    file.truncate(pages * PAGE_BYTES)
                    os.fsync(file.fileno())
        self._path.unlink()


def sync_folder(path: Path) -> None:
    """Wait until it is on the disk that a file is in its folder, or no longer."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _records(journal: BinaryIO) -> Iterator[tuple[int, bytes]]:
    while len(begin := journal.read(_RECORD.size)) == _RECORD.size:
        page, checksum = _RECORD.unpack(begin)
        content = journal.read(PAGE_BYTES)
        if len(content) < PAGE_BYTES or zlib.crc32(content) != checksum:
            return
        yield page, content
