"""Li and others: Characterizing and Exploiting Reference Locality in Data Stream Applications."""

from dataclasses import replace

from recollect.streams.locality_model import LocalityStream
from recollect.streams.zipf import ZipfStream
from recollect_papers.catalogue.greedydual import TRADES
from recollect_papers.catalogue.workload import Folder, Recipes, Workload, seeds
from recollect_papers.data_folder import DataFile

LOCALITY = Recipes("locality")
RETAIL = DataFile(
    "online_retail", ("ts", "stock_code", "customer"), "the R package cran/onlineretail (CC0)"
)


def _pair(tuples: int, seed: int, repeat: float) -> Workload:
    left, right = seeds(seed, 2)
    stream = LocalityStream(tuples, keys=500, exponent=0.75, repeat=repeat, depth=50)
    return Workload(
        {"R": replace(stream, seed=left), "S": replace(stream, seed=right)},
        {"on": "key", "time": "time", "window": 1_000},
        {"b": 1 - repeat, "h": 50, "budget": "10%", "split": True, "chosen": ("window", "b")},
    )


@LOCALITY.generated("locality", "§3.1, §5.1", tuples=100_000)
def model(tuples: int, seed: int) -> Workload:
    """Two streams of the locality model: seven of ten tuples copy one of the last 50."""
    return _pair(tuples, seed, repeat=0.7)


@LOCALITY.generated("locality-iid", "§3.1, §5.1", tuples=100_000)
def independent(tuples: int, seed: int) -> Workload:
    """The same popularity without short-term correlation, as after a permutation."""
    return _pair(tuples, seed, repeat=0.0)


def _counting(tuples: int, seed: int, exponent: float) -> Workload:
    [only] = seeds(seed, 1)
    return Workload(
        {"S": ZipfStream(tuples, exponent=exponent, seed=only)},
        {"key": "key", "epsilon": 0.001},
        {"z": exponent, "support": 0.05, "chosen": ("tuples", "keys")},
    )


@LOCALITY.generated("zipf-1.1", "§4.2, table 1", tuples=1_000_000)
def zipf_1_1(tuples: int, seed: int) -> Workload:
    """Independent Zipfian keys (z = 1.1) whose frequent ones are to be counted."""
    return _counting(tuples, seed, 1.1)


@LOCALITY.generated("zipf-1.3", "§4.2, table 1", tuples=1_000_000)
def zipf_1_3(tuples: int, seed: int) -> Workload:
    """Independent Zipfian keys (z = 1.3) whose frequent ones are to be counted."""
    return _counting(tuples, seed, 1.3)


@LOCALITY.generated("zipf-1.5", "§4.2, table 1", tuples=1_000_000)
def zipf_1_5(tuples: int, seed: int) -> Workload:
    """Independent Zipfian keys (z = 1.5) whose frequent ones are to be counted."""
    return _counting(tuples, seed, 1.5)


@LOCALITY.generated("uniform", "§5.3, table 2", tuples=1_000_000)
def uniform(tuples: int, seed: int) -> Workload:
    """Independent keys that are all equally popular: the stream of the highest entropy."""
    [only] = seeds(seed, 1)
    return Workload(
        {"S": ZipfStream(tuples, keys=500, exponent=0.0, seed=only)},
        {"key": "key"},
        {"chosen": ("tuples", "keys")},
    )


@LOCALITY.real("trades", "§5 (other data)")
def trades(data: Folder) -> Workload:
    """A week of trades in order of time, to be profiled and counted by stock and price."""
    return Workload({"S": TRADES.read(data)}, {"key": "symbol,price", "time": "ts"})


@LOCALITY.real("retail", "§5 (other data)")
def retail(data: Folder) -> Workload:
    """A year of purchases: skewed keys that drift slowly."""
    return Workload({"S": RETAIL.read(data)}, {"key": "stock_code", "time": "ts"})
