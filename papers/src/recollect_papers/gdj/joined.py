"""Joins of more than two streams, or on more than one attribute: figures 6, 7, 8, 9 and 10."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.workload import Prepared, Stream, Workload

WINDOW = 400
BUFFER = "20%"


def prepared(
    streams: Mapping[str, Any],
    joins: Mapping[str, str],
    window: Any = WINDOW,
    time: str = "time",
    shed: float = 0.0,
) -> Prepared:
    """Return streams and joins over them, ready to be run."""
    return Prepared(
        Workload(
            {n: Stream(s, time=time, window=window, shed=shed) for n, s in streams.items()}, joins
        )
    )


def on_all(streams: Sequence[str], columns: Sequence[str]) -> str:
    """Write down the join of streams on columns that all of them have.

    >>> on_all("RST", ["symbol", "price"])
    'R.symbol = S.symbol = T.symbol, R.price = S.price = T.price'
    """
    return ", ".join(" = ".join(f"{s}.{column}" for s in streams) for column in columns)
