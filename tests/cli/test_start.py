"""Starting is light: no plotting or Spark until somebody needs it; and the help is complete."""

import inspect
import re
import subprocess
import sys

import pytest

from recollect.cli.compare import compare
from recollect.cli.demo import demo
from recollect.cli.join import join
from recollect.cli.pipeline import pipeline
from tests.cli.command import ENVIRONMENT, call

HEAVY = ("pyspark", "plotly", "pandas", "polars", "duckdb", "matplotlib", "recollect_papers")
LATE = ("numba", "llvmlite", "scipy")
"""What is wanted only when something is compiled, or fitted."""
ROOMS = ("join.whole", "streams", "locality", "counting", "lookup", "intervals", "workload")


@pytest.mark.parametrize(
    "modules", ["recollect", "recollect.cli", ", ".join(f"recollect.{room}" for room in ROOMS)]
)
def test_importing_loads_nothing_heavy(modules):
    seen = f"import sys, {modules}; print([m for m in {HEAVY + LATE} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", seen], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_joining_does_not_load_pandas(tmp_path):
    """Arrow does so when it is given a numpy array without more ado: 33 MB, 0.1 s."""
    (tmp_path / "s.csv").write_text("time,key\n1,1\n2,1\n")
    (tmp_path / "run.py").write_text(
        "import sys, recollect as rc\n"
        "answer = rc.join('s.csv', 's.csv', on='key', time='time', window=5, policy='fifo')\n"
        "print(answer.stats.results, 'pandas' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "run.py"], cwd=tmp_path, env=ENVIRONMENT,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "4 False\n"


@pytest.mark.parametrize(
    "command", [join, compare, demo, pipeline], ids=lambda command: command.__name__
)
def test_help_mentions_every_option(command, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    outcome = call(tmp_path, command.__name__, "--help", patch=monkeypatch, capture=capsys)
    assert (outcome.code, outcome.err) == (0, "")
    assert command.__doc__.split("\n")[0].split(":")[0] in outcome.out
    for name in inspect.signature(command).parameters:
        arguments = ("left", "right", "config")
        spelling = name if name in arguments else "--" + name.replace("_", "-")
        assert re.search(rf"(^|[\s│*]){spelling}\s", outcome.out, re.MULTILINE), spelling


def test_the_commands_are_listed(tmp_path, monkeypatch, capsys):
    outcome = call(tmp_path, "--help", patch=monkeypatch, capture=capsys)
    assert outcome.code == 0
    assert all(name in outcome.out for name in ("join", "compare", "demo", "pipeline"))


def test_commands_of_other_packages(tmp_path, monkeypatch, capsys):
    """Those of recollect-papers are there if it is installed."""
    run = {"patch": monkeypatch, "capture": capsys}
    assert "papers" in call(tmp_path, "--help", **run).out
    outcome = call(tmp_path, "papers", "clocks", "--out", "x", **run)
    assert outcome.err.startswith("recollect: unknown paper 'clocks'; known are gdj, locality,")
    monkeypatch.setattr("recollect.cli.added", lambda group: {})
    assert "papers" not in call(tmp_path, "--help", **run).out
    outcome = call(tmp_path, "papers", "all", "--out", "x", **run)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "recollect: the command papers comes with the package recollect-papers, which is not"
        " installed: pip install recollect-papers, or in a clone of the repository"
        " pip install ./papers\n"
    )


def test_a_policy_in_the_working_folder_is_found(tmp_path):
    """As with the installed command, whose own folder comes first on the path."""
    (tmp_path / "mine.py").write_text(
        "from recollect.policies.fifo import Fifo\nclass Mine(Fifo):\n    pass\n"
    )
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "recollect"
    script.write_text("from recollect_command import main\nmain()\n")
    (tmp_path / "s.csv").write_text("time,key\n1,1\n2,1\n")
    options = ["--on", "key", "--time", "time", "--window", "5", "--policy", "mine:Mine", "--json"]
    done = subprocess.run(
        [sys.executable, script, "join", "s.csv", "s.csv", *options],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert '"results": 4' in done.stdout
