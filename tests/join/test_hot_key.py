"""One key that everything has: all pairs come out, in batches that stay bounded."""

import numpy as np
import pyarrow as pa
import pytest

import recollect as rc
from recollect.join.online import OUTPUT_ROWS
from tests.join.brute import WHAT, table

CHAIN = 3 * OUTPUT_ROWS


def hot(rows: int, start: int = 0, keys: pa.Array | None = None) -> pa.Table:
    return table(range(start, start + rows), pa.array([7] * rows) if keys is None else keys)


def sizes_and_pairs(batches) -> tuple[list[int], int, int, int]:
    """The length of each batch, the number of results and the sums of both row numbers."""
    lengths, left, right = [], 0, 0
    for batch in batches:
        lengths.append(batch.num_rows)
        left += int(np.asarray(batch["left_n"]).sum())
        right += int(np.asarray(batch["right_n"]).sum())
    return lengths, sum(lengths), left, right


@pytest.mark.compiled
def test_chains_shorter_than_a_chunk():
    join = rc.Join(**WHAT, window="unlimited")
    rows = 1_500
    assert not list(join.feed("left", hot(rows)))
    lengths, count, left, right = sizes_and_pairs([*join.feed("right", hot(rows)), *join.finish()])
    assert count == join.stats.results == rows * rows
    assert left == right == rows * rows * (rows - 1) // 2
    assert max(lengths) <= OUTPUT_ROWS


@pytest.mark.compiled
@pytest.mark.parametrize("keys", [None, "text"])
def test_a_chain_longer_than_a_chunk(keys):
    keys = pa.array(["seven"] * CHAIN) if keys else None
    join = rc.Join(**WHAT, window="unlimited")
    assert not list(join.feed("left", hot(CHAIN, keys=keys)))
    probes = hot(20, start=CHAIN, keys=keys.slice(0, 20) if keys else None)
    batches = [*join.feed("right", probes), *join.finish()]
    lengths, count, left, right = sizes_and_pairs(batches)
    assert count == join.stats.results == 20 * CHAIN
    assert left == 20 * CHAIN * (CHAIN - 1) // 2
    assert right == CHAIN * 190
    assert max(lengths) <= 2 * CHAIN
    assert all(np.diff(np.asarray(batch["right_n"])).min() >= 0 for batch in batches)


@pytest.mark.compiled
def test_a_filter_that_passes_little_of_a_long_chain():
    join = rc.Join(**WHAT, window="unlimited", where="left.n == right.n * 1000")
    list(join.feed("left", hot(CHAIN)))
    batches = [*join.feed("right", hot(20, start=CHAIN)), *join.finish()]
    found = [pair for b in batches for pair in zip(*b.select(["left_n", "right_n"]), strict=True)]
    assert [(one.as_py(), two.as_py()) for one, two in found] == [(1000 * i, i) for i in range(20)]


def test_counting_needs_no_output():
    join = rc.Join(**WHAT, window="unlimited", count_only=True)
    assert not list(join.feed("left", hot(CHAIN)))
    assert not [*join.feed("right", hot(20, start=CHAIN)), *join.finish()]
    assert join.stats.results == 20 * CHAIN
