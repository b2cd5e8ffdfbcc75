"""Replays on Spark: the rows of the local source, each once, also over a restart."""

import time
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException

from recollect.spark.replay import register
from recollect.streams import LocalityStream, ZipfStream

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def reading(spark):
    register(spark)
    return spark


def test_batch_read_of_a_generator(reading):
    read = reading.read.format("recollect").options(
        generator="locality", tuples=5_000, seed=3, repeat=0.7, numPartitions=3
    )
    found = read.load().toArrow()
    assert found.to_pylist() == LocalityStream(5_000, repeat=0.7, seed=3).table().to_pylist()


def test_batch_read_of_a_file_with_all_kinds_of_columns(reading, tmp_path):
    start = datetime(2024, 5, 1, 12, tzinfo=UTC)
    moments = [start + timedelta(seconds=n) for n in range(100)]
    table = pa.table(
        {
            "time": pa.array(range(100), pa.int32()),
            "at": pa.array(moments, pa.timestamp("ns", "UTC")),
            "name": pa.array([None, "b"] * 50).dictionary_encode(),
            "nested": pa.array([{"x": [1.5], "y": "z"}] * 100),
            "raw": pa.array([b"\0"] * 100, pa.binary()),
        }
    )
    path = str(tmp_path / "all.parquet")
    pq.write_table(table, path)
    read = reading.read.format("recollect").options(timeUnit="10ms", startTime="2024-05-01T12:00")
    found = read.load(path).toArrow()
    # Columns of the file as they are, time stamps instead of the numbers.
    expected = table.drop(["time"]).to_pylist()
    assert found.drop(["time"]).to_pylist() == expected
    times = [start + timedelta(milliseconds=10 * n) for n in range(100)]
    assert found["time"].cast(pa.timestamp("us", "UTC")).to_pylist() == times


def test_a_restart_in_the_middle_loses_and_repeats_nothing(reading, checkpoint, tmp_path):
    stream = ZipfStream(3_000, seed=5)
    path, out = str(tmp_path / "in.parquet"), str(tmp_path / "out")
    pq.write_table(stream.table(), path)
    rows = reading.readStream.format("recollect").option("numPartitions", 2)
    writer = (
        rows.option("batchRows", 700)
        .load(path)
        .writeStream.format("parquet")
        .option("checkpointLocation", checkpoint)
        .option("path", out)
    )
    first = writer.start()
    deadline = time.monotonic() + 60
    while not any(p.numInputRows for p in first.recentProgress) and time.monotonic() < deadline:
        time.sleep(0.05)
    first.stop()
    read = reading.read.parquet(out).count()
    assert 0 < read < 3_000
    second = writer.trigger(availableNow=True).start()
    second.awaitTermination()
    batches = [p.numInputRows for p in second.recentProgress if p.numInputRows]
    assert max(batches) == 700
    found = pq.read_table(out).select(["time", "key"]).sort_by("time")
    assert found.equals(stream.table())


def test_mistakes_are_told_when_the_stream_is_opened(reading):
    read = reading.readStream.format("recollect")
    with pytest.raises(
        AnalysisException, match="unknown generator 'zip'; known are locality, zipf"
    ):
        read.options(generator="zip", tuples=5).load()
