"""WindStream: Rayleigh speeds that last at a sensor and are independent between sensors."""

import numpy as np
import pytest

from recollect_papers.streams import WindStream


def test_speeds_have_a_rayleigh_law():
    speeds = WindStream(300_000, sensors=20_000, mean_speed=8, seed=1).table()["value"].to_numpy()
    scale = 8 / np.sqrt(np.pi / 2)
    for speed in (2, 5, 10, 15, 20):
        tail = np.exp(-(((speed - 0.5) / scale) ** 2) / 2)
        assert np.mean(speeds >= speed) == pytest.approx(tail, abs=0.01)


@pytest.mark.parametrize(("persistence", "least", "most"), [(0.0, -0.03, 0.03), (0.9, 0.75, 0.85)])
def test_speeds_last(persistence, least, most):
    # The squares of the components correlate by persistence², the speeds about as much.
    table = WindStream(100_000, sensors=10, persistence=persistence, seed=2).table()
    sensor, value = table["sensor"].to_numpy(), table["value"].to_numpy()
    for one in range(10):
        mine = value[sensor == one]
        assert least < np.corrcoef(mine[1:], mine[:-1])[0, 1] < most
    other = value[sensor == 0][:5_000], value[sensor == 1][:5_000]
    assert abs(np.corrcoef(*other)[0, 1]) < 0.1


def test_a_wind_that_never_changes():
    table = WindStream(1_000, sensors=7, persistence=1.0, seed=3).table()
    pairs = set(zip(table["sensor"].to_pylist(), table["value"].to_pylist(), strict=True))
    assert len(pairs) == 7


def test_no_wind():
    assert set(WindStream(100, mean_speed=0.0).table()["value"].to_pylist()) == {0}
