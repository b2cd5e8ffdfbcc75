"""Text from outside stays text, in HTML, in JSON inside of HTML and in plotly's own markup."""

import json
import re

import pytest

from recollect.report import write_recall_report
from tests.report.samples import comparison

EVIL = "</script><img src=x onerror=alert(1)>&\"'<!--"


@pytest.fixture(scope="module", params=[("10%",), ("5%", "10%")], ids=["bars", "lines"])
def page(request, tmp_path_factory):
    budgets = request.param
    recalls = {EVIL: (0.5, 0.6)[: len(budgets)], "fifo": (0.1, 0.2)[: len(budgets)]}
    words = dict.fromkeys(("title", "left", "right", "window", "on"), EVIL)
    path = tmp_path_factory.mktemp("report") / "recall.html"
    write_recall_report(comparison(recalls, budgets, **words), path)
    return path.read_text(encoding="utf-8")


def charts_of(page):
    return json.loads(re.search(r'id="charts">(.*?)</script>', page, re.S)[1])


def test_no_element_is_smuggled_in(page):
    assert "<img" not in page.partition("<script>")[0]
    assert page.count("&lt;/script&gt;&lt;img src=x") > 5


def test_json_cannot_end_its_element(page):
    assert "<" not in re.search(r'id="charts">(.*?)</script>', page, re.S)[1]


def test_plotly_sees_no_markup_but_ours(page):
    tags = re.findall(r"<[^>]*>", json.dumps(charts_of(page)))
    assert set(tags) <= {"<b>", "</b>", "<br>"}


def test_hover_has_the_whole_name(page):
    hover = charts_of(page)[0]["data"][0]["hovertext"][0]
    assert "<b>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&amp;\"'&lt;!--</b>" in hover
