"""Times beyond Python's: no crash and no digit lost, with pandas and without."""

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recollect.streams import open_sink
from recollect.streams.python_values import python_values

COMMAND = "import recollect_command; recollect_command.main()"
FAR = [
    pa.array([2**62, None], pa.timestamp("s")),
    pa.array([-(2**62)], pa.timestamp("us", "UTC")),
    pa.array([-(10**6), 2**31 - 1], pa.date32()),
    pa.array([2**62], pa.duration("ms")),
]
FINE = [
    pa.array([1, None], pa.timestamp("ns")),
    pa.array([1], pa.timestamp("ns", "Europe/Berlin")),
    pa.array([1], pa.time64("ns")),
    pa.array([1], pa.duration("ns")),
    pa.array([1], pa.timestamp("ns")).dictionary_encode(),
]
NESTED = [
    pa.array([[1], None, []], pa.list_(pa.timestamp("ns"))),
    pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.time64("ns"))),
    pa.array([{"x": 1, "y": [{"z": 1}]}, None],
             pa.struct({"x": pa.timestamp("ns"), "y": pa.list_(pa.struct({"z": pa.date32()}))})),
]  # fmt: skip


@pytest.mark.parametrize("array", [*FAR, *FINE, *NESTED], ids=lambda array: str(array.type))
def test_every_value_has_a_python_value(array):
    values = python_values(array)
    assert len(values) == len(array)
    assert [value is None for value in values] == array.is_null().to_pylist()
    assert python_values(array[:0]) == []


def test_no_digit_is_lost():
    assert python_values(FINE[0]) == ["1970-01-01 00:00:00.000000001", None]
    assert python_values(FINE[2]) == ["00:00:00.000000001"]
    assert [str(value) for value in python_values(FINE[3])] == ["0.000000001 s"]
    assert python_values(NESTED[0]) == [["1970-01-01 00:00:00.000000001"], None, []]
    assert python_values(NESTED[1])[0] == [("a", "00:00:00.000000001")]


@pytest.mark.parametrize("array", [*FAR, *FINE[:4], *NESTED], ids=lambda array: str(array.type))
def test_json_lines_hold_them(tmp_path, array):
    batch = pa.record_batch({"a": array})
    with open_sink(tmp_path / "a.jsonl", batch.schema) as sink:
        sink.write(batch)
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == len(array)


def test_json_lines_have_all_digits(tmp_path):
    arrays = {"at": FINE[1], "day": FINE[2], "took": FINE[3]}
    batch = pa.record_batch(arrays)
    with open_sink(tmp_path / "a.jsonl", batch.schema) as sink:
        sink.write(batch)
    assert (tmp_path / "a.jsonl").read_text() == (
        '{"at": "1970-01-01T01:00:00.000000001+01:00", "day": "00:00:00.000000001",'
        ' "took": 1e-09}\n'
    )


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        ("count a.parquet --key ts --support 0.5 --epsilon 0.1 --json", 0, "00:00:00.000000001"),
        (
            "join a.parquet a.parquet --on k --time ts --window 1s --out o.jsonl",
            2,
            "2 after",
        ),
        ("profile a.parquet --key k --time ts", 2, "01 00:00:00.000000002, but"),
        ("join b.parquet b.parquet --on k --time k --window 1 --out o.jsonl", 0, ""),
        (
            "aggregate c.parquet --start s --end e --agg count",
            2,
            "00000005",
        ),
    ],
)
def test_commands_without_pandas(tmp_path, words, code, text):
    times = pa.array([3, 2, 2, 1, 1, 1, 1], pa.timestamp("ns"))
    pq.write_table(pa.table({"ts": times, "k": range(7)}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"k": range(7), "ts": times}), tmp_path / "b.parquet")
    spans = {"s": pa.array([5], pa.timestamp("ns")), "e": pa.array([1], pa.timestamp("ns"))}
    pq.write_table(pa.table(spans), tmp_path / "c.parquet")
    (tmp_path / "none" / "pandas").mkdir(parents=True)
    (tmp_path / "none" / "pandas" / "__init__.py").write_text("raise ImportError('none here')")
    path = os.pathsep.join([str(tmp_path / "none"), *(place for place in sys.path if place)])
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *words.split()],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode == code, done.stderr
    assert text in done.stdout + done.stderr
