"""The page of a pipeline run shows what was kept and lost, whatever was measured."""

import json
import re

import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

from recollect.errors import InputError
from recollect.report import write_pipeline_report
from tests.report.pipeline_samples import EXACT, batch, run

EVIL = "</script><img src=x onerror=alert(1)>&\"'<!--"


@pytest.fixture
def written(tmp_path):
    def write(**arguments):
        write_pipeline_report(tmp_path / "run.html", **arguments)
        return (tmp_path / "run.html").read_text(encoding="utf-8").replace("\u00a0", " ")

    return write


def charts_of(page):
    found = re.search(r'id="charts">(.*?)</script>', page, re.S)
    return {chart["name"]: chart for chart in json.loads(found[1])} if found else {}


def text_of(page, tag):
    return re.search(rf"<{tag}[^>]*>(.*?)</", page)[1]


def lead_of(page):
    return re.search(r'<p class="lead">(.*?)</p>', page)[1]


def test_everything_is_there(written):
    page = written(**run())
    assert list(charts_of(page)) == ["recall", "tuples", "bytes", "forgotten", "speed"]
    assert "<dt>Window</dt><dd>10 minutes</dd>" in page
    assert "<dt>Budget</dt><dd>20,000</dd>" in page
    assert lead_of(page).startswith("4,000,000 rows came in 40 batches at ")


def test_only_what_was_measured_is_there(written):
    page = written(title="Empty")
    assert text_of(page, "h1") == "Nothing was measured in this run."
    assert "<script" not in page
    assert charts_of(written(**run(batches=[], by_slice=[], by_key=[]))) == {}
    assert list(charts_of(written(**run(batches=[])))) == ["recall"]
    assert "recall" not in charts_of(written(**run(by_slice=[])))


HEADLINES = {
    "some are lost": (
        {},
        "With room for 20,000 tuples, the join keeps 73 % of the 21,995,622 exact results;"
        " 5,916,822 are lost.",
    ),
    "bytes": (
        {"budget_tuples": None, "budget_bytes": 64_000_000},
        "With 64 MB of memory, the join keeps 73 % of the 21,995,622 exact results;"
        " 5,916,822 are lost.",
    ),
    "no budget, nothing lost": (
        {"budget_tuples": None, "quality": {"recall": 1.0, "exact_results": EXACT}},
        "The join keeps all 21,995,622 exact results.",
    ),
    "one is lost": (
        {"budget_tuples": 1, "quality": {"recall": 0.75, "exact_results": 4}},
        "With room for 1 tuple, the join keeps 75 % of the 4 exact results; 1 is lost.",
    ),
    "nothing to lose": (
        {"quality": {"recall": None, "exact_results": 0}},
        "The exact join finds no results in these inputs, so there was nothing to lose.",
    ),
    "not measured": (
        {"quality": None, "batches": [batch(0, results=1234)]},
        "With room for 20,000 tuples, the join found 1,234 results;"
        " how many are missing was not measured.",
    ),
}


@pytest.mark.parametrize("case", HEADLINES)
def test_headline(written, case):
    given, expected = HEADLINES[case]
    assert text_of(written(**run(**given)), "h1") == expected


def test_results_that_should_not_be_there_are_a_warning(written):
    quality = {"recall": 0.5, "exact_results": 10, "results": 7, "foreign": 2}
    lead = lead_of(written(**run(quality=quality)))
    assert lead.startswith("Beware: 2 results of the join are not among the exact ones.")


def test_nothing_forgotten_is_said_and_not_drawn(written):
    quiet = {"evicted": 0, "refused": 0, "expired": 0, "late": 0}
    page = written(**run(batches=[batch(0, **quiet, buffered=1, buffered_bytes=96)]))
    assert "Memory held at most 1 tuple (96 B); nothing was forgotten." in lead_of(page)
    assert "forgotten" not in charts_of(page)


