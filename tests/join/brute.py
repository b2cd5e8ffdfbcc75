"""The join of two small tables by its definition, every pair looked at; and how to read a result.

Tables have a column ``n`` that numbers their rows, so that a result names the rows it came from.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import recollect as rc

Pairs = list[tuple[int, int]]
ALWAYS = 2**62
WHAT = {"on": "key", "time": "time", "policy": "fifo"}


def table(times: Sequence[int], keys: Sequence[Any] | pa.Array, **more: Any) -> pa.Table:
    """A stream with numbered rows."""
    times = pa.array(np.asarray(times, np.int64)) if not isinstance(times, pa.Array) else times
    return pa.table({"n": range(len(times)), "time": times, "key": keys} | more)


def random_table(seed: int, rows: int, keys: int, gap: int = 2, **more: Any) -> pa.Table:
    """A stream with uniform keys and up to ``gap`` time units from tuple to tuple."""
    random = np.random.default_rng(seed)
    times = np.cumsum(random.integers(0, gap + 1, rows))
    return table(times, random.integers(0, keys, rows), **more)


def merged(left: pa.Table, right: pa.Table) -> list[tuple[int, int]]:
    """Both streams in the order of arrival, as (stream, row): by time, the left one first."""
    times = [side["time"].to_pylist() for side in (left, right)]
    arrivals = [(times[s][row], s, row) for s in (0, 1) for row in range(len(times[s]))]
    return [(s, row) for _, s, row in sorted(arrivals)]


def brute_force(
    left: pa.Table,
    right: pa.Table,
    windows: tuple[Any, Any],
    same: Callable[[Any, Any], bool] = lambda a, b: a == b,
    where: Callable[[dict, dict], bool] = lambda a, b: True,
) -> Pairs:
    """The exact results as pairs of rows.

    A window is a number of time units, ("rows", n), ("landmark", n) or ALWAYS.
    """
    rows = [left.to_pylist(), right.to_pylist()]
    pairs: Pairs = []
    arrived: list[list[int]] = [[], []]
    for stream, row in merged(left, right):
        arrived[stream].append(row)
        new = rows[stream][row]
        partner = 1 - stream
        for place, other in enumerate(arrived[partner]):
            old = rows[partner][other]
            younger = len(arrived[partner]) - 1 - place
            if _alive(windows[partner], old["time"], new["time"], younger):
                pair = (old, new) if partner == 0 else (new, old)
                keys = [item["key"] for item in pair]
                if None not in keys and same(*keys) and where(*pair):
                    pairs.append((pair[0]["n"], pair[1]["n"]))
    return sorted(pairs)


def _alive(window: Any, then: int, now: int, younger: int) -> bool:
    match window:
        case ("rows", count):
            return younger < count
        case ("landmark", span):
            return now // span == then // span
    return now - then <= window


def joined(left: Any, right: Any, **arguments: Any) -> pa.Table:
    """The rows that the library finds."""
    return rc.join(left, right, **(WHAT | arguments)).table


def pairs_in(result: pa.Table, left: pa.Table, right: pa.Table) -> Pairs:
    """The rows that a result names, after seeing that it holds these very rows."""
    numbers = [result["left_n"], result["right_n"]]
    there = [left.take(numbers[0]), right.take(numbers[1])]
    columns = [*there[0].columns, *there[1].columns]
    assert [column.type for column in result.columns] == [column.type for column in columns]
    for mine, original in zip(result.columns, columns, strict=True):
        assert mine.combine_chunks().equals(original.combine_chunks())
    return sorted(zip(*(column.to_pylist() for column in numbers), strict=True))
