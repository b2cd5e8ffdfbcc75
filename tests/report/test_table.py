"""The page holds every number, says what is best and explains the policies."""

import re

import pytest

from recollect.report import write_recall_report
from recollect.report.recall import Comparison, Row
from tests.report.samples import BUDGETS, RECALLS, comparison


def written(tmp_path, given):
    write_recall_report(given, tmp_path / "recall.html")
    return (tmp_path / "recall.html").read_text(encoding="utf-8")


def body_of(page):
    return page.partition("<body>")[2].partition("<script")[0]


def table_of(page):
    """The rows of the table, as texts of cells, below their budgets."""
    groups = re.findall(r"<tbody>(.*?)</tbody>", page, re.S)
    return [
        [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<td.*?</td>", line)]
        for group in groups
        for line in group.split("<tr")
        if "<td" in line
    ]


def test_all_numbers_are_there(tmp_path):
    given = comparison()
    shown = {tuple(cells[:1] + cells[2:3]): cells for cells in table_of(written(tmp_path, given))}
    assert len(shown) == len(given["rows"]) == 48
    for row in given["rows"]:
        results = f"{row['results']:,}"
        name = row["policy"] + ("best" if row["policy"] == "gdj" else "")
        assert shown[name, results] == [
            name,
            f"{100 * row['recall']:.2f}\u00a0%",
            results,
            f"{row['evicted']:,}",
            f"{row['refused']:,}",
            f"{row['expired']:,}",
            f"{row['tuples_per_second']:,.0f}",
        ]


def test_the_best_is_marked_once_per_budget(tmp_path):
    body = body_of(written(tmp_path, comparison()))
    assert body.count('class="mark"') == len(BUDGETS)
    assert body.count('<tr class="best"><td class="policy">gdj<') == len(BUDGETS)


def test_a_tie_has_two_winners_and_the_optimum_is_none(tmp_path):
    page = written(tmp_path, comparison({"opt": (0.9,), "a": (0.5,), "b": (0.5,)}, ("10%",)))
    assert [cells[0] for cells in table_of(page)] == ["opt", "abest", "bbest"]


def test_what_was_not_measured_is_a_dash(tmp_path):
    rows = (Row("opt", "10%", results=5, recall=0.5),)
    given = Comparison("Ads", "a.csv", "b.csv", "10s", "ad", 99, 10, 20.0, 1, rows)
    page = written(tmp_path, given)
    assert table_of(page) == [["opt", "50.00\u00a0%", "5", "–", "–", "–", "–"]]
    assert 'id="speed"' not in page


def test_budgets_are_in_order_with_their_tuples(tmp_path):
    page = written(tmp_path, comparison({"gdj": (0.9, 0.2, 0.5)}, ("20%", "5%", "10%")))
    heads = re.findall(r'<th scope="rowgroup"[^>]*>(.*?)</th>', page)
    assert [re.sub(r"<[^>]*>", "", head).replace("\u00a0", " ") for head in heads] == [
        "budget 5 % = 1,000 tuples",
        "budget 10 % = 2,000 tuples",
        "budget 20 % = 4,000 tuples",
    ]


def test_policies_explain_themselves(tmp_path):
    from recollect.policies.base import registry

    body = body_of(written(tmp_path, comparison()))
    for name in RECALLS:
        meaning = registry[name.partition(":")[0]].__doc__.splitlines()[0]
        assert f"<dt>{name}</dt><dd>{meaning}</dd>" in body


@pytest.mark.parametrize(
    "fact",
    [
        "impressions.parquet",
        "clicks.parquet",
        "ad_id",
        "10s",
        "2,000,000",
        "21,995,622",
        "20,000.0",
    ],
)
def test_facts_of_the_run(tmp_path, fact):
    assert f"<dd>{fact}</dd>" in body_of(written(tmp_path, comparison()))
