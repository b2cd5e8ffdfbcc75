"""The first page of an index: what it is, whether its load is complete, and where things begin.

>>> from recollect.intervals.page import new_page, seal
>>> words = new_page()
>>> write_header(words, Header(columns=(Column("fare"),), complete=True, tuples=3))
>>> seal(words, HEADER_PAGE)
>>> read_header(words, "flights.index").tuples
3
"""

import json
from dataclasses import asdict, dataclass

import numpy as np

from recollect.errors import InputError, StateError
from recollect.intervals.layout import Column
from recollect.intervals.page import BODY, NO_PAGE, PAGE_BYTES, Kind, is_sound, set_head

HEADER_PAGE = 0
FORMAT = 1
_TITLE = b"recollect intervals\0"
_ROOM = PAGE_BYTES - 8 * BODY - len(_TITLE)


@dataclass(frozen=True)
class Tree:
    """Where a tree of pages begins; a tree of height 0 is one page without a directory."""

    root: int = NO_PAGE
    height: int = 0


@dataclass(frozen=True)
class Header:
    """What the first page tells."""

    columns: tuple[Column, ...]
    complete: bool = False
    """Whether the load was finished."""
    pages: int = 1
    free: int = NO_PAGE
    """The first of the pages that are not in use; each is continued by the next."""
    tuples: int = 0
    grid: Tree = Tree()
    times: Tree = Tree()


def write_header(words: np.ndarray, header: Header) -> None:
    """Write the header to its page."""
    text = json.dumps({"format": FORMAT, **asdict(header)}).encode()
    if len(text) > _ROOM:
        raise InputError(
            f"the names of the columns take {len(text) - _ROOM} bytes more than fit on the"
            " first page of an index; shorten them"
        )
    set_head(words, Kind.HEADER, 0)
    body = words[BODY:].view(np.uint8)
    body[:] = 0
    body[: len(_TITLE) + len(text)] = np.frombuffer(_TITLE + text, np.uint8)


def read_header(words: np.ndarray, path: object) -> Header:
    """Read the header, or say why this is not an index that can be used.

    Parameters
    ----------
    words
        The first page, unchecked.
    path
        What messages call the file.
    """
    body = words[BODY:].view(np.uint8).tobytes()
    if not body.startswith(_TITLE):
        raise StateError(f"{path}: this is not an index of intervals")
    if not is_sound(words, HEADER_PAGE):
        raise StateError(f"{path}: page {HEADER_PAGE} is damaged; load again")
    fields = json.loads(body[len(_TITLE) :].rstrip(b"\0"))
    if fields.pop("format") != FORMAT:
        raise StateError(f"{path}: made by another version of recollect; load again")
    fields["columns"] = tuple(Column(**column) for column in fields["columns"])
    header = Header(**fields | {tree: Tree(**fields[tree]) for tree in ("grid", "times")})
    if not header.complete:
        raise StateError(f"{path}: incomplete load, it was cut short; load again")
    return header
