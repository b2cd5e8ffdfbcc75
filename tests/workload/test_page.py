"""The workload that docs/workloads.md shows runs; ``tests/pages.py`` only reads it."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from recollect.workload import run
from recollect.workload.config import read_workload

PAGE = (Path(__file__).parents[2] / "docs" / "workloads.md").read_text()


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found


def test_toml(tmp_path):
    (tmp_path / "w.toml").write_text(block("toml"))
    count = list(range(90))
    common = {"key": [i % 5 for i in count], "sensor": count}
    pq.write_table(pa.table({"time": count, **common}), tmp_path / "r.parquet")
    facts = {"start": count, "end": [i + 9 for i in count], "viewer": [i % 30 for i in count]}
    pq.write_table(pa.table({**facts, **common}), tmp_path / "s.parquet")
    read = read_workload(tmp_path / "w.toml", tmp_path)
    made = run(read.workload, policies=["fifo"], budgets=[20], divisions=read.settings.divisions)
    assert [each.division for each in made.runs] == ["unified", "rate", "1:3"]
    assert made.exact.results > made.runs[0].results > 0
