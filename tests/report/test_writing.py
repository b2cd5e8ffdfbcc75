"""A report is complete or not there; what is wrong is said before anything is written."""

import os
import subprocess
import sys

import pytest

from recollect.errors import InputError, MissingExtraError
from recollect.report import write_recall_report
from tests.report.samples import comparison, row


def test_an_old_report_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "recall.html"
    path.write_text("old")
    write_recall_report(comparison(), str(path))
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert os.listdir(tmp_path) == ["recall.html"]


def test_a_failure_leaves_the_old_report_alone(tmp_path, monkeypatch):
    path = tmp_path / "recall.html"
    path.write_text("precious")

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(InputError, match=r"recall\.html cannot be written: No space left"):
        write_recall_report(comparison(), path)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["recall.html"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no folder .*nowhere"):
        write_recall_report(comparison(), tmp_path / "nowhere" / "recall.html")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        write_recall_report(comparison(), tmp_path)


def test_missing_plotly_says_how_to_get_it(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "plotly"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'recollect\[report\]'"):
        write_recall_report(comparison(), tmp_path / "recall.html")
    assert os.listdir(tmp_path) == []


def test_importing_the_room_does_not_import_plotly():
    code = "import sys, recollect.report; sys.exit('plotly' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": []}, "no rows"),
        ({"rows": [row("gdj", "5%", 0.5)] * 2}, "'gdj' has two rows at budget '5%'"),
        ({"rows": [row("gdj", "5%", 1.5)]}, "recall 1.5 is not between 0 and 1"),
        ({"rows": [row("gdj", "5%", 0.5, recall=float("nan"))]}, "recall nan"),
        (
            {"rows": [row("gdj", "5%", 0.5, tuples_per_second=float("inf"))]},
            "inf tuples per second",
        ),
        ({"rows": [{"policy": "gdj"}]}, "row 0 lacks 'budget'"),
    ],
)
def test_what_cannot_be_drawn_is_named(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        write_recall_report(comparison() | change, tmp_path / "recall.html")
    assert os.listdir(tmp_path) == []
