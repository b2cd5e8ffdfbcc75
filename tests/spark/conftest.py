"""One Spark session for all tests, as small as it gets."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FAST_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options for Java: short tests end before thorough optimisation pays."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    from recollect.spark.session import session

    folder = tmp_path_factory.mktemp("spark")
    made = session(
        "recollect tests",
        "local[2]",
        {
            "spark.driver.extraJavaOptions": FAST_START,
            "spark.driver.memory": "1g",
            "spark.local.dir": str(folder / "local"),
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": 2,
            "spark.sql.streaming.metricsEnabled": False,
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        },
    )
    yield made
    made.stop()


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    """A folder for the checkpoint of a query."""
    return os.fspath(tmp_path / "checkpoint")
