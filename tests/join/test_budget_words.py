"""What users type for budgets, shares and windows: all that is understood, and what is not."""

from datetime import timedelta

import numpy as np
import psutil
import pyarrow as pa
import pytest

from recollect.errors import BudgetError, InputError, WindowError
from recollect.join.budget import Budget, divide, parse_budget, parse_shares
from recollect.join.window import (
    COUNT,
    LANDMARK,
    TIME,
    UNLIMITED,
    Duration,
    parse_duration,
    parse_window,
    resolve,
    time_unit,
)

MEMORY = psutil.virtual_memory().total
BUDGETS = {
    2000: (2000, None, None), "2000": (2000, None, None), np.int64(7): (7, None, None),
    " 12 ": (12, None, None), "3.0": (3, None, None), 1: (1, None, None),
    "10%": (None, 0.1, None), "0.5 %": (None, 0.005, None), "250%": (None, 2.5, None),
    "1B": (None, None, 1), "64MB": (None, None, 64 * 10**6), "64 mb": (None, None, 64 * 10**6),
    "1.5kB": (None, None, 1500), "2KiB": (None, None, 2048), "1GiB": (None, None, 2**30),
    None: (None, None, None), "unlimited": (None, None, None),
}  # fmt: skip
SHARES = {
    None: None, False: None, True: "rate", "rate": "rate", "equal": "equal",
    "30:70": (0.3, 0.7), (1, 3): (0.25, 0.75), "0.5:0.5": (0.5, 0.5),
}  # fmt: skip
NS = {"s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9, "d": 86_400 * 10**9}
WINDOWS = {
    1000: (TIME, 1000), "1000": (TIME, 1000), 0: (TIME, 0), np.int64(5): (TIME, 5),
    "10s": (TIME, Duration(10 * NS["s"])), "1.5 min": (TIME, Duration(90 * NS["s"])),
    "1h 30min": (TIME, Duration(90 * NS["min"])), "2d": (TIME, Duration(2 * NS["d"])),
    "10 minutes": (TIME, Duration(10 * NS["min"])), "5ns": (TIME, Duration(5)),
    "1 day": (TIME, Duration(NS["d"])), "3ms2us": (TIME, Duration(3_002_000)),
    timedelta(seconds=1, microseconds=2): (TIME, Duration(1_000_002_000)),
    "500rows": (COUNT, 500), "1 row": (COUNT, 1), "landmark:7": (LANDMARK, 7),
    "landmark: 1h": (LANDMARK, Duration(NS["h"])), "unlimited": (UNLIMITED, 0),
    None: (UNLIMITED, 0),
}  # fmt: skip


@pytest.mark.parametrize("typed", BUDGETS, ids=repr)
def test_budgets(typed):
    budget = parse_budget(typed)
    assert (budget.tuples, budget.share, budget.bytes) == pytest.approx(BUDGETS[typed])
    assert budget.unlimited == (BUDGETS[typed] == (None, None, None))
    assert parse_budget(budget) is budget


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        *((bad, "is not understood") for bad in ("", "x", "10 apples", "1e3", "5%%", True, "MB")),
        *((bad, "leaves no room") for bad in (0, -1, "0%", "0MB", "-5MB", "0.0")),
        *((bad, "not a whole number of tuples") for bad in (2.5, "0.5")),
        *((bad, "this machine's memory") for bad in (MEMORY, "9" * 400, "9" * 400 + "MB")),
        (f"{MEMORY + 1}B", "larger than this machine's memory"),
        ("1000TB", "larger than this machine's memory"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_budgets_that_make_no_sense(typed, message):
    with pytest.raises(BudgetError, match=message):
        parse_budget(typed)


def test_a_share_becomes_tuples_at_least_one():
    assert [parse_budget(text).of(1234.0).tuples for text in ("10%", "0.001%", "7")] == [123, 1, 7]
    assert str(parse_budget("10%").of(1234.0)) == "10%"
    assert parse_budget("64MB").for_tuples == 64_000_000 - 24_000_000 - 4_000_000
    assert parse_budget("1MB").for_tuples == 500_000
    assert Budget().of(5.0).unlimited


@pytest.mark.parametrize("typed", SHARES, ids=repr)
def test_shares(typed):
    assert parse_shares(typed) == pytest.approx(SHARES[typed])


@pytest.mark.parametrize(
    "typed", ["", "30", "1:2:3", "a:b", (1,), 5, "0:1", "-1:2", "nan:1", "inf:1"]
)
def test_shares_that_make_no_sense(typed):
    with pytest.raises(BudgetError, match="split"):
        parse_shares(typed)


def test_both_parts_get_something():
    assert [divide(10, shares) for shares in ((0.3, 0.7), (0.001, 0.999), (1, 0))] == [
        (3, 7), (1, 9), (9, 1)
    ]  # fmt: skip
    with pytest.raises(BudgetError, match="cannot be split"):
        divide(1, (0.5, 0.5))


@pytest.mark.parametrize("typed", WINDOWS, ids=repr)
def test_windows(typed):
    window = parse_window(typed)
    assert (window.kind, window.span) == WINDOWS[typed]
    assert parse_window(window) is window
    assert parse_window(str(window)) == window


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        *((bad, "is not understood") for bad in ("", "x", "5 apples", "1.5", "landmark:", "rows")),
        *((bad, "is not understood") for bad in (1.5, True, "--5", "10s foo", "5rows 1", [5])),
        *((bad, "must be 0 or more") for bad in (-1, "-10s", timedelta(seconds=-1), 2**62 + 1)),
        *((bad, "must be 1 or more") for bad in ("0rows", "-5rows", "landmark:0", "landmark:-5s")),
    ],
    ids=repr,
)
def test_windows_that_make_no_sense(typed, message):
    with pytest.raises(WindowError, match=message):
        parse_window(typed)


def test_durations_in_units_of_the_time_column():
    assert parse_duration("five") is None
    assert parse_duration("") is None
    window = parse_window("1500us")
    assert [resolve(window, unit) for unit in (1, 1000, 10**6, 10**9)] == [1_500_000, 1500, 1, 0]
    assert resolve(parse_window(7), 10**9) == 7
    with pytest.raises(WindowError, match="holds plain numbers"):
        resolve(window, None)
    units = [pa.timestamp("us"), pa.date32(), pa.date64(), pa.time32("s"), pa.duration("ns")]
    assert [time_unit(kind, "t") for kind in units] == [1000, NS["d"], 10**6, 10**9, 1]
    assert time_unit(pa.uint8(), "t") is None
    for kind in (pa.string(), pa.float64(), pa.bool_(), pa.decimal128(5)):
        with pytest.raises(InputError, match=f"'t' is of type .*{str(kind)[:4]}"):
            time_unit(kind, "t")
