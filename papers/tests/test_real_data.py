"""Real data are found in the folder named; if not, the error says what to get and where."""

from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recollect
from recollect.errors import InputError
from recollect_papers import catalogue
from recollect_papers.data_folder import DataFile

HOURS = [datetime(2014, 1, 1) + timedelta(hours=h) for h in range(8)]
SECONDS = [datetime(2014, 1, 1) + timedelta(seconds=s) for s in range(8)]
LATER = [hour + timedelta(minutes=90) for hour in HOURS]
FILES = {
    "melbourne_temp": {"day_no": range(8), "max_c": [38.1, 32.4, 19.95, 7.0] * 2},
    "us_equity_trades_2013-10-07_11": {
        "ts": SECONDS,
        "symbol": pa.array(["SPY", "BAC"] * 4).dictionary_encode(),
        "price": [1.5, 2.5] * 4,
        "size": [100] * 8,
        "exch": pa.array(["Q", "Q", "P", "P", "Q", "Z", "B", "K"]).dictionary_encode(),
    },
    "online_retail": {"ts": HOURS, "stock_code": ["a"] * 8, "customer": [1] * 8},
    "isd_aug2019_first_stations": {
        "ts": SECONDS,
        "usaf": range(8),
        "wind_sp": [None, 5.1] * 4,
        "dew_c": [1.0] * 8,
    },
    "lsd_observations_2004-08-08_9h": {
        "ts": [HOURS[0]] * 8,
        "stationid": range(8),
        "windspeed": [9, 10] * 4,
    },
    "bay_area_trips_2014": {
        "start": HOURS,
        "end": LATER,
        "duration": [5400] * 8,
        "start_terminal": [1, 2] * 4,
        "end_terminal": [2, 1] * 4,
        "bike_id": range(8),
    },
    "bay_area_parked_2014_derived": {
        "start": HOURS,
        "end": LATER,
        "bike_id": range(8),
        "station": [2, 1] * 4,
    },
    "cache2k_orm_busy": {"key": pa.array(range(8), pa.int32())},
    "arc_oltp": {"key": pa.array(range(8), pa.int32())},
}
PACKAGED = {"weather", "flights"}
NAMES = [n for n, r in catalogue.RECIPES.items() if r.tuples is None and n not in PACKAGED]
ROWS = {"stock": [3, 2], "stock-multiway": [3, 2, 1, 1, 1], "wind-stations": [4, 4]}
RESULTS = {"stock": 3, "wind-sensors": 12, "wind-stations": 12, "bicycles": 14}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    for name, columns in FILES.items():
        arrays = {n: c if isinstance(c, pa.Array) else pa.array(c) for n, c in columns.items()}
        extra = {"not_needed": pa.array([0] * 8)}
        pq.write_table(pa.table(arrays | extra), path / f"{name}.parquet")
    return path


@pytest.mark.parametrize("name", NAMES)
def test_load_from_a_folder(name, folder, monkeypatch):
    workload = catalogue.load(name, data=folder)
    whole = ROWS.get(name, [8] * len(workload.streams))
    assert [stream.num_rows for stream in workload.streams.values()] == whole
    monkeypatch.setenv("RECOLLECT_DATA", str(folder))
    assert catalogue.load(name).streams == workload.streams
    short = catalogue.load(name, tuples=2).streams.values()
    assert [stream.num_rows for stream in short] == [min(2, rows) for rows in whole]


@pytest.mark.parametrize("name", RESULTS)
def test_join_queries_fit_the_data(name, folder):
    workload = catalogue.load(name, data=folder)
    join = recollect.join(*workload.streams.values(), **workload.query, budget=100, policy="clock")
    assert join.stats.results == RESULTS[name]


def test_temperatures_become_tenths_of_a_degree(folder):
    keys = catalogue.load("real", data=folder).streams["R"]["key"].to_pylist()
    assert keys[:4] == [381, 324, 200, 70]


@pytest.mark.parametrize("name", NAMES)
def test_without_a_folder(name, monkeypatch):
    monkeypatch.delenv("RECOLLECT_DATA", raising=False)
    with pytest.raises(
        InputError, match=r"needs the file \S+\.parquet: set RECOLLECT_DATA, or give data=.* from "
    ):
        catalogue.load(name)


@pytest.mark.parametrize("name", NAMES)
def test_without_the_file(name, tmp_path):
    with pytest.raises(InputError, match=r"needs the file \S+\.parquet, which is not in .* from "):
        catalogue.load(name, data=tmp_path)


def test_damaged_and_incomplete_files(tmp_path):
    file = DataFile("numbers", ("key",), "nowhere")
    (tmp_path / "numbers.parquet").write_bytes(b"not parquet at all")
    with pytest.raises(InputError, match=r"numbers\.parquet cannot be read as Parquet"):
        file.read(tmp_path)
    pq.write_table(pa.table({"kay": [1]}), tmp_path / "numbers.parquet")
    with pytest.raises(
        InputError, match="has no column 'key'; make it, with columns key, from now"
    ):
        file.read(tmp_path)
