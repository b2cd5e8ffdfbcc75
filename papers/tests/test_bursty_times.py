"""Bursty times: those of the naive twin, at the rates asked for, the tuples unchanged."""

import numpy as np
import pytest

from papers.tests import naive_streams as naive
from recollect.errors import InputError
from recollect.streams import UniformIntervals, ZipfStream
from recollect_papers.streams import BurstyStream, WindStream

PERIODS = {"busy": 5.0, "quiet": 20.0, "busy_rate": 4.0}


@pytest.mark.parametrize("quiet_rate", [0.0, 0.5])
def test_times_are_those_of_the_naive_twin(quiet_rate):
    for seed in range(5):
        stream = BurstyStream(ZipfStream(300), **PERIODS, quiet_rate=quiet_rate, seed=seed)
        source = np.random.default_rng(seed)
        twin = naive.arrivals(source, 300, **PERIODS, quiet_rate=quiet_rate)
        assert stream.table()["time"].to_pylist() == [int(time) for time in twin]


def test_mean_rate_and_burstiness():
    bursty = BurstyStream(ZipfStream(200_000), **PERIODS, quiet_rate=0.5, seed=1)
    even = BurstyStream(ZipfStream(200_000), 5, 20, 1.2, 1.2, seed=1)
    assert bursty.mean_rate == even.mean_rate == pytest.approx(1.2)
    spread = {}
    for name, stream in (("bursty", bursty), ("even", even)):
        time = stream.table()["time"].to_numpy()
        assert 200_000 / time[-1] == pytest.approx(1.2, rel=0.03)
        counts = np.bincount(time // 5)
        spread[name] = counts.var() / counts.mean()
    # Equal rates make it a Poisson process, whose counts have the variance of their mean.
    assert spread["even"] == pytest.approx(1, abs=0.03)
    assert spread["bursty"] > 4


def test_other_columns_stay():
    wind = WindStream(1000, sensors=5)
    bursty = BurstyStream(wind, seed=3)
    assert bursty.schema == wind.schema
    assert bursty.table().select(["sensor", "value"]) == wind.table().select(["sensor", "value"])
    assert bursty.tuples == 1000


def test_errors():
    with pytest.raises(InputError, match=r"UniformIntervals has no column 'time'.* 'start', 'end'"):
        BurstyStream(UniformIntervals(10))
    with pytest.raises(InputError, match=r"busy must be a number .* not 0"):
        BurstyStream(ZipfStream(10), busy=0)
    with pytest.raises(InputError, match="quiet_rate must be a number from 0 to 2, not 3"):
        BurstyStream(ZipfStream(10), busy_rate=2, quiet_rate=3)
