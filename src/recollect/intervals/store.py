"""Pages that can be taken and given back, changed all together or not at all.

>>> from tempfile import TemporaryDirectory
>>> folder = TemporaryDirectory()
>>> store = Store.create(Path(folder.name) / "pages", (), 4)
>>> first, second = store.take(), store.take()
>>> store.give_back(first)
>>> store.take() == first, store.header.pages
(True, 3)
>>> store.commit()
>>> with store.all_or_nothing():
...     store.give_back(second)
...     raise KeyError("something is wrong")
Traceback (most recent call last):
KeyError: 'something is wrong'
>>> store.header.free
0
>>> store.close()
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from recollect.errors import StateError
from recollect.intervals.header import HEADER_PAGE, Header, read_header, write_header
from recollect.intervals.layout import Column
from recollect.intervals.page import NO_PAGE, Kind, head, new_page, set_head
from recollect.intervals.pages import PageFile
from recollect.intervals.pool import BufferPool
from recollect.intervals.replacement import replacement_named


class Store:
    """A file of pages, its header and the pool through which it is read.

    Made by :meth:`create` or :meth:`open`.
    """

    def __init__(self, file: PageFile, header: Header, frames: int, replacement: str) -> None:
        self.file = file
        self.header = header
        self.pool = BufferPool(file, frames, replacement_named(replacement, frames))

    @classmethod
    def create(
        cls, path: Path, columns: tuple[Column, ...], frames: int, replacement: str = "order"
    ) -> "Store":
        """Begin a new file, which takes its place at the first :meth:`commit`."""
        file = PageFile(path, new=True)
        try:
            store = cls(file, Header(columns), frames, replacement)
            store._write_header()
        except BaseException:
            file.close()
            raise
        return store

    @classmethod
    def open(cls, path: Path, frames: int, replacement: str = "order") -> "Store":
        """Open a file that is complete."""
        file = PageFile(path, new=False)
        try:
            words = new_page()
            file.read_unchecked(HEADER_PAGE, words)
            header = read_header(words, path)
            if file.size < header.pages:
                raise StateError(
                    f"{path}: page {file.size} and those after it are cut off, of {header.pages}"
                    " pages; load again"
                )
            return cls(file, header, frames, replacement)
        except BaseException:
            file.close()
            raise

    def take(self) -> int:
        """Take a page that is not in use; its content is whatever it was."""
        page = self.header.free
        if page == NO_PAGE:
            page = self.header.pages
            self.header = replace(self.header, pages=page + 1)
            self.pool.add(page)
        else:
            self.header = replace(self.header, free=head(self.pool.get(page))[1])
        return page

    def give_back(self, page: int) -> None:
        """Give back a page that is no longer in use."""
        set_head(self.pool.change(page), Kind.FREE, 0, self.header.free)
        self.header = replace(self.header, free=page)

    def append(self, words: np.ndarray) -> int:
        """Write a page to the end of the file, past the pool, and give its number."""
        page = self.header.pages
        self.header = replace(self.header, pages=page + 1)
        self.file.write(page, words)
        return page

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Change pages; after an error everything is as it was.

        A file that has not taken its place yet is closed by an error, for it never was anything.
        """
        before, words = self.header, new_page()
        self.file.begin()
        self.file.read(HEADER_PAGE, words)
        self.file.keep(HEADER_PAGE, words)
        try:
            yield
            self.commit()
        except BaseException:
            self.pool.clear()
            self.header = before
            if self.file.is_new:
                self.close()
            else:
                self.file.roll_back()
            raise

    def commit(self) -> None:
        """Make all changes last."""
        self.header = replace(self.header, complete=True)
        self.pool.flush()
        self._write_header()
        self.file.commit()

    def _write_header(self) -> None:
        words = new_page()
        write_header(words, self.header)
        self.file.write(HEADER_PAGE, words)

    def close(self) -> None:
        """Let go of the file; what was not committed is undone."""
        self.file.close()
