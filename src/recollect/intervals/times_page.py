"""A page of the index of times: moments in order, and how many tuples start or end at each.

Moments are kept as differences and counts as they are, each in the fewest bytes (1, 2, 4 or 8) that
do for the whole page. So a page holds up to two thousand moments, not two hundred.

>>> from recollect.intervals.page import new_page
>>> words = new_page()
>>> write_times(words, np.array([-5, 100, 101]), np.array([1, 300, 2]))
>>> read_times(words)
(array([ -5, 100, 101]), array([  1, 300,   2]))
>>> fitting(np.arange(5_000), np.ones(5_000, np.int64))
2036
"""

import numpy as np

from recollect.intervals.page import BODY, PAGE_BYTES, Kind, head, set_head

_SIZES = tuple(np.dtype(kind) for kind in ("u1", "u2", "u4", "u8"))
_FIRST = 8 * BODY
_ROOM = PAGE_BYTES - _FIRST - 8
"""Bytes for differences and counts, behind the first moment."""
MOST_TIMES = _ROOM // 2


def _differences(times: np.ndarray) -> np.ndarray:
    # Unsigned: the distance of two moments may be larger than any of them.
    unsigned = times.view(np.uint64)
    return np.concatenate([np.zeros(1, np.uint64), unsigned[1:] - unsigned[:-1]])


def _reaches(numbers: np.ndarray) -> list[int]:
    """How many of the first numbers fit into each size."""
    reaches = []
    for size in _SIZES:
        beyond = numbers > np.iinfo(size).max
        reaches.append(int(np.argmax(beyond)) if beyond.any() else len(numbers))
    return reaches


def fitting(times: np.ndarray, counts: np.ndarray) -> int:
    """How many of the first moments fit on one page."""
    times, counts = times[:MOST_TIMES], counts[:MOST_TIMES]
    by_counts = _reaches(counts.view(np.uint64))
    return max(
        min(far, near, _ROOM // (wide.itemsize + narrow.itemsize))
        for wide, far in zip(_SIZES, _reaches(_differences(times)), strict=True)
        for narrow, near in zip(_SIZES, by_counts, strict=True)
    )


def write_times(words: np.ndarray, times: np.ndarray, counts: np.ndarray) -> None:
    """Write a page; the moments must be fitting."""
    differences = _differences(times)
    sizes = [int(np.searchsorted(_reaches(part), len(part))) for part in (differences, counts)]
    set_head(words, Kind.TIMES, len(times), detail=sizes[0] << 2 | sizes[1])
    words[BODY] = times[0]
    body = words.view(np.uint8)[_FIRST + 8 :]
    packed = b"".join(
        part.astype(_SIZES[size]).tobytes()
        for part, size in zip((differences, counts), sizes, strict=True)
    )
    body[: len(packed)] = np.frombuffer(packed, np.uint8)


def read_times(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Read the moments of a page and their counts."""
    count, _, detail = head(words)
    body = words.view(np.uint8)[_FIRST + 8 :]
    wide, narrow = _SIZES[detail >> 2], _SIZES[detail & 3]
    middle = count * wide.itemsize
    differences = np.frombuffer(body[:middle].tobytes(), wide).astype(np.uint64)
    counts = np.frombuffer(body[middle : middle + count * narrow.itemsize].tobytes(), narrow)
    first = words[BODY : BODY + 1].view(np.uint64)
    return (first + np.cumsum(differences)).view(np.int64), counts.astype(np.int64)
