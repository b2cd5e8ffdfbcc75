"""Caches side by side, in Python and with ``recollect compare STREAM``."""

import json

import numpy as np
import pyarrow as pa
import pytest

from recollect.errors import BudgetError, InputError
from recollect.lookup import lookup
from recollect.lookup.compare import compare_caches, online_policy_names
from recollect_papers.theory import lfd_hits
from tests.cli.command import call, write

KEYS = np.random.default_rng(3).zipf(1.3, 2_000) % 200
WORDS = ["--on", "k", "--policies", "lru,sieve", "--budgets", "10,20%"]


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    write(tmp_path, "s.parquet", k=KEYS, n=list(range(2_000)))
    return lambda *words: call(
        tmp_path, "compare", "s.parquet", *words, patch=monkeypatch, capture=capsys
    )


def test_hits_are_those_of_lookups(command):
    done = command(*WORDS, "--opt", "--json")
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    rows = json.loads(done.out)["rows"]
    sizes = {"10": 10, "20%": round(0.2 * len(np.unique(KEYS)))}
    assert [(row["policy"], row["budget"]) for row in rows] == [
        (policy, budget) for policy in ("lru", "sieve", "lfd") for budget in sizes
    ]
    goods = pa.table({"k": np.unique(KEYS), "price": np.unique(KEYS) / 2})
    for row in rows:
        size = sizes[row["budget"]]
        assert row["cache"] == size
        stats = lookup(pa.table({"k": KEYS}), goods, on="k", cache=size, policy=row["policy"]).stats
        assert row["results"] == stats.hits
        assert row["recall"] == stats.hit_rate == stats.hits / 2_000
        assert row["gap"] == pytest.approx(1 - stats.hits / lfd_hits(KEYS, size))
    without = json.loads(command(*WORDS, "--json").out)["rows"]
    assert len(without) == 4
    assert not any("gap" in row for row in without)


def test_people_see_the_gap(command):
    lines = [line for line in command(*WORDS, "--opt").out.splitlines() if "%" in line]
    assert "lfd" in lines[1]
    assert all("(−" in line for line in lines[2:])
    assert "−" not in command(*WORDS).out


def test_other_keys():
    """Nothing of a key but whether it is the same; NULLs are not looked up."""
    stream = pa.table({"a": ["x", None, "y", "x"], "b": [1, 1, 2, 1]})
    words = {"policies": ["lru", "lfd"], "budgets": [1]}
    by_both = compare_caches(stream, on="a=name,b", **words)
    assert [run.results for run in by_both] == [0, 1]
    assert [run.recall for run in by_both] == [0, 1 / 3]


def test_mistakes(command):
    for words, message in (
        (["--window", "9"], "--window is for the join of two streams, and s.parquet is only one"),
        (["--html", "x.html"], "--html is for the join"),
        (["--on", "no"], "has no single column 'no'"),
        (["--policies", "lruu"], "did you mean lru?"),
        (["s.parquet", "--time", "n"], "a join of two streams needs --time and --window"),
    ):
        done = command("--on", "k", *words)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert message in done.err
    with pytest.raises(BudgetError, match="a share of the keys, not 3MB"):
        compare_caches(pa.table({"k": [1]}), on="k", policies=["lru"], budgets=["3MB"])
    with pytest.raises(InputError, match="no key columns"):
        compare_caches(pa.table({"k": [1]}), on="", policies=["lru"], budgets=[1])


def test_all_that_know_no_future():
    assert {"s3-fifo", "heeb", "lru"} < set(online_policy_names())
    assert "lfd" not in online_policy_names()
