"""The generators of the papers, beside those of :mod:`recollect.streams`."""

from recollect_papers.streams.attributes import AttributesStream
from recollect_papers.streams.autoregressive import AutoregressiveStream
from recollect_papers.streams.bursty import BurstyStream
from recollect_papers.streams.normal_intervals import NormalIntervals
from recollect_papers.streams.pareto import ParetoStream
from recollect_papers.streams.programme import ProgrammeStream
from recollect_papers.streams.ranked import RankedStream
from recollect_papers.streams.viewing import ViewingStream
from recollect_papers.streams.wind import WindStream

__all__ = [
    "AttributesStream",
    "AutoregressiveStream",
    "BurstyStream",
    "NormalIntervals",
    "ParetoStream",
    "ProgrammeStream",
    "RankedStream",
    "ViewingStream",
    "WindStream",
]
