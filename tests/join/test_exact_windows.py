"""Without a budget every kind of window gives what its definition says, over any small streams."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import WindowError
from tests.join.brute import ALWAYS, brute_force, joined, pairs_in, random_table, table

WINDOWS = {
    "7": 7,
    "0": 0,
    "5rows": ("rows", 5),
    "1rows": ("rows", 1),
    "landmark:10": ("landmark", 10),
    "landmark:1": ("landmark", 1),
    "unlimited": ALWAYS,
}
STREAMS = st.lists(
    st.tuples(st.integers(-12, 12), st.sampled_from([None, 0, 1, 2])), max_size=12
).map(lambda rows: sorted(rows, key=lambda row: row[0]))


def check(left: pa.Table, right: pa.Table, windows: tuple[str, str]) -> int:
    expected = brute_force(left, right, tuple(WINDOWS[window] for window in windows))
    assert pairs_in(joined(left, right, window=windows), left, right) == expected
    return len(expected)


@pytest.mark.parametrize("right_window", WINDOWS)
@pytest.mark.parametrize("left_window", WINDOWS)
def test_all_pairs_of_windows(left_window, right_window):
    left, right = random_table(3, 120, 6), random_table(4, 90, 6, gap=3)
    assert check(left, right, (left_window, right_window)) > 3


@given(STREAMS, STREAMS, st.sampled_from(list(WINDOWS)), st.sampled_from(list(WINDOWS)))
@settings(max_examples=150, deadline=None)
def test_any_small_streams(left, right, left_window, right_window):
    tables = [
        table([time for time, _ in rows], pa.array([key for _, key in rows], pa.int64()))
        for rows in (left, right)
    ]
    check(*tables, (left_window, right_window))


def test_arrivals_with_null_keys_count_in_a_window_of_rows():
    left = table([0, 1, 2], pa.array([7, None, None]))
    right = table([3], pa.array([7]))
    assert check(left, right, ("5rows", "5rows")) == 1
    assert joined(left, right, window="2rows").num_rows == 0
    assert joined(left, right, window="3rows").num_rows == 1


def test_landmarks_of_times_before_the_epoch():
    hours = pa.array(np.array([-25, -24, -1, 0, 23, 24]) * 3600, pa.timestamp("s"))
    day = table(hours, pa.array([1] * 6))
    found = pairs_in(joined(day, day, window="landmark:1d"), day, day)
    assert {pair for pair in found if pair[0] < pair[1]} == {(1, 2), (3, 4)}


def test_a_landmark_between_two_units_of_the_time_column_is_refused():
    days = table(pa.array([0, 1], pa.int32()).cast(pa.date32()), pa.array([1] * 2))
    for window in ("landmark:36h", "landmark:1s"):
        with pytest.raises(WindowError, match=f"{window} is not a whole number of units"):
            joined(days, days, window=window)
    assert joined(days, days, window="landmark:48h").num_rows == 4


def test_a_window_may_reach_beyond_the_end_of_time():
    late = table([2**63 - 20, 2**63 - 10], pa.array([1, 1]))
    assert joined(late, late, window=100).num_rows == 4
