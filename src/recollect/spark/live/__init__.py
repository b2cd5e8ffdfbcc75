"""The numbers of bounded joins while they run: on a screen, in a file, for Prometheus."""

from recollect.spark.live.json_lines import JsonLines, read_records
from recollect.spark.live.listener import LiveNumbers
from recollect.spark.live.numbers import Output, Record
from recollect.spark.live.prometheus import Prometheus

__all__ = ["JsonLines", "LiveNumbers", "Output", "Prometheus", "Record", "read_records"]
