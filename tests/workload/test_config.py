"""Workloads in TOML: all mistakes at once, with their lines; and the examples run."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recollect.toml.tables import ConfigError
from recollect.workload import run
from recollect.workload.config import parse_workload, read_workload

EXAMPLES = Path(__file__).parents[2] / "examples"
GOOD = """
[run]
policies = ["fifo"]
budgets = 5

[streams.R]
path = "r.parquet"
time = "t"
window = 10
generate = { workload = "gdj", stream = "R", tuples = 50, columns = { time = "t" } }

[streams.S]
generate = { workload = "gdj", stream = "S", tuples = 50 }
time = "time"
window = "20rows"
shed = 0.25

[joins.both]
on = "R.key = S.key"
"""


def test_the_catalogue_comes_with_another_package(monkeypatch):
    monkeypatch.setattr("recollect.workload.config.added", lambda group: {})
    with pytest.raises(ConfigError, match="catalogue of generated streams comes with the package"):
        parse_workload(GOOD, "w.toml")


def test_generated_unless_there_is_data(tmp_path):
    configured = parse_workload(GOOD, "w.toml")
    assert configured.generated == ("R",)
    (made,) = run(configured.workload, budgets=configured.settings.budgets).runs
    assert made.tuples_in == 100
    assert made.shed > 0
    pq.write_table(pa.table({"t": [1, 2], "key": [3, 3]}), tmp_path / "r.parquet")
    (tmp_path / "w.toml").write_text(GOOD)
    configured = read_workload(tmp_path / "w.toml", tmp_path)
    assert configured.generated == ()
    assert run(configured.workload, policies=["fifo"], budgets=[5]).exact.tuples_in == 52


MISTAKES = {
    "w.toml:3: run.policies: unknown policy 'fifoo'": ('["fifo"]', '["fifoo"]'),
    "w.toml:4: run.budgets: budget '64MBB' is not understood": ("budgets = 5", 'budgets = "64MBB"'),
    "w.toml:4: run.budget: unknown; did you mean budgets?": ("budgets = 5", "budget = 5"),
    "w.toml:9: streams.R.window: ": ("window = 10", 'window = "ten"'),
    "w.toml:10: streams.R.generate: unknown workload 'gdjj'": ('"gdj", stream = "R"',
                                                               '"gdjj", stream = "R"'),
    "w.toml:13: streams.S.generate: workload gdj has no stream 'Q'": ('"S", tuples', '"Q", tuples'),
    "w.toml:16: streams.S.shed: expected a probability": ("0.25", "1.5"),
    "w.toml:18: joins: join both: unknown stream 'T'": ("S.key", "T.key"),
    "w.toml:19: joins.both.on: join 'R.key'": ("R.key = S.key", "R.key"),
    "w.toml:6: streams.R: a stream needs time": ('time = "t"\n', ""),
    "w.toml:2: runs: unknown; the sections are": ("[run]", "[runs]"),
}  # fmt: skip


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message):
    old, new = MISTAKES[message]
    assert old in GOOD
    with pytest.raises(ConfigError) as raised:
        parse_workload(GOOD.replace(old, new, 1), "w.toml")
    assert any(line.startswith(message) for line in raised.value.mistakes), raised.value.mistakes


def test_all_mistakes_at_once():
    wrong = GOOD.replace("0.25", '"x"').replace("R.key = S.key", "R.key").replace("= 5\n", "= 0\n")
    with pytest.raises(ConfigError) as raised:
        parse_workload(wrong, "w.toml")
    lines = [int(line.split(":")[1]) for line in raised.value.mistakes]
    assert lines == [4, 16, 19]
    with pytest.raises(ConfigError, match=r"w\.toml:1: streams: missing"):
        parse_workload("", "w.toml")
    with pytest.raises(ConfigError, match=r"w\.toml:1: "):
        parse_workload("a = ", "w.toml")


@pytest.mark.parametrize(
    "name", [path.name for path in sorted(EXAMPLES.glob("*.toml")) if path.name != "pipeline.toml"]
)
def test_examples_run_without_data(name, monkeypatch):
    monkeypatch.delenv("RECOLLECT_DATA", raising=False)
    configured = read_workload(EXAMPLES / name)
    streams = {}
    for stream, given in configured.workload.streams.items():
        table = given.source if isinstance(given.source, pa.Table) else given.source.table()
        streams[stream] = type(given)(
            table.slice(0, 3_000), given.time, given.window, given.valid, given.subject, given.shed
        )
    workload = type(configured.workload)(streams, configured.workload.joins)
    made = run(workload, policies=["fifo"], warm_up=configured.settings.warm_up)
    assert made.exact.results > 0
    assert json.dumps(made.runs[0].as_dict())
