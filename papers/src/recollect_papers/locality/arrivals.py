"""The streams of this paper's experiments, as the numbers of their keys.

The paper has a day of stock trades and the flows of a network, neither of which is to be had.
``locality`` of the catalogue stands for them: 500 keys, as many as there were stocks, Zipf 0.75,
and seven of ten tuples are copies of one of the last 50. Real streams are added at full scale.

>>> arrivals("locality", tuples=12, seed=0, data=None).tolist()
[0, 1, 2, 3, 4, 5, 2, 6, 7, 8, 3, 9]
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.locality import KeyNumbers
from recollect.locality.profile import key_codes
from recollect_papers import catalogue
from recollect_papers.experiment import Point, Scale

GENERATED = "locality"
PAPER_TUPLES = 100_000
"""N of the paper's counts."""
WITHOUT_FOLDER = "weather"
"""The one real stream that comes with a package."""
STREAM = "the stream"
PERMUTED = "permuted"
"""What the two orders of the same tuples are called."""


def arrivals(stream: str, tuples: int | None, seed: int, data: str | None) -> NDArray[np.int64]:
    """Return the numbers of the keys of a workload's first stream, in order of arrival.

    Parameters
    ----------
    stream, tuples, seed, data
        As for :func:`recollect_papers.catalogue.load`.
    """
    workload = catalogue.load(stream, tuples=tuples, seed=seed, data=data)
    columns = workload.query.get("key") or workload.query["on"]
    first = next(iter(workload.streams.values()))
    numbers = KeyNumbers()
    parts = [numbers.add(codes) for codes, _ in key_codes(first, columns.split(","))]
    return np.concatenate(parts).astype(np.int64)


def generated_points(scale: Scale, seeds: int, **more: Any) -> list[Point]:
    """Return points of the generated stream."""
    return [
        {"stream": GENERATED, "seed": seed, "data": None, **more} for seed in scale.seeds(seeds)
    ]


def real_points(scale: Scale, streams: tuple[str, ...], **more: Any) -> list[Point]:
    """Return a point for each real stream that is at hand, if the scale is full."""
    return [
        {"stream": stream, "seed": scale.first_seed, "data": scale.data, **more}
        for stream in streams
        if scale.full and (scale.data or stream == WITHOUT_FOLDER)
    ]
