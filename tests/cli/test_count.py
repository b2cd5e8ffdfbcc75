"""``recollect count``: one JSON object or a table, and mistakes in one line."""

import json
from datetime import date
from decimal import Decimal

import numpy as np
import pytest

import recollect as rc
from tests.cli.command import call, write

CONTRACT = {"epsilon", "entries_peak", "entries_estimated", "frequent"}
MORE = {"tuples", "null_keys"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("count")
    random = np.random.default_rng(1)
    keys = (40 * random.random(3000) ** 3).astype(int).tolist()
    words = [None if key == 3 else f"w{key}" for key in keys]
    write(path, "words.csv", word=words, number=keys)
    dates = [date(2024, 1, 1 + key % 28) for key in keys]
    raw = [b"\xff" * (key % 3) for key in keys]
    prices = [Decimal(key) / 4 for key in keys]
    write(path, "typed.parquet", key=keys, day=dates, raw=raw, price=prices)
    return path


@pytest.fixture
def command(folder, monkeypatch, capsys):
    return lambda *arguments: call(folder, "count", *arguments, patch=monkeypatch, capture=capsys)


@pytest.mark.parametrize("how", [("--epsilon", "0.005"), ("--memory", "30")])
def test_json(command, folder, how):
    outcome = command("words.csv", "--key", "word", "--support", "0.05", *how, "--json")
    assert (outcome.code, outcome.err, outcome.out.count("\n")) == (0, "", 1)
    facts = json.loads(outcome.out)
    assert set(facts) == CONTRACT | MORE
    words = {"epsilon": 0.005} if how[0] == "--epsilon" else {"memory": 30}
    same = rc.count(folder / "words.csv", key="word", support=0.05, **words)
    assert facts == same.as_dict()
    assert facts["frequent"][0][0] == "w0"
    assert facts["null_keys"] > 0


@pytest.mark.parametrize(
    ("key", "first"), [("key", 0), ("day", "2024-01-01"), ("raw", ""), ("price", "0.00")]
)
def test_values_as_json_knows_them(command, key, first):
    arguments = ["typed.parquet", "--key", key, "--support", "0.1", "--epsilon", "0.01", "--json"]
    facts = json.loads(command(*arguments).out)
    value, count, error = facts["frequent"][0]
    assert value == first
    assert count > 300
    assert error == 0


def test_people_get_a_table(command):
    outcome = command("words.csv", "--key", "word", "--support", "0.05", "--epsilon", "0.005")
    assert (outcome.code, outcome.err) == (0, "")
    for word in ("words.csv: word", "at least", "at most", "w0", "%", "tuples without", "at once"):
        assert word in outcome.out


def test_values_are_shown_as_they_are(command, folder):
    """Brackets are not rich's markup."""
    write(folder, "odd [b].parquet", key=["[red]x", "[/INST]"])
    words = ["--key", "key", "--support", "0.1", "--epsilon", "0.01"]
    outcome = command("odd [b].parquet", *words)
    assert outcome.code == 0
    for word in ("odd [b].parquet", "[red]x", "[/INST]"):
        assert word in outcome.out
    assert command("words.csv", *words[2:], "--key", "\udcff").code == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--key", "word", "--support", "0.1"], "give one of both"),
        (["--key", "x", "--support", "0.1", "--epsilon", "0.01"], "no column 'x'"),
        (["--key", "word", "--support", "0.1", "--epsilon", "0.2"], "not more than epsilon"),
        (["--key", "word", "--support", "0.1", "--memory", "2"], "give about"),
        (["--key", "word", "--support", "much", "--memory", "2"], "--support"),
    ],
)
def test_mistakes_are_one_line(command, arguments, says):
    outcome = command("words.csv", *arguments, "--json")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("recollect: ")
    assert outcome.err.count("\n") == 1
    assert says in outcome.err
