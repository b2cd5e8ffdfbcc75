"""A buffer pool: the only memory in which pages of the file are ever held.

>>> from tempfile import TemporaryDirectory
>>> from pathlib import Path
>>> folder = TemporaryDirectory()
>>> file = PageFile(Path(folder.name) / "pages", new=True)
>>> pool = BufferPool(file, 2, "lru")
>>> for page in range(3):
...     pool.add(page)[-1] = page
>>> [int(pool.get(page)[-1]) for page in (2, 1, 0, 1)]
[2, 1, 0, 1]
>>> pool.reads, pool.hits
(1, 3)
>>> file.close()
"""

import numpy as np

from recollect.errors import BudgetError
from recollect.intervals.disk.page import PAGE_WORDS
from recollect.intervals.disk.page_file import PageFile
from recollect.intervals.disk.replacement import REPLACEMENTS, Extent, require_replacement


class BufferPool:
    """Some pages of a file, in frames.

    What :meth:`get`, :meth:`change` and :meth:`add` return is valid until the next call of any of
    them: the frame may then hold another page.

    ``replacement``, ``order`` or ``lru``, says which page leaves when all frames are taken.
    """

    def __init__(self, file: PageFile, frames: int, replacement: str) -> None:
        if frames < 1:
            raise BudgetError(f"a buffer of {frames} pages; it needs at least 1")
        require_replacement(replacement)
        self.reads = 0
        self.hits = 0
        self._file = file
        self.replacement = REPLACEMENTS[replacement](frames)
        self._words = np.empty((frames, PAGE_WORDS), np.int64)
        self._frame_of: dict[int, int] = {}
        self._page_in = [0] * frames
        self._empty = list(range(frames - 1, -1, -1))
        self._changed: set[int] = set()
        """Pages whose frames differ from the file."""

    def get(self, page: int, extent: Extent | None = None) -> np.ndarray:
        """The words of a page, to be read; ``extent`` is when a sweep will need it again."""
        frame = self._frame_of.get(page)
        if frame is None:
            frame = self._room()
            try:
                self._file.read(page, self._words[frame])
            except BaseException:
                self._empty.append(frame)
                raise
            self.reads += 1
            self._put(page, frame)
        else:
            self.hits += 1
        self.replacement.touch(frame, extent)
        return self._words[frame]

    def change(self, page: int) -> np.ndarray:
        """The words of a page, to be changed."""
        words = self.get(page)
        if page not in self._changed:
            self._file.keep(page, words)
            self._changed.add(page)
        return words

    def add(self, page: int) -> np.ndarray:
        """The words of a page that is not in the file yet, all zero."""
        frame = self._room()
        self._put(page, frame)
        self.replacement.touch(frame, None)
        self._changed.add(page)
        self._words[frame] = 0
        return self._words[frame]

    def flush(self) -> None:
        """Write all changed pages to the file."""
        for page in sorted(self._changed):
            self._file.write(page, self._words[self._frame_of[page]])
        self._changed.clear()

    def clear(self) -> None:
        """Forget all pages, changed or not."""
        self._changed.clear()
        for frame in self._frame_of.values():
            self.replacement.forget(frame)
            self._empty.append(frame)
        self._frame_of.clear()

    def _put(self, page: int, frame: int) -> None:
        self._frame_of[page] = frame
        self._page_in[frame] = page

    def _room(self) -> int:
        if self._empty:
            return self._empty.pop()
        frame = self.replacement.victim()
        page = self._page_in[frame]
        if page in self._changed:
            # All at once: the journal then waits for the disk once and not once per page.
            self.flush()
        del self._frame_of[page]
        self.replacement.forget(frame)
        return frame