@pytest.mark.parametrize(
    ("budget", "chart", "other", "label"),
    [
        ({"budget_tuples": 20_000}, "tuples", "bytes", "budget 20,000 tuples"),
        (
            {"budget_tuples": None, "budget_bytes": 2_000_000},
            "bytes",
            "tuples",
            "budget 2\u00a0MB",
        ),
    ],
)
def test_the_budget_is_a_line_in_its_own_chart(written, budget, chart, other, label):
    charts = charts_of(written(**run(**budget)))
    (line,) = charts[chart]["layout"]["shapes"]
    (note,) = charts[chart]["layout"]["annotations"]
    assert line["y0"] in budget.values()
    assert note["text"] == label
    assert charts[chart]["layout"]["yaxis"]["range"][1] > line["y0"]
    assert "shapes" not in charts[other]["layout"]


def test_a_batch_without_rows_has_no_speed(written):
    speed = charts_of(written(**run(batches=[batch(0), batch(1, rows_in=0)])))["speed"]
    assert speed["data"][0]["y"][1] is None


def test_a_batch_that_was_run_again_is_drawn_once(written):
    batches = [batch(0), batch(1, buffered=5), batch(1, buffered=7)]
    tuples = charts_of(written(**run(batches=batches)))["tuples"]
    assert tuples["data"][0]["y"][1:] == [7]


def test_many_batches_are_drawn_together_and_none_is_lost(written):
    page = written(
        **run(batches=[batch(number, evicted=3, buffered=number) for number in range(1000)])
    )
    charts = charts_of(page)
    evicted, *_ = charts["forgotten"]["data"]
    assert evicted["name"] == "evicted"
    assert len(evicted["y"]) == 200
    assert sum(evicted["y"]) == 3000
    assert charts["tuples"]["data"][0]["y"][-1] == 999
    assert "batches 995–999" in charts["tuples"]["data"][0]["hovertext"][-1]
    assert charts["tuples"]["layout"]["xaxis"]["title"]["text"] == (
        "batch, 5 in a row drawn as one"
    )


def test_a_slice_without_exact_results_is_a_gap(written):
    recall = charts_of(written(**run(by_slice=[(0, 4, 2, 0.5), (10, 0, 0, None)])))["recall"]
    assert recall["data"][0]["y"] == [0.5, None]
    assert recall["layout"]["xaxis"]["ticktext"] == ["0", "10"]


def test_keys_are_listed_by_what_they_lost(written):
    keys = [("a", 10, 9, 0.9), ("b", 100, 50, 0.5), ("c", 30, 0, 0.0)]
    page = written(**run(by_key=keys))
    lines = re.findall(r"<tr><td.*?</tr>", page)
    cells = [re.findall(r">([^<>]+)<", line) for line in lines]
    assert cells == [
        ["b", "50.00 %", "100", "50", "50"],
        ["c", "0.00 %", "30", "0", "30"],
        ["a", "90.00 %", "10", "9", "1"],
    ]


def test_text_from_outside_stays_text(written):
    page = written(
        **run(
            title=EVIL, facts={EVIL: EVIL}, by_key=[(EVIL, 2, 1, 0.5)], by_slice=[(EVIL, 2, 1, 0.5)]
        )
    )
    assert "<img" not in page.partition("<script>")[0]
    tags = re.findall(r"<[^>]*>", json.dumps(charts_of(page)))
    assert set(tags) <= {"<b>", "</b>", "<br>"}


def test_the_page_is_one_file(written):
    page = written(**run())
    plotly = get_plotlyjs().replace("\u00a0", " ")
    assert page.count(plotly) == 1
    assert not re.search(r"https?://|@import|url\(", page.replace(plotly, ""))


@pytest.mark.parametrize("batches", [1, 2, 500])
def test_plotly_accepts_the_figures(written, batches):
    charts = charts_of(written(**run(batches=[batch(number) for number in range(batches)])))
    for chart in charts.values():
        for layout in (chart["layout"], chart["narrow"]):
            go.Figure({"data": chart["data"], "layout": layout})


def test_a_recall_that_cannot_be_is_named(written):
    with pytest.raises(InputError, match=r"10:05: recall 1\.5 is not between 0 and 1"):
        written(**run(by_slice=[("10:05", 2, 3, 1.5)]))
