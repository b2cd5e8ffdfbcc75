"""The bytes that a row counts are about those it takes: never much less, for any Arrow type."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from recollect.join.sizes import row_bytes

COPIES = 64
LISTS = [[], [1], [1, 2, 3] * 10, None]
WORDS = ["", "a", "a longer word than twelve bytes", None]
ARRAYS = {
    "int64": pa.array([1, None]),
    "int8": pa.array([1, None], pa.int8()),
    "bool": pa.array([True, None]),
    "null": pa.nulls(2),
    "half": pa.array(np.array([1, 2], np.float16)),
    "decimal128": pa.array([Decimal(1), None]),
    "decimal256": pa.array([Decimal(1), None], pa.decimal256(60)),
    "timestamp": pa.array([0, None], pa.timestamp("ns", "UTC")),
    "interval": pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
    "string": pa.array(WORDS),
    "large string": pa.array(WORDS, pa.large_string()),
    "binary": pa.array([word and word.encode() for word in WORDS]),
    "fixed": pa.array([b"abcde", None], pa.binary(5)),
    "list": pa.array(LISTS),
    "large list": pa.array(LISTS, pa.large_list(pa.int16())),
    "list of words": pa.array([WORDS, [], None]),
    "fixed list": pa.array([[1, 2, 3], None], pa.list_(pa.int32(), 3)),
    "list of fixed lists": pa.array([[[1, 2]] * 5, [], None], pa.list_(pa.list_(pa.int32(), 2))),
    "struct": pa.array([{"a": 1, "b": "word"}, {"a": None, "b": None}, None]),
    "list of structs": pa.array([[{"a": 1, "b": "word"}] * 7, [], None]),
    "map": pa.array([[("a", 1), ("b", 2)], [], None], pa.map_(pa.string(), pa.int64())),
    "uuid": pa.array([b"0123456789abcdef", None], pa.uuid()),
    "list view": pa.array([[1] * 20, [1] * 20], pa.list_view(pa.int64())),
    "union": pa.UnionArray.from_sparse(
        pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["x" * 9, "y" * 9])]
    ),
}


def bytes_of_copies(array: pa.Array, row: int) -> float:
    """What a row takes in a batch of many like it, as a buffer stores it."""
    return pa.concat_arrays([array.slice(row, 1)] * COPIES).nbytes / COPIES


@pytest.mark.parametrize("kind", ARRAYS)
def test_never_far_below_and_not_far_above(kind):
    array = ARRAYS[kind]
    sizes = row_bytes(pa.record_batch({"column": array}))
    assert sizes.dtype == np.int64
    for row, size in enumerate(sizes.tolist()):
        true = bytes_of_copies(array, row)
        assert 0.8 * true <= size <= 1.25 * true + 16


@pytest.mark.parametrize("kind", ["string", "list", "large list", "struct", "fixed list", "map"])
def test_slices_count_only_their_own_rows(kind):
    batch = pa.record_batch({"column": ARRAYS[kind], "number": range(len(ARRAYS[kind]))})
    whole = row_bytes(batch).tolist()
    for start in range(len(whole)):
        assert row_bytes(batch.slice(start, 1)).tolist() == whole[start : start + 1]
    assert row_bytes(batch.slice(1)).tolist() == whole[1:]
    assert row_bytes(batch.slice(0, 0)).tolist() == []
