"""Where micro-batches end: arithmetic on rows, rate and time, without a running Spark."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from recollect.errors import InputError
from recollect.spark.replay import ReplaySource


def stream(**options):
    source = ReplaySource({"generator": "zipf", "tuples": "1000", **options})
    return source.streamReader(source.schema())


@pytest.fixture
def clock(monkeypatch):
    """Time that passes when the test says so."""
    now = [100.0]
    monkeypatch.setattr("recollect.spark.replay.monotonic", lambda: now[0])
    return now


def test_without_a_rate_everything_is_there():
    assert stream().latestOffset({"row": 0}, ReadAllAvailable()) == {"row": 1000}


def test_a_batch_takes_no_more_than_its_limit():
    reader = stream(batchRows="300")
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMaxRows(300)
    ends = [reader.latestOffset({"row": row}, limit)["row"] for row in (0, 300, 900, 1000)]
    assert ends == [300, 600, 1000, 1000]


def test_rows_arrive_at_the_rate(clock):
    reader = stream(rate="100")
    everything = ReadAllAvailable()
    assert reader.latestOffset({"row": 0}, everything) == {"row": 0}
    clock[0] += 2.5
    assert reader.latestOffset({"row": 0}, everything) == {"row": 250}
    clock[0] += 0.5
    assert reader.latestOffset({"row": 250}, ReadMaxRows(20)) == {"row": 270}
    clock[0] += 3600
    assert reader.latestOffset({"row": 270}, everything) == {"row": 1000}


def test_after_a_restart_the_rate_counts_from_there(clock):
    reader = stream(rate="100")
    assert reader.latestOffset({"row": 600}, ReadAllAvailable()) == {"row": 600}
    clock[0] += 1
    assert reader.latestOffset({"row": 600}, ReadAllAvailable()) == {"row": 700}


def test_available_now_does_not_wait_for_the_rate(clock):
    reader = stream(rate="100")
    reader.prepareForTriggerAvailableNow()
    assert reader.latestOffset({"row": 0}, ReadAllAvailable()) == {"row": 1000}


def test_a_batch_is_divided_among_tasks():
    reader = stream(numPartitions="4")
    ranges = [(p.value.start, p.value.stop) for p in reader.partitions({"row": 10}, {"row": 20})]
    assert ranges == [(10, 12), (12, 15), (15, 17), (17, 20)]
    assert len(reader.partitions({"row": 10}, {"row": 12})) == 2
    assert reader.partitions({"row": 10}, {"row": 10}) == []


def test_a_file_shorter_than_the_checkpoint_is_refused():
    with pytest.raises(InputError, match=r"has read 1001 rows.*only 1000"):
        stream().latestOffset({"row": 1001}, ReadAllAvailable())


def test_types_that_spark_lacks_need_a_schema(tmp_path):
    path = str(tmp_path / "unsigned.parquet")
    pq.write_table(pa.table({"n": pa.array([1, 2], pa.uint32())}), path)
    source = ReplaySource({"path": path})
    with pytest.raises(InputError, match=r"column 'n' of type uint32; .*schema\(…\)"):
        source.schema()
    reader = source.reader(StructType([StructField("n", LongType())]))
    (rows,) = reader.partitions()
    assert pa.Table.from_batches(reader.read(rows)).to_pydict() == {"n": [1, 2]}


def test_a_column_of_the_schema_that_is_not_there():
    source = ReplaySource({"generator": "zipf", "tuples": "10"})
    with pytest.raises(InputError, match="no column 'price'; it has 'time', 'key'"):
        source.reader(StructType([StructField("price", IntegerType())]))
