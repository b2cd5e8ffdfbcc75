"""``recollect compare --opt`` shows the optimum beside the policies, and the gap to it."""

import json

import pytest

from recollect.optimum import best_runs
from tests.cli.command import KEYS, call, write


@pytest.fixture
def compare(tmp_path, monkeypatch, capsys):
    for seed, name in enumerate(("left.parquet", "right.csv")):
        keys = [(7 * step * step + seed * step) % 23 for step in range(300)]
        write(tmp_path, name, time=list(range(300)), key=keys)

    def run(*arguments: str):
        words = ("compare", "left.parquet", "right.csv", *KEYS, "--policies", "fifo,prob")
        return call(tmp_path, *words, *arguments, patch=monkeypatch, capture=capsys)

    return run


def test_json_and_page(compare, tmp_path):
    budgets = ["--budgets", "5%,9", "--split"]
    outcome = compare("--opt", *budgets, "--html", "page.html", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    rows = json.loads(outcome.out)["rows"]
    assert [(row["policy"], row["budget"]) for row in rows] == [
        (policy, budget) for policy in ("fifo", "prob", "opt") for budget in ("5%", "9")
    ]
    best = best_runs(
        tmp_path / "left.parquet", tmp_path / "right.csv",
        on="key", time="time", window=20, budgets=["5%", 9], split=True,
    )  # fmt: skip
    assert [row["results"] for row in rows[4:]] == [run.results for run in best]
    for row, optimum in zip(rows, best * 3, strict=True):
        assert row["gap"] == pytest.approx(1 - row["results"] / optimum.results)
        assert row["recall"] == row["results"] / optimum.exact_results
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "is the best that was possible (opt)" in page
    without = json.loads(compare(*budgets, "--json").out)["rows"]
    assert [row["results"] for row in without] == [row["results"] for row in rows[:4]]
    assert not any("gap" in row for row in without)


def test_people_see_the_gap(compare):
    outcome = compare("--opt", "--budgets", "5")
    assert outcome.code == 0
    lines = [line for line in outcome.out.splitlines() if "%" in line]
    assert "opt" in lines[0]
    assert "−" not in lines[0]
    assert all("(−" in line for line in lines[1:])
    assert "−" not in compare("--budgets", "5").out


def test_bytes_have_no_optimum(compare):
    outcome = compare("--opt", "--budgets", "1MB", "--json")
    assert outcome.code == 2
    assert outcome.out == ""
    assert "only for budgets in tuples or per cent, not for 1MB" in outcome.err
    assert len(outcome.err.splitlines()) == 1
