"""Times of every kind, windows and spans of the calendar."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from recollect.errors import InputError, RecollectError
from recollect.intervals import aggregate
from recollect.intervals.spans import Spans
from recollect.intervals.timeline import Timeline

DAY = timedelta(days=1)


def count(start, end, **arguments):
    table = aggregate(pa.table({"s": start, "e": end}), "s", "e", agg="count", **arguments).table
    return [tuple(row.values()) for row in table.to_pylist()]


def test_dates_and_time_stamps_of_different_units():
    first = date(2024, 2, 28)
    assert count(pa.array([first]), pa.array([first + 2 * DAY])) == [(first, first + 2 * DAY, 1)]
    seconds, micros = pa.array([1], pa.timestamp("s")), pa.array([1_500_000], pa.timestamp("us"))
    found = aggregate(pa.table({"s": seconds, "e": micros}), "s", "e", agg="count").table
    assert found.schema.field("start").type == pa.timestamp("us")
    assert found["end"].to_pylist() == [datetime(1970, 1, 1, 0, 0, 1, 500_000)]


def test_an_open_end_is_null():
    assert count(pa.array([3, 5]), pa.array([None, 9])) == [(3, 5, 1), (5, 9, 2), (9, None, 1)]


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (pa.array([1.5]), pa.array([2.5]), "types double and double"),
        (pa.array([1]), pa.array([date(2024, 1, 1)]), "types int64 and date32"),
        (pa.array([0], pa.timestamp("s", "UTC")), pa.array([1], pa.timestamp("s")), "time zone"),
        (pa.array([1], pa.uint64()), pa.array([2**63 + 1], pa.uint64()), "out of range"),
    ],
)
def test_times_that_do_not_work(start, end, message):
    with pytest.raises(InputError, match=message):
        count(start, end)


def test_a_window_beyond_the_type_of_the_times():
    start, end = pa.array([1], pa.int8()), pa.array([None], pa.int8())
    with pytest.raises(InputError, match="out of range"):
        count(start, end, to=1000)


@pytest.mark.parametrize("pages", [None, 1])
def test_a_window_beyond_all_times(pages):
    start, end = pa.array([1], pa.timestamp("ns")), pa.array([9], pa.timestamp("ns"))
    everything = count(start, end, buffer_pages=pages)
    assert count(start, end, from_="0001-01-01", to="9999-12-31", buffer_pages=pages) == everything
    whole = pa.array([1]), pa.array([9])
    assert count(*whole, from_=-(10**30), to=10**30, buffer_pages=pages) == [(1, 9, 1)]


def test_a_window_in_the_words_of_the_times():
    stamps = pa.array([datetime(2024, 1, 1)], pa.timestamp("ms", "Europe/Berlin"))
    ends = pa.array([datetime(2024, 1, 5)], pa.timestamp("ms", "Europe/Berlin"))
    for from_ in ("2024-01-02", datetime(2024, 1, 2, tzinfo=UTC), "2024-01-02 01:00+01:00"):
        ((start, _, _),) = count(stamps, ends, from_=from_)
        assert start == datetime(2024, 1, 2, tzinfo=UTC)
    assert count(pa.array([1]), pa.array([9]), from_="4", to=6) == [(4, 6, 1)]
    with pytest.raises(InputError, match="window from 6 to 4 is empty"):
        count(pa.array([1]), pa.array([9]), from_=6, to=4)
    with pytest.raises(InputError, match="between two moments"):
        count(pa.array([date(2024, 1, 1)]), pa.array([date(2024, 1, 5)]), to="2024-01-02 12:00")
    with pytest.raises(RecollectError, match="'noon' is no such value"):
        count(stamps, ends, to="noon")


def test_days_of_a_time_zone_with_summer_time():
    zone = ZoneInfo("America/New_York")
    start = datetime(2024, 3, 9, 12, tzinfo=zone)
    end = datetime(2024, 3, 11, 12, tzinfo=zone)
    stamps = [pa.array([moment], pa.timestamp("us", "America/New_York")) for moment in (start, end)]
    rows = count(*stamps, span="day")
    assert [row[0].astimezone(zone).hour for row in rows] == [0, 0, 0]
    lengths = [
        (row[1].astimezone(UTC) - row[0].astimezone(UTC)) / timedelta(hours=1) for row in rows
    ]
    assert lengths == [24, 23, 24]


@pytest.mark.parametrize(
    ("span", "first", "borders"),
    [
        ("week", date(2024, 2, 28), [date(2024, 2, 26), date(2024, 3, 4)]),
        ("months", date(2024, 2, 28), [date(2024, 2, 1), date(2024, 3, 1)]),
        ("quarter", date(1969, 12, 31), [date(1969, 10, 1), date(1970, 1, 1)]),
        ("1 year", date(1969, 12, 31), [date(1969, 1, 1), date(1970, 1, 1)]),
        ("2d", date(1970, 1, 4), [date(1970, 1, 3), date(1970, 1, 5)]),
    ],
)
def test_calendars(span, first, borders):
    ((start, end, _),) = count(pa.array([first]), pa.array([first + DAY]), span=span)
    assert [start, end] == borders


def test_spans_are_numbered_without_gaps():
    line = Timeline(pa.timestamp("us"))
    for text in ("15min", "day", "week", "month"):
        spans = Spans.of(text, line)
        numbers = np.arange(-40, 40)
        borders = spans.border(numbers)
        assert np.array_equal(spans.number(borders), numbers)
        assert np.array_equal(spans.number(borders - 1), numbers - 1)


@pytest.mark.parametrize(
    ("span", "message"),
    [("fortnight", "not understood"), ("1ns", "whole number of units"), (5, "not understood")],
)
def test_spans_that_do_not_work(span, message):
    with pytest.raises(InputError, match=message):
        count(pa.array([0], pa.timestamp("s")), pa.array([1], pa.timestamp("s")), span=span)


def test_spans_of_numbers_and_of_open_ends():
    with pytest.raises(InputError, match="times are whole numbers"):
        count(pa.array([1]), pa.array([9]), span="day")
    with pytest.raises(InputError, match=r"say where to stop"):
        count(pa.array([1]), pa.array([None], pa.int64()), span=2)
    assert count(pa.array([1]), pa.array([None], pa.int64()), span=2, to=3) == [
        (0, 2, 1),
        (2, 4, 1),
    ]


@pytest.mark.parametrize(
    ("span", "message"),
    [(1, "18446744073709551616 spans"), (10**18, "reaches beyond"), (10**30, "reaches beyond")],
)
def test_spans_of_numbers_that_reach_too_far(span, message):
    with pytest.raises(InputError, match=message):
        count(pa.array([2 - 2**63]), pa.array([2**63 - 2]), span=span)


@pytest.mark.parametrize("span", ["year", "36500d"])
def test_spans_of_time_that_reach_too_far(span):
    times = (pa.array([at]).cast(pa.timestamp("ns")) for at in (2 - 2**63, 2**63 - 2))
    with pytest.raises(InputError, match=r"reaches beyond|out of range"):
        count(*times, span=span)


@pytest.mark.compiled
def test_few_long_spans_and_many_short_tuples():
    start = np.arange(300_000)
    rows = count(start, start + 1, span=100_000)
    assert rows == [(n * 100_000, (n + 1) * 100_000, 100_000) for n in range(3)]


def test_columns_that_are_missing():
    with pytest.raises(InputError, match="name the columns of the times"):
        aggregate(pa.table({"s": [1]}), agg="count")
    with pytest.raises(InputError, match="has no column 'till'; it has 's'"):
        aggregate(pa.table({"s": [1]}), "s", "till", agg="count")
    with pytest.raises(InputError, match="'median' is unknown; there are count"):
        aggregate(pa.table({"s": [1]}), "s", "s", agg="median")
    with pytest.raises(InputError, match="has no column ''; it has 's'"):
        aggregate(pa.table({"s": [1]}), "s", "s", agg="count", group_by="")
    with pytest.raises(InputError, match="'count' is a column of the result too"):
        aggregate(pa.table({"s": [1]}), "s", "s", agg="count", group_by="count")
