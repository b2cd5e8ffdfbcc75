"""Rows, arrays and the log as compressed bytes, and the description of what they hold."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.join.feed import of_codes
from recollect.join.query import Bound
from recollect.spark.keeping.shard import Taken

CODEC = "zstd"
PREFIX = 8
WORD = 8

Layout = dict[str, list]
"""By name: the type of an array, as numpy describes it, and its shape. JSON can hold it."""


def layout_of(arrays: Mapping[str, np.ndarray]) -> Layout:
    """Describe arrays that stand one behind the other.

    >>> layout_of({"times": np.zeros((2, 3)), "slots": np.zeros(4, [("row", "i8")])})
    {'times': ['<f8', [2, 3]], 'slots': [[['row', '<i8']], [4]]}
    """
    return {
        name: [_listed(np.lib.format.dtype_to_descr(array.dtype)), list(array.shape)]
        for name, array in arrays.items()
    }


def same_kinds(layout: Layout, arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether a layout is that of arrays of the same names and types, whatever their shapes."""
    ours = layout_of(arrays)
    return layout.keys() == ours.keys() and all(
        kind == ours[name][0] for name, (kind, _) in layout.items()
    )


def views(parts: Iterable[np.ndarray], layout: Layout) -> dict[str, np.ndarray]:
    """Bytes as the arrays that a layout describes."""
    return {
        name: part.view(dtype_of(kind)).reshape(shape)
        for part, (name, (kind, shape)) in zip(parts, layout.items(), strict=True)
    }


def sizes_of(layout: Layout) -> list[int]:
    """The bytes of each array."""
    return [dtype_of(kind).itemsize * math.prod(shape) for kind, shape in layout.values()]


def dtype_of(kind: Any) -> np.dtype:
    """The type that a layout names."""
    return np.lib.format.descr_to_dtype(_tupled(kind))


def _listed(kind: Any) -> Any:
    return [_listed(part) for part in kind] if isinstance(kind, list | tuple) else kind


def _tupled(kind: Any) -> Any:
    if isinstance(kind, str):
        return kind
    return [(name, _tupled(inner), *map(tuple, shape)) for name, inner, *shape in kind]


def compress(data: Any) -> bytes:
    """Compressed bytes behind their length.

    Most of it are words of eight bytes: keys, times and numbers that differ in their lower bytes
    only. So all first bytes are put together, all second ones, and so on, which halves the result.
    """
    return _squeezed(_turned(np.frombuffer(data, np.uint8), WORD))


def decompress(data: bytes) -> pa.Buffer:
    """What :func:`compress` was given."""
    return pa.py_buffer(_turned_back(_unsqueezed(data), WORD))


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The same for arrays, whose words are as long as their items."""
    flat = [
        _turned(np.ascontiguousarray(array).reshape(-1).view(np.uint8), array.itemsize)
        for array in arrays.values()
    ]
    return _squeezed(np.concatenate(flat))


def unpack_arrays(data: bytes, layout: Layout) -> dict[str, np.ndarray]:
    """The arrays that :func:`pack_arrays` was given."""
    parts = np.split(_unsqueezed(data), np.cumsum(sizes_of(layout))[:-1])
    widths = [dtype_of(kind).itemsize for kind, _ in layout.values()]
    return views((_turned_back(*part) for part in zip(parts, widths, strict=True)), layout)


def _turned(flat: np.ndarray, width: int) -> np.ndarray:
    words = flat[: len(flat) // width * width].reshape(-1, width).T
    return np.concatenate([words.reshape(-1), flat[words.size :]])


def _turned_back(turned: np.ndarray, width: int) -> np.ndarray:
    whole = len(turned) // width * width
    words = turned[:whole].reshape(width, -1).T
    return np.concatenate([words.reshape(-1), turned[whole:]])


def _squeezed(flat: np.ndarray) -> bytes:
    return len(flat).to_bytes(PREFIX, "little") + pa.compress(flat, codec=CODEC, asbytes=True)


def _unsqueezed(data: bytes) -> np.ndarray:
    size = int.from_bytes(data[:PREFIX], "little")
    return np.frombuffer(pa.decompress(memoryview(data)[PREFIX:], size, codec=CODEC), np.uint8)


def pack_log(taken: Taken) -> bytes:
    """An entry of the log: horizon, numbers of tuples, then keys, times and sizes of each stream.

    Times stand as differences, which compress well.
    """
    words = [np.array(taken.horizon, np.int64)]
    words += [np.array([len(part.time), len(part.size)], np.int64) for part in taken.parts]
    for part in taken.parts:
        words += [part.keys[:, 0], np.diff(part.time, prepend=np.int64(0)), part.size]
    return compress(np.concatenate(words).tobytes())


def unpack_log(entry: bytes, bound: Bound) -> Taken:
    """What :func:`pack_log` was given, without the rows."""
    words = np.frombuffer(decompress(entry), np.int64)
    certain, probable, *lengths = words[:6].tolist()
    rest = iter(_cut(words[6:], lengths))
    left, right = (
        of_codes(bound, stream, codes, np.cumsum(times), sizes)
        for stream, (codes, times, sizes) in enumerate(zip(rest, rest, rest, strict=True))
    )
    return Taken((left, right), (certain, probable))


def _cut(words: np.ndarray, lengths: list[int]) -> Iterator[np.ndarray]:
    start = 0
    for tuples, sizes in zip(lengths[::2], lengths[1::2], strict=True):
        for length in (tuples, tuples, sizes):
            yield words[start : start + length]
            start += length
