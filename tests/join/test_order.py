"""Time must not go backwards, unless lateness allows for it: then it is as if all were sorted."""

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect as rc
from recollect.errors import InputError, NullKeyError, TimeOrderError, WindowError
from tests.join.brute import WHAT, joined, random_table, table
from tests.join.feeding import feed, numbers, take_all

SORTED = random_table(1, 200, 6, gap=1)
OTHER = random_table(2, 200, 6, gap=1)


def feed_in_pieces(join: rc.Join, side: str, stream: pa.Table, rows: int) -> None:
    for start in range(0, len(stream), rows):
        take_all(join.feed(side, stream.slice(start, rows)))


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_going_backwards_names_the_row_and_both_times(rows):
    stream = table([3, 7, 7, 9, 4], pa.array([1] * 5))
    join = rc.Join(**WHAT, window=5)
    join.expect("left", stream.schema)
    message = "row 4 of the right stream: 4 after 9; sort it, or allow for it with lateness"
    with pytest.raises(TimeOrderError, match=message):
        feed_in_pieces(join, "right", stream, rows)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (pa.timestamp("ms"), r"2020-01-01 00:00:01.* after 2020-01-01 00:00:02"),
        (pa.timestamp("s", "UTC"), r"2020-01-01 00:00:01.* after 2020-01-01 00:00:02"),
        (pa.date32(), r"2020-01-01 after 2020-01-02"),
    ],
    ids=str,
)
def test_going_backwards_names_time_stamps_as_they_are(kind, message):
    step = timedelta(days=1) if kind == pa.date32() else timedelta(seconds=1)
    first = datetime(2020, 1, 1) if kind == pa.date32() else datetime(2020, 1, 1, 0, 0, 1)
    times = pa.array([first, first + step, first], pa.timestamp("us")).cast(pa.timestamp("s"))
    stream = table(times.cast(kind), pa.array([1] * 3))
    nanos = table(pa.array([0], pa.timestamp("ns")), pa.array([1]))
    with pytest.raises(TimeOrderError, match=f"row 2 of the left stream: {message}"):
        joined(stream, nanos, window="5s")


def test_no_time_at_all():
    stream = table(pa.array([3, None, 5]), pa.array([1] * 3))
    for arguments in ({}, {"lateness": 3}):
        with pytest.raises(InputError, match="'time' of the left stream is NULL in row 1"):
            joined(stream, SORTED, window=5, **arguments)


@pytest.mark.parametrize("seed", range(4))
def test_within_the_lateness_it_is_as_if_sorted(seed):
    delay = np.random.default_rng(seed).integers(0, 9, 200)
    arrival = np.argsort(np.asarray(SORTED["time"]) + delay, kind="stable")
    shuffled = SORTED.take(pa.array(arrival))
    # Equal times keep the order in which they came, not that of the sorted table.
    again = shuffled.take(pa.array(np.argsort(shuffled["time"], kind="stable")))
    assert not shuffled.equals(again)
    for arguments in ({"window": 15}, {"window": "20rows", "budget": 9, "policy": "clock"}):
        late = rc.join(shuffled, OTHER, lateness=8, **(WHAT | arguments))
        assert late.table.equals(joined(again, OTHER, **arguments))
        assert (late.stats.late, late.stats.tuples_in) == (0, 400)


@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=40),
    st.integers(0, 12),
    st.lists(st.tuples(st.just("left"), st.integers(0, 5)), max_size=10),
)
@settings(max_examples=60, deadline=None)
def test_what_is_later_is_counted_and_left_out(times, lateness, cuts):
    newest = np.maximum.accumulate(times)
    kept = [i for i, time in enumerate(times) if time >= newest[i] - lateness]
    kept.sort(key=lambda i: times[i])
    stream = table(times, pa.array([1] * len(times)))
    other = table(range(-20, 20), pa.array([1] * 40))
    join = rc.Join(**WHAT, window=5, lateness=lateness)
    results = feed(join, stream, other, cuts)
    assert results == joined(stream.take(pa.array(kept)), other, window=5).to_pylist()
    assert join.stats.late == len(times) - len(kept)
    assert join.stats.tuples_in == len(times) + 40
    whole = rc.Join(**WHAT, window=5, lateness=lateness)
    assert feed(whole, stream, other, []) == results
    assert numbers(whole) == numbers(join)


def test_lateness_is_a_time():
    for bad in ("5rows", "landmark:5", "soon", -1):
        with pytest.raises(WindowError):
            joined(SORTED, OTHER, window=5, lateness=bad)
    with pytest.raises(WindowError, match="plain numbers"):
        joined(SORTED, OTHER, window=5, lateness="5s")


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_null_key_is_named_by_its_row_however_late_it_is_noticed(rows):
    stream = table([5, 1, 2, 50, 49], pa.array([1, None, 3, 4, 5]))
    join = rc.Join(**WHAT, window=5, lateness=10, null_keys="error")
    join.expect("right", OTHER.schema)
    with pytest.raises(NullKeyError, match="'key' of the left stream is NULL in row 1"):
        feed_in_pieces(join, "left", stream, rows)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (pa.array([2**63 + 1], pa.uint64()), pa.array([1])),
        (pa.array([datetime(2500, 1, 1)], pa.timestamp("s")), pa.array([0], pa.timestamp("ns"))),
    ],
    ids=["uint64", "units"],
)
def test_times_that_do_not_fit_are_refused(left, right):
    with pytest.raises(InputError, match="time"):
        joined(table(left, pa.array([1])), table(right, pa.array([1])), window="unlimited")
