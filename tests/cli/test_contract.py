"""What the command prints and writes is a contract: programs read it."""

import json

import numpy as np
import pyarrow as pa
import pytest

import recollect as rc
from recollect.streams import open_source
from tests.cli.command import KEYS, call, run, write

JOIN_KEYS = {
    *("policy", "window", "budget_tuples", "tuples_in", "results", "evicted", "expired"),
    *("refused", "peak_tuples", "seconds", "tuples_per_second"),
}
MORE_KEYS = {"budget", "mean_tuples", "null_keys", "late"}
ROW_KEYS = {"policy", "budget", "results", "recall", "tuples_per_second"}
FILES = ["left.parquet", "right.csv"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("contract")
    random = np.random.default_rng(1)
    for name in FILES:
        write(path, name, time=range(500), key=random.integers(0, 30, 500), name=['é,"x'] * 500)
    return path


@pytest.fixture
def command(folder, monkeypatch, capsys):
    return lambda *arguments: call(folder, *arguments, patch=monkeypatch, capture=capsys)


def only_object(outcome) -> dict:
    """The one JSON object that stdout holds, and nothing else."""
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    value = json.loads(outcome.out)
    assert isinstance(value, dict)
    return value


def test_join_prints_one_object(folder):
    arguments = [*KEYS, "--budget", "10%", "--policy", "clock:w0=2", "--seed", "3"]
    facts = only_object(run(folder, "join", *FILES, *arguments, "--exact", "--json"))
    assert set(facts) == JOIN_KEYS | MORE_KEYS | {"exact_results", "recall"}
    same = rc.join(
        *(folder / name for name in FILES), on="key", time="time", window="20",
        budget="10%", policy="clock:w0=2", seed=3, exact=True,
    ).stats.as_dict()  # fmt: skip
    for facts_ in (facts, same):
        del facts_["seconds"], facts_["tuples_per_second"]
    assert facts == same


def test_recall_only_if_asked_for(command):
    facts = only_object(command("join", *FILES, *KEYS, "--policy", "fifo", "--json"))
    assert set(facts) == JOIN_KEYS | MORE_KEYS
    assert (facts["budget_tuples"], facts["window"]) == (None, "20")
    facts = only_object(command("join", *FILES, *KEYS, "--budget", "1MB", "--json"))
    assert set(facts) == JOIN_KEYS | MORE_KEYS | {"budget_bytes"}


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow", "jsonl"])
def test_the_joined_rows_are_written(command, folder, ending):
    arguments = [*KEYS, "--budget", "9", "--split", "--policy", "fifo", "--out", f"out.{ending}"]
    facts = only_object(command("join", *FILES, *arguments, "--json"))
    expected = rc.join(
        *(folder / name for name in FILES), on="key", time="time", window=20, budget=9,
        policy="fifo", split=True,
    ).table  # fmt: skip
    written = pa.Table.from_batches(open_source(folder / f"out.{ending}").batches())
    assert written.schema.names == expected.schema.names
    assert written.to_pylist() == expected.to_pylist()
    assert facts["results"] == expected.num_rows > 50
    (folder / f"out.{ending}").unlink()
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)


@pytest.mark.compiled
def test_compare_prints_rows_and_writes_a_page(folder):
    arguments = [*KEYS, "--policies", "fifo,clock:w0=2", "--budgets", "5%, 20%,7"]
    outcome = run(folder, "compare", *FILES, *arguments, "--html", "page.html", "--json")
    facts = only_object(outcome)
    assert set(facts) == {"rows"}
    assert all(set(row) >= ROW_KEYS for row in facts["rows"])
    pairs = [(row["policy"], row["budget"]) for row in facts["rows"]]
    assert pairs == [(p, b) for p in ("fifo", "clock:w0=2") for b in ("5%", "20%", "7")]
    comparison = rc.compare(
        *(folder / name for name in FILES), on="key", time="time", window=20,
        policies=["fifo", "clock:w0=2"], budgets=["5%", "20%", 7],
    )  # fmt: skip
    assert [row["results"] for row in facts["rows"]] == [run.results for run in comparison.runs]
    assert [row["recall"] for row in facts["rows"]] == [run.recall for run in comparison.runs]
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!")
    assert "clock:w0=2" in page
    (folder / "page.html").unlink()


def test_people_get_tables(command):
    joined = command("join", *FILES, *KEYS, "--budget", "12", "--policy", "fifo", "--exact")
    assert (joined.code, joined.err) == (0, "")
    for words in ("left.parquet ⋈ right.csv", "budget tuples", "recall", "%", "1,000"):
        assert words in joined.out
    compared = command("compare", *FILES, *KEYS, "--policies", "fifo,clock", "--budgets", "9,5%")
    assert (compared.code, compared.err) == (0, "")
    assert all(word in compared.out for word in ("fifo", "clock", "9", "5%", "exact"))


def test_options_have_their_effect(command):
    def results(*more: str) -> dict:
        return only_object(command("join", *FILES, *KEYS, "--policy", "fifo", *more, "--json"))

    base = results("--budget", "12")
    assert base["peak_tuples"] == base["budget_tuples"] == 12
    assert results("--budget", "12", "--unified")["results"] == base["results"]
    assert results("--budget", "12", "--shares", "10:90")["results"] != base["results"]
    assert results("--where", "left.time != right.time")["results"] < results()["results"]
    assert results("--window", "5=20rows")["window"] == "5=20rows"
    assert results("--lateness", "3")["late"] == 0
    draws = [results("--budget", "12", "--policy", "rand", "--seed", s) for s in ("0", "-1", "0")]
    assert draws[0]["results"] == draws[2]["results"]
    assert results("--policy", "rand", "--seed", str(10**20))["evicted"] == 0
