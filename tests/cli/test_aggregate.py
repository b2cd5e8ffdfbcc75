"""``recollect aggregate``: what it prints and writes is a contract."""

import json

import numpy as np
import pyarrow as pa
import pytest

import recollect.intervals as intervals
from recollect.streams import open_source
from tests.cli.command import call, write

KEYS = {"tuples", "constant_intervals", "page_reads", "buffer_hits", "seconds", "plan"}
FILE = ["aggregate", "flights.parquet", "--start", "dep", "--end", "arr"]
VALUE = ["--value", "fare"]
ALL = [*VALUE, "--agg", "count,sum,avg,min,max"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("aggregate")
    random = np.random.default_rng(1)
    dep = random.integers(0, 1000, 300)
    write(
        path, "flights.parquet", dep=dep, arr=dep + random.integers(1, 50, 300),
        fare=random.integers(50, 900, 300) / 4, origin=random.choice(["EWR", "JFK"], 300),
    )  # fmt: skip
    return path


@pytest.fixture
def command(folder, monkeypatch, capsys):
    return lambda *arguments: call(folder, *arguments, patch=monkeypatch, capture=capsys)


@pytest.fixture
def facts_of(command):
    def facts_of(*arguments: str) -> dict:
        outcome = command(*arguments, "--json")
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out.count("\n") == 1
        return json.loads(outcome.out)

    return facts_of


def test_one_object_in_memory_and_on_disk(facts_of, folder):
    same = intervals.aggregate(folder / "flights.parquet", "dep", "arr", "fare")
    in_memory = facts_of(*FILE, *ALL)
    assert set(in_memory) == KEYS
    assert in_memory["constant_intervals"] == same.stats.constant_intervals
    assert in_memory["tuples"] == 300
    assert (in_memory["page_reads"], in_memory["buffer_hits"]) == (0, 0)
    on_disk = facts_of(*FILE, *ALL, "--buffer-pages", "4", "--replacement", "lru")
    assert on_disk["page_reads"] > 0
    assert on_disk["constant_intervals"] == in_memory["constant_intervals"]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_one_row_per_interval(facts_of, folder, ending):
    out = folder / f"out.{ending}"
    where = "origin = JFK and fare >= 100"
    facts = facts_of(*FILE, *ALL, "--where", where, "--buffer-pages", "3", "--out", str(out))
    expected = intervals.aggregate(folder / "flights.parquet", "dep", "arr", "fare", where=where)
    written = pa.Table.from_batches(open_source(out).batches())
    assert written.column_names == ["start", "end", "count", "sum", "avg", "min", "max"]
    assert written.to_pylist() == expected.table.to_pylist()
    assert facts["constant_intervals"] == expected.stats.constant_intervals
    out.unlink()


def test_an_index_is_kept_and_asked_again(facts_of, folder):
    first = facts_of(*FILE, *VALUE, "--agg", "max", "--group-by", "origin", "--index", "kept")
    again = facts_of("aggregate", "kept", *VALUE, "--agg", "max", "--group-by", "origin")
    assert first["constant_intervals"] == again["constant_intervals"]
    for name in ("kept", "kept.columns"):
        (folder / name).unlink()


def test_groups_windows_and_spans(facts_of, folder):
    out = folder / "out.jsonl"
    question = ["--from", "100", "--to", "300", "--span", "50", "--group-by", "origin"]
    facts = facts_of(*FILE, "--agg", "count", *question, "--out", str(out))
    rows = pa.Table.from_batches(open_source(out).batches()).to_pylist()
    assert [(row["origin"], row["start"]) for row in rows] == [
        (origin, start) for origin in ("EWR", "JFK") for start in (100, 150, 200, 250)
    ]
    assert facts["constant_intervals"] == {"count": 8}
    out.unlink()


def test_people_get_a_table_and_a_page(command, folder):
    outcome = command(*FILE, *VALUE, "--html", "page.html")
    assert (outcome.code, outcome.err) == (0, "")
    for words in ("flights.parquet", "300", "intervals of count", "memory", "page.html"):
        assert words in outcome.out
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "tuples were active at once" in page
    assert page.count('class="chart"') == 5
    (folder / "page.html").unlink()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give the column of the values"),
        (["--value", "origin"], "'origin' is of type string; it must be a number"),
        (["--value", "fare", "--agg", "median"], "'median' is unknown"),
        (["--value", "fare", "--where", "fare >"], "'fare >' is not understood"),
        (["--value", "fare", "--buffer-pages", "0"], "buffer_pages must be a whole number"),
        (["--value", "fare", "--memory", "12"], "give a size, such as 2GB"),
        (["--value", "fare", "--out", "x.txt"], "x.txt"),
        (["--value", "fare", "--html", "flights.parquet"], "flights.parquet is an input"),
        (["--value", "fare", "--out", "x.csv", "--html", "x.csv"], "x.csv is written to already"),
    ],
)
def test_mistakes_are_one_line(command, folder, arguments, message):
    more = [] if "--agg" in arguments else ["--agg", "sum"]
    outcome = command(*FILE, *arguments, *more)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert [file.name for file in folder.iterdir()] == ["flights.parquet"]
