"""Open a source of any Spark format as a stream."""

import os

from pyspark.sql import DataFrame, SparkSession

from recollect.errors import InputError
from recollect.spark import replay
from recollect.spark.pipeline.config import REPLAY, Config
from recollect.spark.pipeline.failures import KEYS, SPARK_ERRORS, blame, cause, condition
from recollect.spark.pipeline.sections import FILE_FORMATS, Source


def open_stream(spark: SparkSession, config: Config, side: str) -> DataFrame:
    """Open the source of a side.

    Files need not have a schema in the configuration: it is then taken from those that are there.
    """
    source = config.source(side)
    path, options = _where(source)
    if source.format == REPLAY:
        replay.register(spark)
    reader = spark.readStream.format(source.format).options(**options)
    if source.schema is not None:
        with blame(config, side, "schema"):
            reader = reader.schema(source.schema)
    try:
        if source.schema is None and source.format in FILE_FORMATS:
            there = spark.read.format(source.format).options(**options).load(path)
            reader = reader.schema(there.schema)
        return reader.load(path)
    except (*SPARK_ERRORS, InputError) as error:
        key = KEYS.get(condition(error), "options")
        raise config.mistake(side, key, message=cause(error)[1]) from error


def _where(source: Source) -> tuple[str | None, dict[str, str]]:
    """Return the path and the options; of files, Spark streams only folders and patterns."""
    path, options = source.path, source.options
    if path is not None and source.format in FILE_FORMATS and os.path.isfile(path):
        path, name = os.path.split(os.path.abspath(path))
        options = {**options, "pathGlobFilter": name}
    return path, options
