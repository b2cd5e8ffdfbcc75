"""Gao, Scharrenbach, Bernstein: The CLOCK Data-Aware Eviction Approach, ESWC 2014."""

import pyarrow as pa
import pyarrow.compute as pc

from recollect_papers.catalogue.temporal import TRIPS
from recollect_papers.catalogue.workload import Folder, Recipes, Workload, seeds
from recollect_papers.data_folder import DataFile
from recollect_papers.streams.bursty import BurstyStream
from recollect_papers.streams.programme import ProgrammeStream
from recollect_papers.streams.viewing import ViewingStream
from recollect_papers.streams.wind import WindStream

CLOCK = Recipes("clock")
REPORTS, EVENTS, PROGRAMMES = 603_642, 1_887_256, 31_960
OVERLAP = "left.start < right.end and right.start < left.end"
FACTS = {"warm_up_share": 1 / 3}
"""The first third of the data only fills the buffer."""
SENSORS = DataFile(
    "lsd_observations_2004-08-08_9h",
    ("ts", "stationid", "windspeed"),
    "the LinkedSensorData in jpcik/srbench",
)
STATIONS = DataFile(
    "isd_aug2019_first_stations",
    ("ts", "usaf", "wind_sp", "dew_c"),
    "NOAA's Integrated Surface Database, in jhernandez3609/PM566Labs",
)
PARKED = DataFile(
    "bay_area_parked_2014_derived",
    ("start", "end", "bike_id", "station"),
    "the trips of cran/bikeshare14 (CC0): a bicycle is parked between two of its trips",
)


@CLOCK.generated("wind", "§4.1", tuples=REPORTS)
def wind(tuples: int, seed: int) -> Workload:
    """Sensors that report the same high wind speed within 200 ms, a self-join."""
    speeds, times = seeds(seed, 2)
    # The paper replays its reports at 1,258 a second, in clusters.
    reports = BurstyStream(
        WindStream(tuples, seed=speeds),
        busy=500, quiet=1_500, busy_rate=3.8, quiet_rate=0.4, seed=times,
    )  # fmt: skip
    return Workload(
        {"left": reports, "right": reports},
        {
            "on": "value",
            "time": "time",
            "window": 200,
            "where": "left.sensor != right.sensor and left.value >= 10",
        },
        {**FACTS, "time_unit": "1ms", "chosen": ("streams",)},
    )


@CLOCK.generated("viewers", "§4.1", tuples=EVENTS)
def viewers(tuples: int, seed: int) -> Workload:
    """Viewers and what is on their channel meanwhile, a join of validity intervals."""
    watched, shown = seeds(seed, 2)
    # All channels have a first programme; the rest is for as much time as the viewers take.
    programmes = ProgrammeStream(0).channels + tuples * PROGRAMMES // EVENTS
    return Workload(
        {
            "viewers": ViewingStream(tuples, seed=watched),
            "programmes": ProgrammeStream(programmes, seed=shown),
        },
        {"on": "channel", "time": "start", "window": "unlimited", "where": OVERLAP},
        {**FACTS, "valid": ("start", "end"), "time_unit": "1s", "chosen": ("streams",)},
    )


@CLOCK.real("wind-sensors", "§4.1")
def wind_sensors(data: Folder) -> Workload:
    """The wind speed query on nine hours of LinkedSensorData."""
    reports = SENSORS.read(data)
    query = {
        "on": "windspeed",
        "time": "ts",
        "window": "200ms",
        "where": "left.stationid != right.stationid and left.windspeed >= 10",
    }
    return Workload({"left": reports, "right": reports}, query, FACTS)


@CLOCK.real("wind-stations", "§4.1 (other data)")
def wind_stations(data: Folder) -> Workload:
    """The wind speed query on a month of 100 weather stations (m/s, so from 5 on)."""
    table = STATIONS.read(data)
    reports = table.filter(pc.is_valid(table["wind_sp"]))
    query = {
        "on": "wind_sp",
        "time": "ts",
        "window": "20min",
        "where": "left.usaf != right.usaf and left.wind_sp >= 5",
    }
    return Workload({"left": reports, "right": reports}, query, FACTS | {"chosen": ("window",)})


@CLOCK.real("bicycles", "§4.1 (other data)")
def bicycles(data: Folder) -> Workload:
    """Trips and the bicycles parked where they start, a real join of validity intervals."""
    streams: dict[str, pa.Table] = {"trips": TRIPS.read(data), "parked": PARKED.read(data)}
    query = {
        "on": "start_terminal=station",
        "time": "start",
        "window": "unlimited",
        "where": OVERLAP,
    }
    return Workload(streams, query, FACTS | {"valid": ("start", "end")})
