"""Budgets of every kind find a place on the axis, and labels find room."""

from itertools import pairwise

import pytest

from recollect.report.canvas import spread
from recollect.report.charts import recall_chart
from recollect.report.comparison import comparison_from
from recollect.report.scale import scale_of
from tests.report.samples import comparison


def scale(**budgets):
    given = comparison({"gdj": (0.5,) * len(budgets)}, tuple(budgets))
    for row in given["rows"]:
        row.update(zip(("budget_tuples", "budget_bytes"), budgets[row["budget"]], strict=True))
    return scale_of(comparison_from(given))


def test_shares():
    axis = scale(**{"40%": (8000, None), "5%": (1000, None)})
    assert axis.places == {"5%": 0.05, "40%": 0.4}
    assert axis.log
    assert "share" in axis.title


def test_tuples_that_are_close_are_not_drawn_in_logarithms():
    axis = scale(**{"2000": (2000, None), "1000": (1000, None)})
    assert axis.places == {"1000": 1000, "2000": 2000}
    assert not axis.log
    assert "tuples" in axis.title


def test_bytes():
    axis = scale(**{"64MB": (None, 64_000_000), "1GB": (None, 10**9)})
    assert list(axis.places) == ["64MB", "1GB"]
    assert "bytes" in axis.title


def test_tuples_among_shares_become_shares():
    assert scale(**{"500": (500, None), "5%": (1000, None)}).places == {"500": 0.025, "5%": 0.05}


def test_what_has_no_common_measure_stands_in_order():
    axis = scale(**{"unlimited": (None, None), "5%": (1000, None), "64MB": (None, 64_000_000)})
    assert axis.places == {"5%": 0, "64MB": 1, "unlimited": 2}


def test_crowded_ticks_are_thinned_but_the_ends_stay():
    axis = scale(**{str(n): (n, None) for n in range(100, 200)})
    ticks = axis.ticks(0.1)
    assert len(ticks) <= 11
    assert (ticks[0], ticks[-1]) == ("100", "199")


@pytest.mark.parametrize("count", [1, 2, 12, 40])
@pytest.mark.parametrize("recall", [0.0, 0.5, 1.0])
def test_labels_never_overlap_or_leave_the_drawing(count, recall):
    given = comparison({f"p{n}": (0.1, recall) for n in range(count)}, ("5%", "10%"))
    layout = recall_chart(comparison_from(given)).layout
    room = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    low, high = layout["yaxis"]["range"]
    heights = sorted(
        (label["y"] - low) / (high - low) * room - label["ay"] for label in layout["annotations"]
    )
    assert heights[0] >= 0
    assert heights[-1] <= room
    assert all(b - a >= 16.99 for a, b in pairwise(heights))


def test_labels_with_room_stay_where_they_are():
    assert spread([10.0, 40.0, 90.0], gap=17, low=0.0, high=100.0) == [10, 40, 90]


def test_every_line_looks_different():
    given = comparison({f"p{n}": (0.1, 0.2) for n in range(30)}, ("5%", "10%"))
    data = recall_chart(comparison_from(given)).data
    looks = {(t["line"]["color"], t["line"]["dash"], t["marker"]["symbol"]) for t in data}
    assert len(looks) == 30
    assert [trace["line"]["width"] for trace in data].count(4) == 1
