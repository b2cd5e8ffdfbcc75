"""The same stream at other times: busy periods full of arrivals, quiet ones with few."""

from dataclasses import dataclass, field
from math import log1p
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from recollect.errors import InputError
from recollect.streams.checks import require_real
from recollect.streams.generator import Generator, Sampler

QUIET, BUSY = 0, 1


@dataclass(frozen=True)
class BurstyStream(Generator):
    """A stream with arrival times from a process that switches between busy and quiet.

    Both kinds of period have random (exponential) lengths, and arrivals within a period are
    independent of each other (Poisson). Times are whole numbers, so tuples may share one. The
    real streams of the papers are bursty: a buffer that suffices on average then does not always.

    Parameters
    ----------
    stream
        Any stream with a column ``time``; its other columns stay as they are.
    busy, quiet
        Mean length of a period, in time units.
    busy_rate, quiet_rate
        Mean number of tuples per time unit; ``quiet_rate`` may be 0.
    seed
        Which of the many sequences of times.

    Examples
    --------
    >>> from recollect.streams import ZipfStream
    >>> calm = ZipfStream(tuples=12, keys=10)
    >>> bursty = BurstyStream(calm, busy=2, quiet=10, busy_rate=3.0, quiet_rate=0.1, seed=2)
    >>> bursty.table()["time"].to_pylist()
    [11, 13, 13, 15, 24, 24, 29, 31, 31, 31, 31, 31]
    >>> bursty.table()["key"] == calm.table()["key"]
    True
    >>> round(bursty.mean_rate, 3)
    0.583
    """

    stream: Generator
    busy: float = 100.0
    quiet: float = 900.0
    busy_rate: float = 9.1
    quiet_rate: float = 0.1
    seed: int = 0
    tuples: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "tuples", self.stream.tuples)
        super().__post_init__()
        for name in ("busy", "quiet", "busy_rate"):
            require_real(name, getattr(self, name), least=1e-6, most=1e12)
        require_real("quiet_rate", self.quiet_rate, least=0, most=self.busy_rate)
        if "time" not in self.schema.names:
            raise InputError(
                f"{type(self.stream).__name__} has no column 'time' that could become bursty;"
                f" it has {', '.join(map(repr, self.schema.names))}"
            )

    @property
    def schema(self) -> pa.Schema:
        """The columns of the stream."""
        return self.stream.schema

    @property
    def mean_rate(self) -> float:
        """Tuples per time unit in the long run."""
        whole = self.busy * self.busy_rate + self.quiet * self.quiet_rate
        return whole / (self.busy + self.quiet)

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        sample = self.stream.sampler(np.random.default_rng(self.stream.seed))
        place = self.schema.names.index("time")
        rates = np.array([self.quiet_rate, self.busy_rate])
        lengths = np.array([self.quiet, self.busy])
        busy_share = self.busy / (self.busy + self.quiet)
        period = BUSY if random.random() < busy_share else QUIET
        # The clock, the end of the period, and its kind; what is left of an exponential length
        # has the same law as the whole.
        state = np.array([0.0, -lengths[period] * log1p(-random.random()), period])

        def timed(times: NDArray[np.int64]) -> list[NDArray[Any]]:
            columns = list(sample(times))
            arrivals = np.empty(len(times), np.int64)
            _advance(random, rates, lengths, state, arrivals)
            columns[place] = arrivals
            return columns

        return timed


@njit(cache=True)
def _advance(
    random: np.random.Generator,
    rates: NDArray[np.float64],
    lengths: NDArray[np.float64],
    state: NDArray[np.float64],
    arrivals: NDArray[np.int64],
) -> None:
    """Move the clock to one arrival after the other.

    An arrival comes once an exponential amount of expected arrivals has gone by; a period that
    ends before uses up its part of the amount.
    """
    clock, end, period = state[0], state[1], int(state[2])
    for i in range(arrivals.size):
        amount = -log1p(-random.random())
        while amount >= (end - clock) * rates[period]:
            amount -= (end - clock) * rates[period]
            clock = end
            period = 1 - period
            end = clock - lengths[period] * log1p(-random.random())
        clock += amount / rates[period]
        arrivals[i] = int(clock)
    state[0], state[1], state[2] = clock, end, period
