"""What television channels show: one programme after the other on each, all in order of start."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recollect.streams.checks import require_whole
from recollect.streams.generator import Generator, Sampler
from recollect_papers.streams.turns import take_turns

MINUTE = 60
LENGTHS = np.array([15, 30, 45, 60, 90, 120]) * float(MINUTE)
CHANCES = np.array([0.40, 0.35, 0.10, 0.10, 0.03, 0.02])
MOST_CHANNELS = 10**7
"""The next programme of every channel is held in memory."""


@dataclass(frozen=True)
class ProgrammeStream(Generator):
    """Programmes [start, end) without gaps on every channel, on a grid of 15 minutes.

    A stand-in for the programme guide of ViSTA-TV in the paper on CLOCK (Gao, Scharrenbach,
    Bernstein, "The CLOCK Data-Aware Eviction Approach", ESWC 2014, §4.1): with 240 channels, 31,960
    programmes fill its three days. Times are seconds; the channels start together at time 0.

    Parameters
    ----------
    tuples
        Number of programmes.
    channels
        Number of channels.
    seed
        Which of the many schedules.

    Examples
    --------
    >>> ProgrammeStream(tuples=4, channels=2, seed=1).table().to_pylist()[-1]
    {'start': 2700, 'end': 6300, 'channel': 0, 'programme': 3}
    """

    tuples: int
    channels: int = 240
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_whole("channels", self.channels, least=1, most=MOST_CHANNELS)

    @property
    def schema(self) -> pa.Schema:
        """When, where and what; programmes are numbered in order."""
        return pa.schema([(n, pa.int64()) for n in ("start", "end", "channel", "programme")])

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        turns = take_turns(np.zeros(self.channels))
        steps = np.cumsum(CHANCES)[:-1]

        def sample(times: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
            lengths = LENGTHS[np.searchsorted(steps, random.random(len(times)), "right")]
            channels, starts = turns(lengths)
            ends = (starts + lengths).astype(np.int64)
            return starts.astype(np.int64), ends, channels, times

        return sample
