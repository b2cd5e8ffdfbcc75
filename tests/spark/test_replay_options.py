"""What the options of a replay say, and what is wrong with them."""

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recollect.errors import InputError
from recollect.spark.replay_options import Replay
from recollect.streams import LocalityStream

ZIPF = {"generator": "zipf", "tuples": "10"}


def test_parameters_of_a_generator():
    replay = Replay.parse(
        {"generator": "locality", "Tuples": "1_000", "keys": 50, "exponent": "1", "weights": "0.5"}
    )
    assert replay.data == LocalityStream(1_000, keys=50, exponent=1, weights=[0.5])


def test_generators_of_other_packages(monkeypatch):
    """Those of recollect-papers are known by name if it is installed."""
    replay = Replay.parse({"generator": "attributes", "tuples": "9", "exponents": "0,1.5"})
    assert replay.data.exponents == (0, 1.5)
    monkeypatch.setattr("recollect.spark.replay_options.added", lambda group: {})
    message = "unknown generator 'attributes'; known are .*; more come with .* recollect-papers"
    with pytest.raises(InputError, match=message):
        Replay.parse({"generator": "attributes", "tuples": "9"})


def test_paths_hold_in_every_folder(tmp_path, monkeypatch):
    pq.write_table(pa.table({"x": [1, 2, 3]}), tmp_path / "x.parquet")
    monkeypatch.chdir(tmp_path)
    replay = Replay.parse({"path": "x.parquet"})
    assert replay.data == str(tmp_path / "x.parquet")
    assert replay.count() == 3


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "either path=… to replay a file or generator=…"),
        ({**ZIPF, "path": "x.csv"}, "either path=… to replay a file or generator=…"),
        ({"path": "/no/such.csv"}, "/no/such.csv does not exist"),
        ({"path": ""}, "a file is named by an empty text"),
        ({"generator": "gauss"}, "unknown generator 'gauss'; known are locality, zipf"),
        ({"generator": "zipf"}, "generator zipf needs to know how many rows: tuples=…"),
        ({**ZIPF, "keys": "many"}, "keys must be a whole number from 1 to .*, not 'many'"),
        ({**ZIPF, "depth": "3"}, "unknown option 'depth'; known are .*exponent"),
        ({**ZIPF, "speed": "3"}, "unknown option 'speed'; known are .*rate, batchRows"),
        ({**ZIPF, "rate": "0"}, "rate must be a number of at least .*, not 0"),
        ({**ZIPF, "rate": "nan"}, "rate must be a number of at least .*, not nan"),
        ({**ZIPF, "batchRows": "0"}, "batchRows must be a whole number of at least 1, not 0"),
        ({**ZIPF, "numPartitions": "1.5"}, "numPartitions must be a whole number .*, not 1.5"),
        ({**ZIPF, "timeUnit": "weeks"}, "timeUnit 'weeks' is not understood"),
        ({**ZIPF, "timeUnit": "0ms"}, "timeUnit '0ms' is not understood"),
        ({**ZIPF, "timeUnit": "s", "timeColumn": "at"}, "no column 'at'; it has 'time', 'key'"),
        ({**ZIPF, "startTime": "2024-05-01"}, "startTime need timeUnit"),
        ({**ZIPF, "timeUnit": "s", "startTime": "noon"}, "startTime 'noon' is not a time"),
    ],
)
def test_mistakes(options, complaint):
    with pytest.raises(InputError, match=complaint):
        Replay.parse(options)


def test_time_stamps_need_no_unit(tmp_path):
    path = str(tmp_path / "x.parquet")
    pq.write_table(pa.table({"time": pa.array([1], pa.timestamp("s"))}), path)
    complaint = f"column 'time' of {path} is of type timestamp[ms]; leave timeUnit out"
    with pytest.raises(InputError, match=re.escape(complaint)):
        Replay.parse({"path": path, "timeUnit": "s"})
