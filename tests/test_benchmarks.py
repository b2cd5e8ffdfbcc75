"""Benchmarks are scripts: what stands beside one comes before the standard library."""

import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_none_hides_a_standard_module():
    names = {file.stem for file in BENCHMARKS.glob("*.py")}
    assert "join" in names
    assert not names & sys.stdlib_module_names
