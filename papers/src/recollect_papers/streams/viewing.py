"""Who watches which television channel, from when to when."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recollect.streams.checks import require_real, require_whole
from recollect.streams.generator import Generator, Sampler
from recollect.streams.zipf import require_zipf, zipf_sampler
from recollect_papers.streams.programme import MINUTE
from recollect_papers.streams.turns import take_turns

ZAP, STAY = 1.0 * MINUTE, 40.0 * MINUTE
MOST_VIEWERS = 10**7
"""The next switch of every viewer is held in memory."""


@dataclass(frozen=True)
class ViewingStream(Generator):
    """Viewers who switch from channel to channel, each [start, end) of one channel a tuple.

    A stand-in for the viewer logs of ViSTA-TV in the paper on CLOCK (Gao, Scharrenbach, Bernstein,
    "The CLOCK Data-Aware Eviction Approach", ESWC 2014, §4.1): with 9,000 viewers, its 1,887,256
    events fill its three days. A viewer stays for a minute on average when zapping, else for 40
    minutes, with exponential lengths. Times are seconds; all viewers come in the first hour.

    Parameters
    ----------
    tuples
        Number of events, in order of their start.
    viewers
        Number of viewers.
    channels, exponent
        Popularity of the channels, as in :class:`~recollect.streams.ZipfStream`.
    zapping
        Share of events that are short.
    seed
        Which of the many logs.

    Examples
    --------
    >>> ViewingStream(tuples=3, viewers=2, seed=1).table().to_pylist()[-1]
    {'start': 2341, 'end': 2375, 'channel': 11, 'viewer': 1}
    """

    tuples: int
    viewers: int = 9_000
    channels: int = 240
    exponent: float = 0.8
    zapping: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_whole("viewers", self.viewers, least=1, most=MOST_VIEWERS)
        require_whole("channels", self.channels, least=1)
        require_zipf(self.channels, self.exponent)
        require_real("zapping", self.zapping, least=0, most=1)

    @property
    def schema(self) -> pa.Schema:
        """When, where and who."""
        return pa.schema([(n, pa.int64()) for n in ("start", "end", "channel", "viewer")])

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        for_channels, for_starts = random.spawn(2)
        channel = zipf_sampler(for_channels, self.channels, self.exponent)
        turns = take_turns(np.floor(for_starts.random(self.viewers) * 60 * MINUTE))

        def sample(times: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
            drawn = random.random((len(times), 2))
            mean = np.where(drawn[:, 0] < self.zapping, ZAP, STAY)
            # At least a second, so that no interval is empty.
            lengths = np.ceil(-mean * np.log(1 - drawn[:, 1])) + (drawn[:, 1] == 0)
            viewers, starts = turns(lengths)
            ends = (starts + lengths).astype(np.int64)
            return starts.astype(np.int64), ends, channel(len(times)), viewers

        return sample
