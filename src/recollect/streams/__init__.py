"""Where tuples come from and where they go: generators, file readers and file writers.

Everything here moves Arrow record batches and holds no more than a few of them at a time.
"""

from recollect.streams.generator import Generator
from recollect.streams.locality_model import LocalityStream
from recollect.streams.sink import Sink, open_sink
from recollect.streams.source import Source, open_source
from recollect.streams.trend import TrendStream
from recollect.streams.uniform_intervals import UniformIntervals
from recollect.streams.walk import WalkStream
from recollect.streams.zipf import ZipfStream

__all__ = [
    "Generator",
    "LocalityStream",
    "Sink",
    "Source",
    "TrendStream",
    "UniformIntervals",
    "WalkStream",
    "ZipfStream",
    "open_sink",
    "open_source",
]
