"""Experiments are measured once and leave tables, pictures and text."""

import csv

import pytest

from papers.tests import toy
from recollect.errors import InputError
from recollect_papers.experiment import Scale
from recollect_papers.places import Processes
from recollect_papers.running import run_papers


class Here:
    """In this process, and only so many tasks."""

    def __init__(self, most=100):
        self.most = most

    def results(self, tasks):
        for number, task in enumerate(tasks[: self.most]):
            yield number, task()
        if len(tasks) > self.most:
            raise KeyboardInterrupt


def run(out, place, measure=toy.measure, points=toy.points, **options):
    papers = {"toy": toy.paper(measure, points)}
    scale = Scale(data=str(out))
    return run_papers(papers, ["toy"], scale, out, place, **options)


def test_table_picture_commentary_and_report(tmp_path):
    [exhibit] = run(tmp_path, Here())
    rows = list(csv.DictReader((tmp_path / "toy" / "figure-1.csv").open()))
    assert [(row["budget"], row["runs"]) for row in rows] == [("10", "2"), ("20", "2")]
    assert float(rows[0]["recall"]) == pytest.approx(0.255)
    assert (tmp_path / "toy" / "figure-1.svg").read_text() == exhibit.picture
    assert "More memory keeps more. *0.255 and 0.505.*" in (
        tmp_path / "toy" / "figure-1.md"
    ).read_text(encoding="utf-8")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "1 of 1 claims reproduced" in page
    assert 'src="data:image/svg+xml;base64,' in page
    assert 'id="toy-figure-1"' in page
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "![Figure 1: recall](toy/figure-1.svg)" in text


def test_a_stopped_run_goes_on(tmp_path):
    logged = {"measure": toy.logged, "points": toy.logged_points}
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Here(most=3), **logged)
    with (tmp_path / "toy" / "points.jsonl").open("a") as file:
        file.write('{"key": "cut o')
    seen = []
    [exhibit] = run(tmp_path, Here(), **logged, progress=lambda *facts: seen.append(facts))
    assert (tmp_path / "log").read_text().split("\n") == ["10 0", "10 1", "20 0", "20 1", ""]
    assert seen == [("Figure 1: recall", 3, 4), ("Figure 1: recall", 4, 4)]
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    assert run(fresh, Here(), **logged) == [exhibit]


def test_processes_give_what_one_process_gives(tmp_path):
    assert run(tmp_path / "many", Processes(2)) == run(tmp_path / "one", Here())


def test_unknown_names(tmp_path):
    with pytest.raises(InputError, match="unknown paper 'clocks'; known are toy, all"):
        run_papers({"toy": toy.paper()}, ["clocks"], Scale(), tmp_path)
    with pytest.raises(InputError, match="no experiment is called 'figure-7'; known are figure-1"):
        run(tmp_path, Here(), only=["figure-7"])
    with pytest.raises(InputError, match="unknown scale 'medium'; known are small, full"):
        Scale("medium")
