"""Exact counts against a Counter, the sketch against its naive twin and its guarantees."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.counting import add, crowded, enlarge, frequency, new_exact_counts, new_sketch
from tests.naive.frequency import CountMin
from tests.policies.scenarios import examples, runs

EXTREMES = [0, 1, -1, 2**63 - 1, -(2**63), 1024, 2048]
keys = st.one_of(st.sampled_from(EXTREMES), st.integers(-5, 20), st.integers(-(2**63), 2**63 - 1))
arrivals = runs(st.tuples(st.integers(0, 1), keys), longest=60)


def add_some(counts, streams, keys, start):
    """Count until there is no room for more; return how far that went."""
    for i in range(start, len(keys)):
        if crowded(counts):
            return i
        add(counts, streams[i], keys[i])
    return len(keys)


def ask_all(counts, stream, keys, found):
    for i in range(len(keys)):
        found[i] = frequency(counts, stream, keys[i])


def _add(counts, rows):
    columns = [np.array([row[i] for row in rows], np.int64) for i in (0, 1)]
    done = add_some(counts, *columns, 0)
    while done < len(rows):
        counts = enlarge(counts)
        done = add_some(counts, *columns, done)
    return counts


def _ask(counts, stream, wanted):
    found = np.empty(len(wanted), np.int64)
    ask_all(counts, stream, np.array(wanted, np.int64), found)
    return found.tolist()


@examples(60)
@given(st.lists(arrivals, max_size=4), st.lists(keys, max_size=10))
def test_exact_counts(parts, others):
    counts = new_exact_counts()
    model = Counter()
    for part in parts:
        counts = _add(counts, part)
        model.update(part)
    wanted = [key for _, key in model] + others + EXTREMES
    for stream in (0, 1):
        assert _ask(counts, stream, wanted) == [model[stream, key] for key in wanted]


def test_exact_counts_of_many_keys():
    random = np.random.default_rng(0)
    counts = new_exact_counts()
    model = Counter()
    for _ in range(20):
        drawn = random.integers((0, -3000), (2, 3000), (500, 2)).tolist()
        rows = [(stream, key * 2**20) for stream, key in drawn]
        counts = _add(counts, rows)
        model.update(rows)
        distinct = len({key for _, key in model})
        assert counts.used[0] == distinct
        assert distinct <= 0.6 * len(counts.lines) + 1
    wanted = [key * 2**20 for key in range(-3000, 3000)]
    for stream in (0, 1):
        assert _ask(counts, stream, wanted) == [model[stream, key] for key in wanted]


@pytest.mark.parametrize("entries", [4, 7, 8, 33, 256])
@examples(25)
@given(arrivals)
def test_sketch(entries, rows):
    sketch = new_sketch(entries)
    assert sketch.cells[0].size <= entries
    _add(sketch, rows)
    twins = (CountMin(entries), CountMin(entries))
    for stream, key in rows:
        twins[stream].add(key)
    wanted = [key for _, key in rows] + EXTREMES
    model = Counter(rows)
    for stream in (0, 1):
        found = _ask(sketch, stream, wanted)
        assert found == [twins[stream].estimate(key) for key in wanted]
        assert all(n >= model[stream, key] for n, key in zip(found, wanted, strict=True))


def test_a_large_sketch_is_nearly_exact():
    random = np.random.default_rng(1)
    rows = [(0, int(key)) for key in 2000 * random.random(20_000) ** 3]
    sketch = new_sketch(65_536)
    _add(sketch, rows)
    model = Counter(key for _, key in rows)
    found = _ask(sketch, 0, list(model))
    assert sum(found) <= 1.001 * len(rows)
    assert max(_ask(sketch, 1, list(model))) == 0
