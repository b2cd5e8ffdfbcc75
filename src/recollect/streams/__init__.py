"""Where tuples come from and where they go: generators, file readers and file writers.

Everything here moves Arrow record batches and holds no more than a few of them at a time. The
workloads of the papers are in :mod:`recollect.streams.catalogue`.
"""

from recollect.streams.attributes import AttributesStream
from recollect.streams.autoregressive import AutoregressiveStream
from recollect.streams.bursty import BurstyStream
from recollect.streams.generator import Generator
from recollect.streams.locality_model import LocalityStream
from recollect.streams.normal_intervals import NormalIntervals
from recollect.streams.pareto import ParetoStream
from recollect.streams.programme import ProgrammeStream
from recollect.streams.ranked import RankedStream
from recollect.streams.sink import Sink, open_sink
from recollect.streams.source import Source, open_source
from recollect.streams.trend import TrendStream
from recollect.streams.uniform_intervals import UniformIntervals
from recollect.streams.viewing import ViewingStream
from recollect.streams.walk import WalkStream
from recollect.streams.wind import WindStream
from recollect.streams.zipf import ZipfStream

__all__ = [
    "AttributesStream",
    "AutoregressiveStream",
    "BurstyStream",
    "Generator",
    "LocalityStream",
    "NormalIntervals",
    "ParetoStream",
    "ProgrammeStream",
    "RankedStream",
    "Sink",
    "Source",
    "TrendStream",
    "UniformIntervals",
    "ViewingStream",
    "WalkStream",
    "WindStream",
    "ZipfStream",
    "open_sink",
    "open_source",
]
