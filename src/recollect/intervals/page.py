"""What is on a page of 4 KiB: a head of 16 bytes with a checksum, then 64-bit words.

The head holds the checksum, the number of the page (so that a page at the wrong place is noticed),
the number of the page that continues it, how many things it holds, of what kind, and a detail that
only that kind of page understands.

>>> words = new_page()
>>> set_head(words, Kind.TUPLES, count=3, following=9)
>>> head(words), [int(part) for part in head_of(words)]
((3, 9, 0), [3, 9])
>>> table(words, width=2)[:, 0] = 5, 7
>>> seal(words, 12)
>>> is_sound(words, 12), is_sound(words, 13)
(True, False)
"""

import struct
import zlib
from enum import IntEnum

import numpy as np

from recollect.compiled import inlined

PAGE_BYTES = 4096
PAGE_WORDS = PAGE_BYTES // 8
_HEAD = struct.Struct("<IIIHBB")
_SEAL = struct.Struct("<II")
_CHECKSUM_BYTES = 4
BODY = _HEAD.size // 8
"""The first word that is not of the head."""
NO_PAGE = 0
"""Page 0 is the header of the file, so no page can be continued by it."""


class Kind(IntEnum):
    """What is on a page."""

    HEADER = 1
    FREE = 2
    TUPLES = 3
    DIRECTORY = 4
    TIMES = 5
    TIME_DIRECTORY = 6


def new_page() -> np.ndarray:
    """An empty page."""
    return np.zeros(PAGE_WORDS, np.int64)


def set_head(
    words: np.ndarray, kind: Kind, count: int, following: int = NO_PAGE, detail: int = 0
) -> None:
    """Write the head, but for what :func:`seal` puts in."""
    _HEAD.pack_into(words.data, 0, 0, 0, following, count, kind, detail)


def head(words: np.ndarray) -> tuple[int, int, int]:
    """Read how many things a page holds, which page continues it, and the detail."""
    _, _, following, count, _, detail = _HEAD.unpack_from(words.data)
    return count, following, detail


@inlined
def head_of(words: np.ndarray) -> tuple[int, int]:
    """Read how many things a page holds and which page continues it, in compiled code."""
    return (words[1] >> 32) & 0xFFFF, words[1] & 0xFFFF_FFFF


def capacity(width: int) -> int:
    """How many things of some words each fit on a page."""
    return (PAGE_WORDS - BODY) // width


def table(words: np.ndarray, width: int) -> np.ndarray:
    """The body of a page as a matrix with a row per word of a thing and a column per thing."""
    room = capacity(width)
    return words[BODY : BODY + width * room].reshape(width, room)


def fill(words: np.ndarray, kind: Kind, things: np.ndarray, following: int = NO_PAGE) -> None:
    """Write a page that holds the columns of a matrix."""
    set_head(words, kind, things.shape[1], following)
    table(words, len(things))[:, : things.shape[1]] = things


def content(words: np.ndarray, width: int) -> np.ndarray:
    """A copy of the matrix that a page holds."""
    return table(words, width)[:, : head(words)[0]].copy()


def _checksum(words: np.ndarray) -> int:
    return zlib.crc32(words.view(np.uint8)[_CHECKSUM_BYTES:].data)


def seal(words: np.ndarray, page: int) -> None:
    """Put in the number of a page and its checksum."""
    _SEAL.pack_into(words.data, 0, 0, page)
    _SEAL.pack_into(words.data, 0, _checksum(words), page)


def is_sound(words: np.ndarray, page: int) -> bool:
    """Whether a page is as it was sealed."""
    checksum, number = _SEAL.unpack_from(words.data)
    return bool(checksum == _checksum(words) and number == page)
