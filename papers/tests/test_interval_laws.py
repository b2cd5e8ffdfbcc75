"""DS2, viewers and programmes: intervals as their papers describe them."""

import numpy as np
import pytest

from recollect_papers.streams import NormalIntervals, ProgrammeStream, ViewingStream
from tests.streams.test_interval_laws import columns


def test_ds2_is_normal_without_what_lies_below_one():
    found = columns(NormalIntervals(200_000, time_range=80_000, seed=1))
    start, length = found["start"], found["end"] - found["start"]
    assert min(start.min(), length.min()) >= 1
    # A normal variable above mean − k deviations has this mean: k = 2 for starts, 1 for lengths.
    assert start.mean() == pytest.approx(20_000 + 10_000 * 0.0552, rel=0.005)
    assert length.mean() == pytest.approx(10_000 + 10_000 * 0.2876, rel=0.005)
    assert np.median(start) == pytest.approx(20_000 + 10_000 * 0.0285, rel=0.005)
    assert abs(np.corrcoef(start, length)[0, 1]) < 0.01


def test_programmes_follow_each_other_on_every_channel():
    found = columns(ProgrammeStream(5_000, channels=40, seed=1))
    assert found["programme"].tolist() == list(range(5_000))
    lengths = found["end"] - found["start"]
    assert set(lengths // 60) == {15, 30, 45, 60, 90, 120}
    assert lengths.mean() == pytest.approx(32.1 * 60, rel=0.03)
    for channel in range(40):
        mine = found["channel"] == channel
        assert found["start"][mine][0] == 0
        assert np.array_equal(found["start"][mine][1:], found["end"][mine][:-1])


def test_the_guide_of_the_paper_lasts_three_days():
    assert ProgrammeStream(31_960).table()["start"][-1].as_py() == pytest.approx(259_200, rel=0.02)


def test_viewers_watch_one_channel_at_a_time():
    found = columns(ViewingStream(20_000, viewers=50, channels=10, exponent=1.0, seed=1))
    lengths = found["end"] - found["start"]
    assert lengths.min() >= 1
    assert lengths.mean() == pytest.approx(0.5 * 60 + 0.5 * 2_400, rel=0.04)
    assert np.bincount(found["channel"]).argmax() == 0
    for viewer in range(50):
        mine = found["viewer"] == viewer
        assert found["start"][mine][0] < 3_600
        assert np.array_equal(found["start"][mine][1:], found["end"][mine][:-1])


def test_the_share_of_zapping():
    only = columns(ViewingStream(5_000, viewers=5, zapping=1.0))
    assert (only["end"] - only["start"]).mean() == pytest.approx(60, rel=0.05)
