"""``recollect run`` and what ``recollect compare`` measures beside recall."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recollect.cli.compare import compare
from recollect.cli.run import run
from recollect.errors import InputError
from recollect.toml.tables import ConfigError
from tests.workload.test_config import GOOD

QUERY = {"on": "k", "time": "t", "window": "10", "policies": "fifo", "budgets": "6"}


@pytest.fixture
def streams(tmp_path):
    """Two files."""
    paths = {}
    for name in ("left", "right"):
        paths[name] = str(tmp_path / f"{name}.parquet")
        table = pa.table({"t": list(range(200)), "k": [i * i % 7 for i in range(200)]})
        pq.write_table(table, paths[name])
    return paths


def test_run_as_json(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("RECOLLECT_DATA", raising=False)
    file = tmp_path / "w.toml"
    file.write_text(GOOD)
    run(str(file), None, True)
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert answer["generated"] == ["R"]
    assert "stream R is generated" in printed.err
    (row,) = answer["rows"]
    assert 0 < row["results"] <= answer["exact_results"]
    assert row["results_by_join"] == {"both": row["results"]}
    assert len(answer["memory"]) == 100


def test_run_as_table(tmp_path, capsys):
    file = tmp_path / "w.toml"
    file.write_text(GOOD)
    run(str(file))
    assert "fifo" in capsys.readouterr().out


def test_run_names_every_mistake(tmp_path):
    file = tmp_path / "w.toml"
    file.write_text(GOOD.replace("fifo", "fifoo").replace("0.25", "2"))
    with pytest.raises(ConfigError) as raised:
        run(str(file))
    assert [mistake.split(":")[1] for mistake in raised.value.mistakes] == ["3", "16"]


def test_compare_side_by_side(streams, capsys):
    compare(
        **streams, **QUERY, divisions="unified,rate,30:70", shed="0.5=0", quality=True, json=True
    )
    answer = json.loads(capsys.readouterr().out)
    assert [row["division"] for row in answer["rows"]] == ["unified", "rate", "0.3:0.7"]
    for row in answer["rows"]:
        assert 70 < row["shed"] < 130
        assert row["recall"] < 1
        assert {"stress_recall", "sse", "kl"} <= set(row)
    compare(**streams, **QUERY, warm_up="1/3", json=True)
    (warm,) = json.loads(capsys.readouterr().out)["rows"]
    compare(**streams, **QUERY, json=True)
    (plain,) = json.loads(capsys.readouterr().out)["rows"]
    assert warm["results"] < plain["results"]


def test_quality_goes_with_everything(streams, tmp_path, capsys):
    page = tmp_path / "page.html"
    compare(**streams, **QUERY, quality=True, opt=True, lateness="5", html=str(page), json=True)
    run_, best = json.loads(capsys.readouterr().out)["rows"]
    assert run_["results"] <= best["results"] <= run_["exact_results"]
    assert best["policy"] == "opt"
    assert run_["sse"] is not None
    assert "opt" in page.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"warm_up": "1/3", "opt": True}, "does not go together with --shed, --warm-up"),
        ({"shed": "much"}, "--shed 'much'"),
        ({"divisions": "halves"}, "halves"),
    ],
)
def test_compare_refuses(streams, words, message):
    with pytest.raises((InputError, ValueError), match=message):
        compare(**streams, **QUERY, **words)
