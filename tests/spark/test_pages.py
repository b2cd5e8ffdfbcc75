"""Every block of the pages that need Spark is run."""

import pytest

from tests.page_files import frames_of, names_of, write_files
from tests.pages import in_folder, pages, run_page, uses_spark

pytestmark = pytest.mark.spark


@pytest.fixture
def folder(spark, tmp_path):
    """A folder that relative paths begin in, for Java too."""
    jvm, configuration = spark._jvm, spark._jsc.hadoopConfiguration()
    files = jvm.org.apache.hadoop.fs.FileSystem.get(configuration)
    before = files.getWorkingDirectory()
    files.setWorkingDirectory(jvm.org.apache.hadoop.fs.Path(str(tmp_path)))
    write_files(tmp_path)
    with in_folder(tmp_path):
        yield tmp_path
    files.setWorkingDirectory(before)


@pytest.mark.parametrize("page", [page for page in pages() if uses_spark(page)])
def test_every_block_runs(page, spark, folder):
    names = {"spark": spark} | names_of(page) | frames_of(page, spark)
    stand_ins = {
        "postgresql://shop@db/shop": f"sqlite:///{folder}/shop.db",
        "port=9108": "port=0",
    }
    for _ in run_page(page, names, stand_ins):
        for query in spark.streams.active:
            query.processAllAvailable()
            query.stop()
    if "live" in names:
        spark.streams.removeListener(names["live"])
