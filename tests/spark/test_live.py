"""What bounded joins do is known batch by batch, whatever happens to the query."""

import json
import logging
import os
import threading
from uuid import UUID

import pytest
from pyspark.sql import functions

from recollect.spark.live import LiveNumbers
from recollect.spark.live.numbers import FIELDS, Numbers
from tests.spark.events import progress, query, store, terminated

pytestmark = pytest.mark.spark


@pytest.fixture
def records():
    return []


@pytest.fixture
def live(records):
    return LiveNumbers(records.append)


def test_a_record_has_everything_and_is_json(live, records):
    numbers = Numbers(**{name: number for number, name in enumerate(FIELDS, 1)})
    join = store("join", 7, 700, flushes=2, **{"SnapshotLastUploaded.partition_0_default": -1})
    watermark = "2026-01-01T00:00:21.000Z"
    stores = [join, store("dedupe", 1, 50)]
    live.onQueryProgress(
        progress(4, {"recollect.ads": numbers}, watermark=watermark, stores=stores, name="clicks")
    )
    (record,) = json.loads(json.dumps(records))
    assert {name: record[name] for name in FIELDS} == numbers.__dict__
    assert record | {"totals": None} == record | {
        "join": "ads",
        "query": "clicks",
        "query_id": str(UUID(int=1)),
        "run_id": str(UUID(int=2)),
        "batch": 4,
        "duration_ms": 800,
        "input_rows": 40_000,
        "rows_per_second": 50_000.0,
        "watermark": watermark,
        "repeated": False,
        "store_rows": 8,
        "store_bytes": 750,
        "stores": [
            {"operator": "join", "rows": 7, "bytes": 700, "metrics": {"flushes": 2}},
            {"operator": "dedupe", "rows": 1, "bytes": 50, "metrics": {}},
        ],
        "totals": None,
    }


def test_totals_add_up_counts_and_keep_the_peaks_of_levels(live, records):
    for batch, (results, buffered) in enumerate([(5, 100), (7, 80)]):
        numbers = Numbers(results=results, buffered=buffered, buffered_bytes=buffered * 10)
        live.onQueryProgress(progress(batch, {"recollect.ads": numbers}))
    totals = live.totals(query())["ads"]
    assert totals == records[-1]["totals"]
    assert (totals["batches"], totals["results"]) == (2, 12)
    assert (totals["peak_buffered"], totals["peak_buffered_bytes"]) == (100, 1000)


def test_an_empty_batch_counts_nothing_and_leaves_levels_as_they_were(live, records):
    live.onQueryProgress(progress(0, {"recollect.ads": Numbers(results=5, buffered=100)}))
    live.onQueryProgress(progress(1, {"recollect.ads": None}))
    assert (records[1]["results"], records[1]["buffered"]) == (0, 100)
    assert live.totals(query())["ads"]["results"] == 5


def test_a_batch_that_runs_again_after_a_restart_is_shown_but_not_counted(live, records):
    for batch, run in [(0, 2), (1, 2), (1, 3), (2, 3)]:
        event = progress(batch, {"recollect.ads": Numbers(results=5)}, runId=UUID(int=run))
        live.onQueryProgress(event)
    assert [record["repeated"] for record in records] == [False, False, True, False]
    assert live.totals(query())["ads"]["results"] == 15


def test_joins_and_queries_are_told_apart(live, records):
    other = UUID(int=9)
    two = {"recollect.ads": Numbers(results=1), "recollect.users": Numbers(results=2)}
    live.onQueryProgress(progress(0, two))
    live.onQueryProgress(progress(0, {"recollect.ads": Numbers(results=4)}, id=other))
    assert [record["join"] for record in records] == ["ads", "users", "ads"]
    assert {name: t["results"] for name, t in live.totals(query()).items()} == {
        "ads": 1,
        "users": 2,
    }
    assert live.totals(query(other))["ads"]["results"] == 4


def test_other_observations_are_left_alone(live, records):
    live.onQueryProgress(progress(0, {"mine": Numbers(results=1)}))
    assert records == []
    assert live.totals(query()) == {}


def test_what_is_not_known_is_none(live, records):
    event = progress(
        0,
        {"recollect.ads": Numbers()},
        rows_per_second=float("inf"),
        watermark="1970-01-01T00:00:00.000Z",
    )
    live.onQueryProgress(event)
    assert records[0]["rows_per_second"] is None
    assert records[0]["watermark"] is None


def test_a_failing_output_is_named_once_and_harms_nobody(records, caplog):
    def full(record):
        raise OSError(28, "No space left on device")

    live = LiveNumbers(full, records.append)
    with caplog.at_level(logging.WARNING):
        for batch in range(3):
            live.onQueryProgress(progress(batch, {"recollect.ads": Numbers()}))
    assert len(records) == 3
    (warning,) = caplog.messages
    assert "No space left on device" in warning
    assert "full" in warning


def test_waiting_ends_with_the_query_of_this_run(live):
    live.onQueryTerminated(terminated(run=UUID(int=7)))
    assert not live.wait(query(), timeout=0.05)
    threading.Timer(0.05, live.onQueryTerminated, [terminated(exception="boom")]).start()
    assert live.wait(query(), timeout=10)


@pytest.fixture
def listening(spark, live):
    spark.streams.addListener(live)
    yield live
    spark.streams.removeListener(live)


def test_a_real_query_and_its_restart(spark, listening, records, tmp_path, checkpoint):
    source = tmp_path / "source"
    source.mkdir()
    for number, rows in enumerate([5, 0, 7]):
        lines = (json.dumps({"v": v}) for v in range(rows))
        file = source / f"{number}.json"
        file.write_text("\n".join(lines))
        os.utime(file, (number, number))  # Spark reads the oldest file first
    rows = spark.readStream.schema("v long").option("maxFilesPerTrigger", 1).json(str(source))
    values = dict.fromkeys(FIELDS, functions.lit(1)) | {
        "results": functions.col("v"),
        "buffered": functions.lit(10),
    }
    sums = [functions.sum(value).alias(name) for name, value in values.items()]
    writer = (
        rows.observe("recollect.test", *sums)
        .writeStream.format("noop")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
    )

    def run():
        started = writer.start()
        started.awaitTermination()
        assert listening.wait(started)
        return listening.totals(started)["test"]

    first = run()
    assert sorted(record["input_rows"] for record in records) == [0, 5, 7]
    assert sorted(record["buffered"] for record in records)[-1] == 70
    assert (first["batches"], first["rows_in"], first["results"]) == (3, 12, 10 + 21)
    for lost in tmp_path.glob("checkpoint/commits/*2*"):  # Spark must run this batch again
        lost.unlink()
    assert run() == first
    assert [record["repeated"] for record in records] == [False, False, False, True]
    assert records[-1]["run_id"] != records[0]["run_id"]


def test_a_query_that_fails_ends_the_waiting_too(spark, listening, checkpoint):
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 2).load()
    query = (
        rows.select(functions.raise_error(functions.lit("boom")))
        .writeStream.format("noop")
        .option("checkpointLocation", checkpoint)
        .start()
    )
    with pytest.raises(Exception, match="boom"):
        query.awaitTermination()
    assert listening.wait(query)
