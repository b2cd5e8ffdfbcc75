"""Pages that can be taken and given back, changed all together or not at all.

The first page of the file is its header: what the file is, whether its load is complete, and where
things begin.

>>> from tempfile import TemporaryDirectory
>>> folder = TemporaryDirectory()
>>> store = Store(Path(folder.name) / "pages", 4, new=Layout())
>>> first, second = store.take(), store.take()
>>> store.give_back([first])
>>> store.take() == first, store.header.pages
(True, 3)
>>> store.commit()
>>> with store.all_or_nothing():
...     store.give_back([second])
...     raise KeyError("something is wrong")
Traceback (most recent call last):
KeyError: 'something is wrong'
>>> store.header.free
0
>>> store.close()
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from recollect.errors import StateError
from recollect.intervals.disk.layout import Layout
from recollect.intervals.disk.page import (
    BODY,
    NO_PAGE,
    Kind,
    head,
    is_sound,
    new_page,
    set_head,
)
from recollect.intervals.disk.page_file import PageFile
from recollect.intervals.disk.pool import BufferPool

HEADER_PAGE = 0
FORMAT = 2
_TITLE = b"recollect intervals\0"


@dataclass(frozen=True)
class Root:
    """Where a tree of pages begins; a tree of height 0 is one page without a directory."""

    page: int = NO_PAGE
    height: int = 0


@dataclass(frozen=True)
class Header:
    """What the first page says."""

    layout: Layout
    complete: bool = False
    """Whether the load was finished."""
    pages: int = 1
    free: int = NO_PAGE
    """The first of the pages that are not in use; each is continued by the next."""
    tuples: int = 0
    grid: Root = Root()
    times: Root = Root()

    def write(self, words: np.ndarray) -> None:
        """Write the header to its page."""
        text = json.dumps({"format": FORMAT, **asdict(self)}).encode()
        set_head(words, Kind.HEADER, 0)
        body = words[BODY:].view(np.uint8)
        body[:] = 0
        body[: len(_TITLE) + len(text)] = np.frombuffer(_TITLE + text, np.uint8)

    @classmethod
    def read(cls, words: np.ndarray, path: Path) -> "Header":
        """Read the header from its unchecked page, or say why this index cannot be used."""
        body = words[BODY:].view(np.uint8).tobytes()
        if not body.startswith(_TITLE):
            raise StateError(f"{path}: this is not an index of intervals")
        if not is_sound(words, HEADER_PAGE):
            raise StateError(f"{path}: page {HEADER_PAGE} is damaged; load again")
        fields = json.loads(body[len(_TITLE) :].rstrip(b"\0"))
        if fields.pop("format") != FORMAT:
            raise StateError(f"{path}: made by another version of recollect; load again")
        layout = Layout(tuple(fields.pop("layout")["indexed"]))
        fields |= {tree: Root(**fields[tree]) for tree in ("grid", "times")}
        header = cls(layout, **fields)
        if not header.complete:
            raise StateError(f"{path}: incomplete load, it was cut short; load again")
        return header


class Store:
    """A file of pages, its header and the pool through which it is read.

    ``new`` is the layout of a new file, which takes its place at the first :meth:`commit`; None to
    open one that is complete. Frames and replacement are those of the pool.
    """

    def __init__(
        self, path: Path, frames: int, replacement: str = "order", new: Layout | None = None
    ) -> None:
        self.file = PageFile(path, new is not None)
        try:
            self.pool = BufferPool(self.file, frames, replacement)
            if new is None:
                self.header = self._read_header()
            else:
                self.header = Header(new)
                self._write_header()
        except BaseException:
            self.file.close()
            raise

    def take(self, spare: list[int] | None = None) -> int:
        """Take a spare page or one that is not in use; its content is whatever it was."""
        if spare:
            return spare.pop(0)
        page = self.header.free
        if page == NO_PAGE:
            page = self.header.pages
            self.header = replace(self.header, pages=page + 1)
            self.pool.add(page)
        else:
            self.header = replace(self.header, free=head(self.pool.get(page))[1])
        return page

    def give_back(self, pages: Iterable[int]) -> None:
        """Give back pages that are no longer in use."""
        for page in pages:
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

        A file that has not taken its place yet is closed by an error: nothing was there before.
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

    def _read_header(self) -> Header:
        words = new_page()
        self.file.read(HEADER_PAGE, words, check=False)
        header = Header.read(words, self.file.path)
        if self.file.size < header.pages:
            raise StateError(
                f"{self.file.path}: page {self.file.size} and those after it are cut off, of"
                f" {header.pages} pages; load again"
            )
        return header

    def _write_header(self) -> None:
        words = new_page()
        self.header.write(words)
        self.file.write(HEADER_PAGE, words)

    def close(self) -> None:
        """Close the file; what was not committed is undone."""
        self.file.close()
