"""Whatever breaks, the result is that of an undisturbed run, row by row."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException

from recollect.spark.bounded_join import bounded_join
from recollect.spark.keeping.shared_memory import root
from tests.spark.faulty import WORDS, Faulty
from tests.spark.feeds import (
    cut,
    join_locally,
    random_events,
    run,
    start,
    stream,
    write,
    written,
)

pytestmark = pytest.mark.spark

PARTS = [
    cut(random_events(side, seed=11, rows=240, jitter=6, late=30, missing=0.02), 6) for side in "lr"
]
CLUSTER = """
import sys
from pathlib import Path
from tests.spark.faulty import main
main(Path(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    for side, parts in zip(("left", "right"), PARTS, strict=True):
        write(folder / side, parts)
    return folder


@pytest.fixture(scope="module")
def both(spark, folder):
    return [stream(spark, folder / side) for side in ("left", "right")]


@pytest.fixture(scope="module")
def undisturbed(spark, folder, both):
    """The rows that come out if nothing breaks."""
    found = run(bounded_join(*both, shards=2, **WORDS), folder / "undisturbed")
    local = join_locally(*PARTS, "10s", budget=60)
    columns = {row[1:4:2]: row for row in found.rows}  # k, l, lt, r, rt
    assert columns.keys() == local.pairs.keys()
    assert sum(found.rows.values()) == sum(local.pairs.values()) == len(columns)
    assert found.total("rebuilt") == 0
    assert found.total("evicted") > 50
    assert found.total("late") > 5
    assert found.total("null_keys") > 5
    return found


def test_a_worker_is_killed_while_it_writes_state(spark, folder, both, undisturbed):
    # A local master does not try again, so the query fails; the next one goes on.
    trap = folder / "worker.trap"
    joined = bounded_join(*both, policy=Faulty(trap=str(trap)), shards=2, **WORDS)
    query = start(joined, folder / "worker")
    while query.isActive and query.lastProgress is None:
        time.sleep(0.01)
    trap.write_text("kill")
    with pytest.raises(StreamingQueryException, match=r"crashed|exited"):
        query.awaitTermination()
    rest = run(joined, folder / "worker")
    assert rest.numbers()[0]["rebuilt"] == 2
    assert rest.rows == undisturbed.rows


def test_shared_memory_is_deleted_or_cut_off_between_micro_batches(
    spark, folder, both, undisturbed
):
    damaged = []

    def damage(name: str, how: str) -> None:
        files = list(root().glob(f"*/{query.id}*/*/*/{name}*"))
        for file in files:
            if how == "cut off":
                with file.open("r+b") as content:
                    content.truncate(file.stat().st_size // 2)
            elif how == "delete":
                file.unlink()
            else:
                shutil.rmtree(file.parent, ignore_errors=True)
        damaged.append(len({file.parent for file in files}))

    harm = {
        0: ("arrays", "delete"),
        1: ("arrays", "cut off"),
        2: ("rows", "cut off"),
        4: ("arrays", "delete all"),
    }

    def sink(batch, number):
        batch.write.mode("append").parquet(str(folder / "memory" / "out"))
        while query is None:
            time.sleep(0.01)
        if number in harm:
            damage(*harm[number])

    query = None
    query = (
        bounded_join(*both, shards=2, **WORDS).writeStream.foreachBatch(sink)
        .option("checkpointLocation", str(folder / "memory" / "checkpoint"))
        .trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    rebuilt = [
        batch["observedMetrics"]["recollect.bounded_join"].rebuilt for batch in query.recentProgress
    ]
    assert damaged == [2, 2, 2, 2]
    assert rebuilt[:6] == [0, 2, 2, 2, 0, 2]
    assert written(spark, folder / "memory") == undisturbed.rows


def test_a_cluster_loses_a_worker_a_task_and_an_executor(spark, folder, undisturbed):
    done = subprocess.run(
        [sys.executable, "-c", CLUSTER, str(folder)],
        capture_output=True, text=True, timeout=300, check=False,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert written(spark, folder / "cluster") == undisturbed.rows
    rebuilt, owners = re.search(r"rebuilt (\d+)\nowners (.+)", done.stdout).groups()
    assert int(rebuilt) >= 3
    # Their memory is given back soon after the executors have ended.
    left_over = [Path(owner) for owner in owners.split()]
    deadline = time.monotonic() + 10
    while any(map(Path.exists, left_over)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(Path.exists, left_over))
