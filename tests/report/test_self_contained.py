"""A report is one file: nothing is loaded from elsewhere, and plotly is inside exactly once."""

import re
from html.parser import HTMLParser

import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

from recollect.report import write_recall_report
from recollect.report.charts import recall_chart, speed_chart
from recollect.report.comparison import comparison_from
from recollect.report.page import render_page
from tests.report.samples import RECALLS, comparison

LOADS = {"src", "href", "srcset", "data", "action", "poster", "background"}


class Loads(HTMLParser):
    """Collects whatever a browser would fetch."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.addresses = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in LOADS]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "recall.html"
    write_recall_report(comparison(), path)
    return path.read_text(encoding="utf-8")


def test_nothing_is_loaded(page):
    loads = Loads(page)
    assert loads.addresses == ["data:,"]
    assert not {"iframe", "object", "embed", "base"} & set(loads.tags)


def test_nothing_outside_plotly_names_an_address(page):
    rest = page.replace(get_plotlyjs(), "")
    assert not re.search(r"https?://|@import|url\(", rest)


def test_the_browser_is_told_to_load_nothing(page):
    assert "default-src 'none'" in page
    assert "connect-src" not in page.split("<title>")[0]


def test_plotly_is_inside_once(page):
    assert page.count(get_plotlyjs()) == 1


def test_a_page_without_charts_needs_no_plotly():
    assert "<script" not in render_page("Words", "<p>only words</p>", [])


@pytest.mark.parametrize("budgets", [1, 4])
def test_plotly_accepts_the_figures(budgets):
    recalls = {name: values[:budgets] for name, values in RECALLS.items()}
    run = comparison_from(comparison(recalls, ("5%", "10%", "20%", "40%")[:budgets]))
    for chart in (recall_chart(run), speed_chart(run)):
        for layout in (chart.layout, chart.narrow):
            go.Figure({"data": chart.data, "layout": layout})
