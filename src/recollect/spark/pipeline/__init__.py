"""The pipeline: from raw sources through the bounded join to a report, out of one TOML file."""

from recollect.spark.pipeline.config import Config, parse_config, read_config
from recollect.spark.pipeline.run import Watch
from recollect.spark.pipeline.stages import NAMES, run_pipeline
from recollect.toml.tables import ConfigError

__all__ = [
    "NAMES", "Config", "ConfigError", "Watch", "parse_config", "read_config", "run_pipeline",
]  # fmt: skip
