"""Ways to feed a join, and what is compared afterwards."""

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

import recollect as rc
from recollect.join.stats import Stats

Cuts = Iterable[tuple[str, int]]


def take_all(batches: Iterable[pa.RecordBatch]) -> list[dict]:
    return [row for batch in batches for row in batch.to_pylist()]


def feed(join: rc.Join, left: pa.Table, right: pa.Table, cuts: Cuts) -> list[dict]:
    """Feed pieces in the order given, then what is left; return the results."""
    rest = {"left": left, "right": right}
    results = []
    for side, rows in cuts:
        results += take_all(join.feed(side, rest[side].slice(0, rows)))
        rest[side] = rest[side].slice(rows)
    for side in ("right", "left"):
        results += take_all(join.feed(side, rest[side]))
    return results + take_all(join.finish())


def numbers(join: rc.Join) -> Stats:
    """The statistics without the time they took."""
    return replace(join.stats, seconds=0.0)
