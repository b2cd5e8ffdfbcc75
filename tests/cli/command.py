"""The ``recollect`` command: in a process of its own, or, much faster, in this one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import recollect_command
from recollect.cli import main

COMMAND = [sys.executable, "-c", "import recollect_command; recollect_command.main()"]
# So that it is found from any folder, installed or not.
HOME = str(Path(recollect_command.__file__).resolve().parent)
ENVIRONMENT = os.environ | {"PYTHONPATH": HOME}
KEYS = ["--on", "key", "--time", "time", "--window", "20"]


class Outcome(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


def run(folder: Path, *arguments: str) -> Outcome:
    """Run the command in a process of its own."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr)


def call(folder: Path, *arguments: str, patch: pytest.MonkeyPatch, capture) -> Outcome:
    """Run the command in this process."""
    patch.chdir(folder)
    patch.setattr(sys, "argv", ["recollect", *arguments])
    capture.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capture.readouterr()
    return Outcome(int(ended.value.code or 0), out, err)


def write(folder: Path, file: str, **columns) -> pa.Table:
    """Write a table as Parquet or CSV."""
    table = pa.table(columns)
    if file.endswith(".csv"):
        pa.csv.write_csv(table, folder / file)
    else:
        pq.write_table(table, folder / file)
    return table
