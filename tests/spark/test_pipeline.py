"""The pipeline from end to end, run again, with more data, changed, and stage by stage."""

import json
import signal
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest

from recollect.errors import InputError, StateError
from recollect.join.window import Duration
from recollect.spark.live import read_records
from recollect.spark.pipeline import join as joining
from recollect.spark.pipeline import parse_config, run_pipeline
from recollect.spark.pipeline.config import Sink
from recollect.spark.pipeline.queries import cause, patience
from recollect.spark.pipeline.stages import _outdated

pytestmark = pytest.mark.spark

START = datetime(2026, 1, 1)
WINDOW = 30
CONFIG = """
[pipeline]
name = "asked and told"
out = "{folder}/out"

[left]
format = "json"
path = "{folder}/left"
schema = "key STRING, ts STRING, n INT"
columns = {{ ts = "CAST(ts AS TIMESTAMP)" }}

[right]
format = "json"
path = "{folder}/right"
schema = "key STRING, ts TIMESTAMP, n INT, extra STRING"

[join]
on = "key"
time = "ts"
window = "{window} seconds"
policy = "{policy}"
shards = 2
lateness = "1 minute"

[quality]
slice = "1 minute"
"""


def rows(start: int, count: int, step: int):
    """Return times in seconds and keys; every tenth key is missing."""
    return [
        (at, None if at % 10 == 9 else "abc"[at % 3]) for at in range(start, start + count, step)
    ]


def write(folder, side: str, file: int, data) -> None:
    (folder / side).mkdir(exist_ok=True)
    lines = [
        json.dumps({"key": key, "ts": str(START + timedelta(seconds=at)), "n": at})
        for at, key in data
    ]
    (folder / side / f"{file}.json").write_text("\n".join(lines))


def exact(left, right) -> int:
    return sum(
        key is not None and key == other and abs(at - time) <= WINDOW
        for at, key in left
        for time, other in right
    )


def test_a_run_a_second_one_and_one_that_does_not_fit(spark, tmp_path):
    def run(*stages: str, policy: str = "clock"):
        text = CONFIG.format(folder=tmp_path, window=WINDOW, policy=policy)
        return run_pipeline(parse_config(text, "p.toml"), lambda: spark, stages)

    with pytest.raises(InputError, match="stage 'quality' needs what 'join' leaves in"):
        run("quality")

    left, right = rows(0, 120, 1), rows(0, 120, 2)
    write(tmp_path, "left", 0, left)
    write(tmp_path, "right", 0, right)
    first = run()
    assert first["ingest"]["left"] | {"seconds": 0} == {
        "read": 120, "null_keys": 12, "late": 0, "duplicates": 0, "kept": 108, "seconds": 0,
    }  # fmt: skip
    assert first["profile"]["left"]["tuples"] == 108
    assert first["profile"]["right"]["distinct"] == 3
    assert first["profile"]["left"]["b"] < 0.2  # the keys come in turn
    assert first["join"]["results"] == exact(left, right) > 0
    assert first["quality"]["recall"] == 1
    assert first["quality"]["foreign"] == 0
    assert [part["slice_start"] for part in first["quality"]["by_slice"]] == [
        "2026-01-01 00:00:00", "2026-01-01 00:01:00",
    ]  # fmt: skip
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(words in page for words in ("asked and told", "<h2>The streams</h2>"))
    results = spark.read.parquet(str(tmp_path / "out" / "results"))
    assert results.columns == ["key", "left_ts", "left_n", "right_ts", "right_n", "extra"]

    # More rows: both queries go on where they stopped, and the pairs of old and new rows are found.
    more_left, more_right = rows(120, 60, 1), rows(120, 60, 2)
    write(tmp_path, "left", 1, more_left)
    write(tmp_path, "right", 1, more_right)
    second = run("ingest", "join")
    assert second["ingest"]["right"]["read"] == 90
    assert second["join"]["results"] == exact(left + more_left, right + more_right)
    assert second["join"]["batches"] > first["join"]["batches"]
    assert not (tmp_path / "out" / "profile.json").exists()  # it spoke of fewer rows

    # Another policy is another join: its state cannot be continued, and old numbers do not stay.
    write(tmp_path, "left", 2, rows(180, 10, 1))
    with pytest.raises(StateError, match="policy") as raised:
        run("ingest", "join", policy="fifo")
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out" / "join.json").exists()
    assert not spark.streams.active

    with pytest.raises(InputError, match="unknown stage 'jion'; the stages are ingest, profile,"):
        run("jion")


def test_numbers_that_speak_of_others_are_outdated_with_them():
    assert _outdated(["ingest", "join"]) == [
        "ingest", "join", "profile", "compare", "quality", "report",
    ]  # fmt: skip
    assert _outdated(["profile"]) == ["profile", "report"]
    assert _outdated(["quality"]) == ["quality", "report"]
    assert _outdated(["report"]) == ["report"]


@pytest.mark.thorough
def test_ingest_and_join_run_together_until_somebody_has_had_enough(spark, tmp_path, monkeypatch):
    left, right = rows(0, 60, 1), rows(0, 60, 2)
    write(tmp_path, "left", 0, left)
    write(tmp_path, "right", 0, right)
    text = CONFIG.format(folder=tmp_path, window=WINDOW, policy="clock")
    config = parse_config(text + '[sink]\ntrigger = "1 second"\nduration = "1 hour"\n', "p.toml")
    counts = tmp_path / "out" / "ingest.jsonl"

    @contextmanager
    def until_both_are_read(_):
        yield lambda: {record["join"] for record in read_records(counts)} == {"left", "right"}

    monkeypatch.setattr(joining, "patience", until_both_are_read)
    numbers = run_pipeline(config, lambda: spark, ("ingest", "join"))
    assert numbers["ingest"]["left"]["kept"] == 54
    assert numbers["join"]["results"] == exact(left, right)
    assert not spark.streams.active


def test_the_first_ctrl_c_is_a_wish_and_the_second_an_order():
    with patience(Sink(trigger=Duration(1))) as is_over:
        assert not is_over()
        signal.raise_signal(signal.SIGINT)
        assert is_over()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with patience(Sink(trigger=Duration(1), duration=Duration(0))) as is_over:
        assert is_over()
    with patience(Sink()), pytest.raises(KeyboardInterrupt):  # ends by itself, but not now
        signal.raise_signal(signal.SIGINT)


WORKER = """\
[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: [PYTHON_EXCEPTION] An \
exception was thrown from the Python worker: Traceback (most recent call last):
  File "x.py", line 3, in f
    raise StateError(text)
recollect.errors.StateError: another join:
 9 tuples
 SQLSTATE: 38000 SQLSTATE: XXKST
=== Streaming Query ===
Identifier: x
"""
CAST = """\
[CAST_INVALID_INPUT] The value 'x' cannot be cast. SQLSTATE: 22018
== SQL (line 1, position 1) ==
CAST(t AS INT)
"""


def test_the_cause_of_a_failure_is_found_among_much_else():
    assert cause(ValueError(WORKER)) == ("StateError", "another join: 9 tuples")
    assert cause(ValueError(CAST)) == ("", "The value 'x' cannot be cast.")
