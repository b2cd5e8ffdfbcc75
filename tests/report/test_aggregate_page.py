"""The page of a temporal aggregation: exact where it can be, honest where it cannot."""

import json
import re
from datetime import datetime

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import pytest

from recollect.intervals import aggregate
from recollect.report.aggregate import write_aggregate_report
from recollect.report.aggregate_charts import MOST_PANELS, aggregate_chart, shown
from recollect.report.aggregate_curves import MOST_STEPS, Curve, curves_of, slice_length

HOURS = pa.timestamp("s")


def page_of(answer, tmp_path, question=None) -> str:
    write_aggregate_report("<b>Stays</b>", answer, question or {}, tmp_path / "page.html")
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def charts_in(page: str) -> list[dict]:
    return json.loads(re.search(r'id="charts">(.*?)</script>', page)[1])


def test_small_answers_are_drawn_step_by_step(tmp_path):
    table = pa.table({"s": [0, 7200], "e": [3600, None], "v": [2.5, float("inf")]})
    table = table.set_column(0, "s", table["s"].cast(HOURS)).set_column(
        1, "e", table["e"].cast(HOURS)
    )
    page = page_of(aggregate(table, "s", "e", "v", agg="count,max"), tmp_path, {"where": "a < b"})
    count, most = charts_in(page)
    assert count["data"][0]["x"][:3] == ["1970-01-01", "1970-01-01 01:00", "1970-01-01 02:00"]
    assert count["data"][0]["y"] == [1, 0, 1, 1]
    assert count["data"][0]["line"]["shape"] == "hv"
    assert most["data"][0]["y"] == [2.5, None, None, None]
    assert "Up to 1 tuple was active at once, first at 1970-01-01." in page
    assert "&lt;b&gt;Stays&lt;/b&gt;" in page
    assert "a &lt; b" in page
    for chart in (count, most):
        go.Figure(data=chart["data"], layout=chart["layout"])
        go.Figure(data=chart["data"], layout=chart["narrow"])


def test_nothing_to_draw(tmp_path):
    table = pa.table({"s": pa.array([], pa.int64()), "e": pa.array([], pa.int64())})
    assert "There is no tuple" in page_of(aggregate(table, "s", "e", agg="count"), tmp_path)


def test_each_group_has_a_panel_up_to_a_limit(tmp_path):
    groups = MOST_PANELS + 2
    table = pa.table({"s": range(groups), "e": range(5, 5 + groups), "g": [*"abcdefgh"]})
    answer = aggregate(table, "s", "e", agg="count", group_by="g")
    page = page_of(answer, tmp_path)
    (chart,) = charts_in(page)
    assert len(chart["layout"]["annotations"]) == MOST_PANELS
    assert f"The {MOST_PANELS} groups that reach highest, of {groups}." in page
    assert page.count('<td class="policy">') == groups


def test_slices_hold_least_mean_and_greatest():
    random = np.random.default_rng(1)
    times = np.cumsum(random.integers(1, 9, 4 * MOST_STEPS + 1))
    value = random.integers(0, 50, len(times) - 1).astype(float)
    value[random.random(len(value)) < 0.2] = np.nan
    curve = Curve(None, times[:-1], times[1:], value)
    assert not curve.drawn_exactly
    length = 100
    middles, low, mean, high = curve.slices(length)
    every = np.repeat(value, np.diff(times))
    for middle, *found in zip(middles, low, mean, high, strict=True):
        first = max(int(middle) // length * length, times[0])
        part = every[first - times[0] : (int(middle) // length + 1) * length - times[0]]
        known = part[~np.isnan(part)]
        assert found == pytest.approx([known.min(), known.mean(), known.max()])
    assert curve.mean == pytest.approx(np.nanmean(every))
    chart = aggregate_chart("avg", shown([curve]), pa.int64())
    assert len(chart.data) == 3


def test_slices_keep_the_rhythm_of_days():
    assert slice_length(365 * 86_400 * 10**6, pa.timestamp("us")) == 86_400 * 10**6
    assert slice_length(40 * 365, pa.date32()) == 28
    assert slice_length(10**6, pa.int64()) == 2_000
    assert slice_length(3, pa.int64()) == 1


def test_a_time_zone_shows_its_own_clock():
    stamps = pa.array([datetime(2024, 7, 1, 12)], pa.timestamp("s", "Europe/Berlin"))
    table = pa.table({"s": stamps, "e": pa.array([datetime(2024, 7, 1, 13)], stamps.type)})
    (curve,) = curves_of(aggregate(table, "s", "e", agg="count"), "count")
    assert (curve.start[0] // 3600) % 24 == 14
