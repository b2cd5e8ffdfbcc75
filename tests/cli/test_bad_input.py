"""A mistake of the user is one line on stderr and exit code 2, and leaves no file behind."""

import math
import os

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.command import KEYS, call, run, write

MANY = 60_000
MEMORY = psutil.virtual_memory().total


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("bad")
    good = {"time": range(100), "key": [i % 7 for i in range(100)]}
    write(path, "good.parquet", **good)
    write(path, "text_time.csv", time=["noon"] * 3, key=[1, 2, 3])
    write(path, "float_time.parquet", time=[0.5, 1.5], key=[1, 2])
    write(path, "text_key.csv", time=[1, 2], key=["a", "b"])
    write(path, "list_key.parquet", time=[1, 2], key=[[1], [2]])
    write(path, "null_key.csv", time=[1, 2, 3], key=[1, None, 2])
    write(path, "nan_key.parquet", time=[1, 2], key=[1.0, math.nan])
    write(path, "null_time.parquet", time=pa.array([1, None]), key=[1, 2])
    write(path, "large_time.parquet", time=pa.array([2**63], pa.uint64()), key=[1])
    zoned = pa.array([1, 2], pa.timestamp("s", "Asia/Tokyo"))
    write(path, "zoned_time.parquet", when=zoned, key=[1, 2])
    write(path, "stamps.parquet", time=pa.array([1, 2], pa.timestamp("s")), key=[1, 2])
    write(path, "backwards.csv", time=[1, 5, 3], key=[1, 2, 3])
    write(path, "no_rows.parquet", time=pa.array([], pa.int64()), key=pa.array([], pa.int64()))
    # Results have been written before the last row shows up.
    late = [*range(MANY), 7]
    write(path, "late.parquet", time=late, key=np.arange(MANY + 1) % 7)
    (path / "late_text.csv").write_text(
        "time,key\n" + "".join(f"{i},{i % 7}\n" for i in range(200_000)) + "200000,seven\n"
    )
    (path / "empty.csv").touch()
    (path / "header.csv").write_text("time,key\n")
    (path / "good.xlsx").touch()
    (path / "ragged.csv").write_text("time,key\n1,2\n3\n")
    whole = (path / "good.parquet").read_bytes()
    (path / "half.parquet").write_bytes(whole[: len(whole) // 2])
    (path / "folder.csv").mkdir()
    return path


CASES = {
    "missing column": ("good.parquet --on kee", "'kee'"),
    "missing time": ("good.parquet --time when", "'when'"),
    "time is text": ("text_time.csv", "'time' is of type string"),
    "time is a float": ("float_time.parquet", "must be a whole number"),
    "time beyond int64": ("large_time.parquet", "time"),
    "keys do not compare": ("text_key.csv", "cannot be compared"),
    "nested against plain": ("list_key.parquet", "cannot be compared"),
    "0 bytes": ("empty.csv", "empty.csv"),
    "header only": ("header.csv", "no rows"),
    "no rows": ("no_rows.parquet", "no rows"),
    "ragged": ("ragged.csv", "ragged.csv cannot be read as CSV"),
    "null keys": ("null_key.csv", "NULL in row 1"),
    "nan keys": ("nan_key.parquet", "NaN in row 1"),
    "null times": ("null_time.parquet", "NULL in row 1"),
    "null-keys word": ("good.parquet --null-keys drop", "'drop'"),
    "negative window": ("good.parquet --window -5", "-5"),
    "odd window": ("good.parquet --window soon", "'soon'"),
    "duration over numbers": ("good.parquet --window 10s", "plain numbers"),
    "half a window": ("good.parquet --window 5=", "5="),
    "no budget": ("good.parquet --budget 0", "budget 0"),
    "odd budget": ("good.parquet --budget lots", "'lots'"),
    "too many tuples": (f"good.parquet --budget {MEMORY}", "memory"),
    "too many bytes": (f"good.parquet --budget {MEMORY + 1}B", "memory"),
    "unknown policy": ("good.parquet --policy fifi", "did you mean fifo"),
    "unknown module": ("good.parquet --policy no.where:Policy", "no.where"),
    "no module name": ("good.parquet --policy ./mine:Policy", "./mine"),
    "unknown parameter": ("good.parquet --policy clock:w9=1", "'w9=1'"),
    "parameter out of range": ("good.parquet --policy gdj:percentile=2", "percentile"),
    "parameter not a number": ("good.parquet --policy clock:w0=many", "w0=many"),
    "parameter beyond memory": ("good.parquet --policy prob:counts=sketch,entries=1e30", "entries"),
    "too large a share": (f"good.parquet --budget 1{400 * '0'}%", "is too large"),
    "a time zone and none": ("zoned_time.parquet --time when=time", "time zone Asia/Tokyo"),
    "backwards": ("backwards.csv", "row 2 of the left stream: 3 after 5"),
    "late mistake": ("late.parquet", f"7 after {MANY - 1}"),
    "late text": ("late_text.csv", "late_text.csv cannot be read"),
    "half a file": ("half.parquet", "half.parquet cannot be read as Parquet"),
    "unknown ending": ("good.xlsx", "unknown ending"),
    "missing file": ("nowhere.parquet", "nowhere.parquet does not exist"),
    "a folder": ("folder.csv", "is a folder"),
    "out nowhere": ("good.parquet --out nowhere/out.parquet", "no folder nowhere"),
    "out ending": ("good.parquet --out out.xlsx", "unknown ending"),
    "out is an input": ("good.parquet --out ./good.parquet", "good.parquet is an input"),
    "out folder": ("good.parquet --out folder.csv", "is a folder"),
    "bad filter": ("good.parquet --where left.x=1", "left.x"),
    "malformed filter": ("good.parquet --where left.time!", "left.time!"),
    "bad shares": ("good.parquet --budget 9 --shares half", "'half'"),
    "shares of nothing": ("good.parquet --budget 9 --shares 0:1", "share above 0"),
    "budget not divisible": ("good.parquet --budget 1 --split", "cannot be split"),
    "lateness in rows": ("good.parquet --lateness 5rows", "5rows"),
}


def one_line(outcome, words: str) -> None:
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("recollect: ")
    assert outcome.err.count("\n") == 1
    assert outcome.err.endswith("\n")
    assert words in outcome.err


@pytest.mark.compiled
@pytest.mark.parametrize("case", CASES)
def test_join(case, folder, monkeypatch, capfd):
    arguments, words = CASES[case]
    file, *options = arguments.split()
    before = sorted(os.listdir(folder))
    # Options given twice: the last one counts.
    out = ["--out", "out.parquet", "--policy", "fifo", "--budget", "50", "--json"]
    right = "stamps.parquet" if "zone" in case else "good.parquet"
    given = ["join", file, right, *KEYS, *out, *options]
    if case in ("late mistake", "late text"):
        given[2] = file
    one_line(call(folder, *given, patch=monkeypatch, capture=capfd), words)
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--policies fifo,fifi", "fifi"),
        ("--policies ,", "at least one policy"),
        ("--budgets 5%,0", "budget 0"),
        ("--budgets ,", "budget"),
        ("--policies fifo --html nowhere/page.html", "nowhere"),
        ("--policies fifo --html folder.csv", "folder"),
        ("--policies fifo --shares 1:2:3", "1:2:3"),
    ],
)
def test_compare(options, words, folder, monkeypatch, capfd):
    before = sorted(os.listdir(folder))
    given = ["compare", "good.parquet", "good.parquet", *KEYS, *options.split(), "--json"]
    one_line(call(folder, *given, patch=monkeypatch, capture=capfd), words)
    assert sorted(os.listdir(folder)) == before


