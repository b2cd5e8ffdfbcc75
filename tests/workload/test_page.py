"""What docs/workloads.md shows runs."""

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


def test_python(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    columns = {"ts": pa.array(range(60), pa.timestamp("s")), "id": list(range(60))}
    columns |= dict.fromkeys(("key", "symbol", "price", "ask", "city"), [1, 2, 3] * 20)
    for name in "rst":
        pq.write_table(pa.table(columns), f"{name}.parquet")
    names: dict = {}
    exec(block("python"), names)
    assert len(names["comparison"].runs) == 8
    assert all(names["comparison"].exact.results_by_join.values())
    assert capsys.readouterr().out.startswith("clock 10% unified")


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
