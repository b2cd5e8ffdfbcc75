"""Wind speeds reported by many sensors, to be joined with each other where they are equal."""

from dataclasses import dataclass
from math import hypot, pi, sqrt

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from recollect.streams.checks import require_real, require_whole
from recollect.streams.generator import Generator, Sampler

MOST_SENSORS = 10**7
"""The wind at every sensor is held in memory."""


@dataclass(frozen=True)
class WindStream(Generator):
    """Whole-number wind speeds of sensors that report in random order.

    A stand-in for the wind speeds of LinkedSensorData in the paper on CLOCK (Gao, Scharrenbach,
    Bernstein, "The CLOCK Data-Aware Eviction Approach", ESWC 2014, §4.1). The wind at a sensor has
    a component to the east and one to the north, both AR(1) from report to report, so that a
    speed lasts, and speeds have the Rayleigh law that is usual for wind.

    Parameters
    ----------
    tuples
        Length of the stream; one report per time unit, from time 0.
    sensors
        Number of sensors.
    mean_speed
        Mean of the speeds before they are rounded.
    persistence
        Correlation of a component with that of the sensor's last report, from 0 to 1.
    seed
        Which of the many streams of this kind.

    Examples
    --------
    >>> WindStream(tuples=6, sensors=3, seed=1).table().to_pydict()
    {'time': [0, 1, 2, 3, 4, 5], 'sensor': [2, 0, 1, 0, 0, 2], 'value': [9, 21, 8, 15, 9, 6]}
    """

    tuples: int
    sensors: int = 1_000
    mean_speed: float = 8.0
    persistence: float = 0.9
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_whole("sensors", self.sensors, least=1, most=MOST_SENSORS)
        require_real("mean_speed", self.mean_speed, least=0, most=1e9)
        require_real("persistence", self.persistence, least=0, most=1)

    @property
    def schema(self) -> pa.Schema:
        """The time, the sensor and its wind speed."""
        return pa.schema([(name, pa.int64()) for name in ("time", "sensor", "value")])

    def sampler(self, random: np.random.Generator) -> Sampler:
        """Return the function that draws the next tuples."""
        for_sensors, for_winds = random.spawn(2)
        # A Rayleigh law has √(π/2) times the deviation of a component as its mean.
        scale = self.mean_speed / sqrt(pi / 2)
        winds = for_winds.standard_normal((self.sensors, 2))

        def sample(times: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
            sensors = (for_sensors.random(len(times)) * self.sensors).astype(np.int64)
            gusts = for_winds.standard_normal((len(times), 2))
            speeds = np.empty(len(times), np.int64)
            _blow(winds, sensors, gusts, self.persistence, scale, speeds)
            return times, sensors, speeds

        return sample


@njit(cache=True)
def _blow(
    winds: NDArray[np.float64],
    sensors: NDArray[np.int64],
    gusts: NDArray[np.float64],
    persistence: float,
    scale: float,
    speeds: NDArray[np.int64],
) -> None:
    fresh = sqrt(1 - persistence**2)
    for i in range(sensors.size):
        wind = winds[sensors[i]]
        wind[0] = persistence * wind[0] + fresh * gusts[i, 0]
        wind[1] = persistence * wind[1] + fresh * gusts[i, 1]
        speeds[i] = int(scale * hypot(wind[0], wind[1]) + 0.5)