@pytest.mark.compiled
@pytest.mark.parametrize("case", ["late mistake", "half a file", "keys do not compare"])
def test_the_same_in_a_process_of_its_own(case, folder):
    arguments, words = CASES[case]
    before = sorted(os.listdir(folder))
    files = [arguments, arguments if "late" in case else "good.parquet"]
    one_line(run(folder, "join", *files, *KEYS, "--policy", "fifo", "--out", "out.csv"), words)
    assert sorted(os.listdir(folder)) == before


@pytest.mark.compiled
def test_an_old_file_survives_a_mistake(folder, monkeypatch, capfd):
    old = folder / "old.parquet"
    pq.write_table(pa.table({"precious": [1]}), old)
    given = ["join", "late.parquet", "late.parquet", *KEYS, "--budget", "50", "--policy", "fifo"]
    outcome = call(folder, *given, "--out", "old.parquet", patch=monkeypatch, capture=capfd)
    assert outcome.code == 2
    assert pq.read_table(old).column_names == ["precious"]
    old.unlink()


def test_missing_keys_can_be_skipped(folder, monkeypatch, capfd):
    for file in ("null_key.csv", "nan_key.parquet"):
        given = ["join", file, file, *KEYS, "--policy", "fifo", "--null-keys", "skip", "--json"]
        outcome = call(folder, *given, patch=monkeypatch, capture=capfd)
        assert (outcome.code, outcome.err) == (0, "")
        assert '"null_keys": 2,' in outcome.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["join", "good.parquet", "good.parquet", "--on", "key", "--time", "time"],
        ["join", "good.parquet", "good.parquet", *KEYS, "--seed", "x"],
        ["join", "good.parquet", "good.parquet", *KEYS, "--colour", "red"],
        ["join", "good.parquet"],
        ["jion"],
    ],
    ids=lambda arguments: arguments[-1],
)
def test_wrong_usage(arguments, folder, monkeypatch, capfd):
    one_line(call(folder, *arguments, patch=monkeypatch, capture=capfd), "")
