"""The catalogue: every generated workload loads, joins, and says where it is from."""

from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest

import recollect
from recollect.errors import InputError
from recollect.streams import Generator
from recollect_papers import catalogue
from recollect_papers.streams import BurstyStream, RankedStream

GENERATED = [name for name, recipe in catalogue.RECIPES.items() if recipe.tuples is not None]
PAPERS = ("gdj", "locality", "stochastic", "temporal", "clock")


def rows(stream):
    return stream.table().to_pylist()


def test_every_workload_belongs_to_a_paper():
    assert sorted(n for paper in PAPERS for n in catalogue.names(paper)) == sorted(
        catalogue.names()
    )
    assert {"tower", "roof", "floor", "walk", "ds1", "ds2", "gdj", "gdj-ic"} <= set(GENERATED)


@pytest.mark.parametrize("name", GENERATED)
def test_load(name):
    workload = catalogue.load(name, tuples=300, seed=5)
    assert workload.name == name
    assert workload.paper.split()[0] in PAPERS
    assert workload.about
    assert all(isinstance(stream, Generator) for stream in workload.streams.values())
    again = catalogue.load(name, tuples=300, seed=5)
    other = catalogue.load(name, tuples=300, seed=6)
    for stream, same, different in zip(
        *(w.streams.values() for w in (workload, again, other)), strict=True
    ):
        assert stream == same
        assert rows(stream) != rows(different)


@pytest.mark.parametrize("name", GENERATED)
def test_streams_of_a_workload_are_independent_but_for_self_joins(name):
    streams = list(catalogue.load(name, tuples=300).streams.values())
    assert name == "wind" or all(rows(a) != rows(b) for a, b in pairwise(streams))


@pytest.mark.parametrize("name", GENERATED)
def test_the_length_of_the_paper_is_the_default(name):
    first = next(iter(catalogue.load(name).streams.values()))
    assert first.tuples == catalogue.RECIPES[name].tuples


@pytest.mark.parametrize(
    "name",
    [n for n in GENERATED if "on" in (q := catalogue.load(n, tuples=1).query) and "time" in q],
)
def test_queries_fit_the_streams(name):
    workload = catalogue.load(name, tuples=2_000)
    left, right = list(workload.streams.values())[:2]
    stats = recollect.join(left, right, **workload.query, budget="unlimited", policy="clock").stats
    assert stats.results > 100


@pytest.mark.parametrize("name", ["tower", "roof", "floor", "tower-lag-4", "tower-wide-4"])
def test_the_windows_of_trends_cost_nothing(name):
    workload = catalogue.load(name, tuples=2_000, seed=3)
    left, right = (s.table()["key"].to_numpy() for s in workload.streams.values())
    exact = (left[:, None] == right[None, :]).sum()
    join = dict(workload.query)
    found = recollect.join(*workload.streams.values(), **join, budget="unlimited", policy="clock")
    assert found.stats.results == exact
    # Neither is longer than needed: the noise may come that late.
    reach = sum(stream.bound for stream in workload.streams.values())
    lag = workload.streams["R"].lag
    assert join["window"] == (reach - lag, reach + lag)


def test_parameters_of_the_papers():
    tower, roof, floor = (catalogue.load(name).streams for name in ("tower", "roof", "floor"))
    assert [s.deviation for s in tower.values()] == [1.0, 2.0]
    assert [s.deviation for s in roof.values()] == [3.3, 5.0]
    for streams in (tower, roof, floor):
        assert [(s.slope, s.lag, s.bound) for s in streams.values()] == [(1, 1, 10), (1, 0, 15)]
    assert np.ptp(floor["R"].noise.weights) == 0
    ar1 = catalogue.load("ar1").streams["R"]
    assert (ar1.coefficient, ar1.constant, ar1.deviation, ar1.unit) == (0.72, 5.59, 4.22, 0.1)
    gdj = catalogue.load("gdj").streams["R"]
    assert (gdj.tuples, gdj.keys, gdj.exponent) == (1_440, 100, 0.75)
    assert [
        catalogue.load("ds1", tuples=65_536 * n).streams["tuples"].time_range for n in (1, 64)
    ] == [
        1_000_000,
        64_000_000,
    ]
    assert catalogue.load("wind").query["window"] == 200


def test_inverse_popularity():
    workload = catalogue.load("gdj-ic", tuples=5_000)
    left, right = (s.table()["key"].to_numpy() for s in workload.streams.values())
    assert isinstance(workload.streams["S"], RankedStream)
    assert np.mean(left < 20) > 0.3
    assert np.mean(right >= 80) > 0.3
    streams = catalogue.load("gdj-unified", tuples=500).streams
    assert list(streams) == ["dc_R", "dc_S", "ic_R", "ic_S"]
    assert [isinstance(s, RankedStream) for s in streams.values()] == [False, False, False, True]


def test_the_wind_blows_in_bursts():
    stream = catalogue.load("wind", tuples=20_000).streams["left"]
    assert isinstance(stream, BurstyStream)
    assert stream.mean_rate == pytest.approx(603_642 / 480_000, rel=0.01)
    assert {"tuples", "seed"} <= {field.name for field in fields(stream)}


def test_errors():
    with pytest.raises(InputError, match=r"unknown workload 'towers'; known are gdj, .*tower"):
        catalogue.load("towers")
    with pytest.raises(InputError, match="tuples must be a whole number of at least 0, not -1"):
        catalogue.load("tower", tuples=-1)
    with pytest.raises(InputError, match="seed must be a whole number of at least 0, not -1"):
        catalogue.load("tower", seed=-1)
    with pytest.raises(InputError, match="unknown paper 'gdk'; known are gdj, locality"):
        catalogue.names("gdk")
