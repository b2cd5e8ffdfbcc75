"""The session: settings by master, the user's own on top, and the one that runs is kept."""

import importlib
import sys

import pyarrow as pa
import pytest

from recollect.errors import InputError, MissingExtraError
from recollect.spark.session import cores_here, defaults, session

pytestmark = pytest.mark.spark


def use_project(batches):
    for module in ("recollect.streams", "recollect.testing"):
        importlib.import_module(module)
    yield from batches


def test_workers_find_the_modules_of_the_driver(spark):
    assert spark.range(10).mapInArrow(use_project, "id long").count() == 10


def test_workers_start_with_the_library_imported(spark):
    def imported(batches):
        import sys

        there = ["recollect.spark.operators" in sys.modules, "numba" in sys.modules]
        yield pa.RecordBatch.from_pydict({"there": there})

    workers = spark.range(1, numPartitions=1).mapInArrow(imported, "there boolean")
    assert [row.there for row in workers.collect()] == [True, True]


def test_own_settings_win_and_the_rest_are_defaults(spark):
    assert spark.conf.get("spark.driver.memory") == "1g"
    assert spark.conf.get("spark.app.name") == "recollect tests"
    assert spark.conf.get("spark.ui.enabled") == "false"
    assert "RocksDB" in spark.conf.get("spark.sql.streaming.stateStore.providerClass")


def test_the_running_session_is_returned(spark):
    assert session() is spark
    assert session(master="local[2]") is spark


def test_the_running_session_takes_settings(spark):
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(key)
    session(config={key: 17})
    assert spark.conf.get(key) == "17"
    spark.conf.set(key, before)


def test_another_master_than_the_running_one_is_refused(spark):
    with pytest.raises(InputError, match=r"runs on local\[2\] already.*local\[7\]"):
        session(master="local[7]")


@pytest.mark.parametrize(
    ("master", "cores"),
    [
        ("local", 1),
        ("local[3]", 3),
        ("local[3, 2]", 3),
        ("local-cluster[2,3,512]", 6),
        ("spark://host:7077", None),
        ("yarn", None),
    ],
)
def test_cores(master, cores):
    assert cores_here(master) == cores


def test_local_settings_stay_local():
    here, elsewhere = defaults("local[3]"), defaults("yarn")
    assert here["spark.sql.shuffle.partitions"] == "3"
    assert elsewhere.items() <= here.items()
    for key in (
        "spark.sql.streaming.checkpointFileManagerClass",
        "spark.python.daemon.module",
        "spark.ui.enabled",
    ):
        assert key in here
        assert key not in elsewhere


def test_executors_fit_into_their_local_cluster():
    assert defaults("local-cluster[2,1,700]")["spark.executor.memory"] == "700m"


def test_old_spark_is_refused(monkeypatch):
    monkeypatch.setattr("pyspark.__version__", "4.1.4")
    with pytest.raises(MissingExtraError, match=r"PySpark 4\.1\.4 is too old"):
        session()


def test_missing_spark_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'recollect\[spark\]'"):
        session()
