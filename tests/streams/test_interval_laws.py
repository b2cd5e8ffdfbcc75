"""UniformIntervals: starts and lengths are even, and nothing depends on anything else."""

import numpy as np

from recollect.streams import UniformIntervals


def columns(stream):
    return {name: column.to_numpy() for name, column in zip(*_parts(stream), strict=True)}


def _parts(stream):
    table = stream.table()
    return table.column_names, table.columns


def test_ds1_is_uniform():
    found = columns(UniformIntervals(100_000, time_range=1_000, seed=1))
    start, length = found["start"], found["end"] - found["start"]
    assert (start.min(), start.max()) == (1, 1_000)
    assert (length.min(), length.max()) == (1, 300)
    counts = np.bincount((start - 1) // 10, minlength=100)
    assert ((counts - 1_000) ** 2 / 1_000).sum() < 99 + 5 * np.sqrt(2 * 99)
    counts = np.bincount((length - 1) // 3, minlength=100)
    assert ((counts - 1_000) ** 2 / 1_000).sum() < 99 + 5 * np.sqrt(2 * 99)
    assert abs(np.corrcoef(start, length)[0, 1]) < 0.02


def test_key_and_value_have_nothing_to_do_with_the_interval():
    found = columns(UniformIntervals(50_000, seed=2))
    assert (found["key"].min(), found["key"].max()) == (0, 999)
    assert 1 <= found["value"].min() < 100 < 99_900 < found["value"].max() <= 100_000
    for name in ("key", "value"):
        assert abs(np.corrcoef(found[name], found["start"])[0, 1]) < 0.02


def test_the_smallest_time_range():
    found = columns(UniformIntervals(50, time_range=1))
    assert set(found["start"]) == {1}
    assert set(found["end"]) == {2}
