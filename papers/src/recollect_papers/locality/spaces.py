"""What figure 5 (a, c) is made of: the entries that Lossy Counting needs, and estimates of them."""

import numpy as np
from numpy.typing import NDArray

from recollect.counting import LossyCounter, estimated_entries, fresh_draws
from recollect.locality import LocalityModel, permutation, predict
from recollect.streams import ZipfStream
from recollect_papers.experiment import Point, Rows, Scale
from recollect_papers.locality.arrivals import (
    GENERATED,
    PAPER_TUPLES,
    PERMUTED,
    STREAM,
    WITHOUT_FOLDER,
    arrivals,
    generated_points,
    real_points,
)
from recollect_papers.theory import locality_model

Keys = NDArray[np.int64]
EPSILONS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02)
H = 50
LONG = ("trades", "orm")
UNIFORM = "equally popular"
MEASURED, ESTIMATED, EXPECTED = "measured", "estimated", "keys expected per bucket"


def points(scale: Scale) -> list[Point]:
    """Return streams of the paper's length, and whole real ones."""
    return [
        *generated_points(scale, seeds=10 if scale.full else 3, tuples=PAPER_TUPLES),
        *real_points(scale, LONG, tuples=PAPER_TUPLES),
        *real_points(scale, (*LONG, WITHOUT_FOLDER), tuples=None),
    ]


def measure(stream: str, tuples: int | None, seed: int, data: str | None) -> Rows:
    """Count a stream, its permutation, and as many keys that are equally popular."""
    keys = arrivals(stream, tuples, seed, data)
    distinct = int(keys.max()) + 1
    orders = {
        STREAM: keys,
        PERMUTED: keys[permutation(len(keys), seed)],
        UNIFORM: ZipfStream(len(keys), distinct, 0.0, seed).table()["key"].to_numpy(),
    }
    name = stream if tuples is None or stream == GENERATED else f"{stream} (first {tuples:,})"
    return [
        {"stream": name, "order": order, "epsilon": epsilon, "entries_of": what, "entries": number}
        for order, arrived in orders.items()
        for epsilon, found in _space(arrived).items()
        for what, number in found.items()
    ]


def _space(keys: Keys) -> dict[float, dict[str, float]]:
    model = locality_model(keys, H)
    draws = fresh_draws(keys, model)
    found = {}
    for epsilon in EPSILONS:
        counter = LossyCounter(epsilon)
        counter.add(keys)
        found[epsilon] = {
            MEASURED: counter.entries_peak,
            ESTIMATED: estimated_entries(epsilon, draws, model, len(keys)),
            EXPECTED: expected_in_a_bucket(keys, model, round(1 / epsilon)),
        }
    return found


def expected_in_a_bucket(keys: Keys, model: LocalityModel, width: int) -> int:
    """Return how many keys the model expects at least once in the next bucket.

    This is the paper's estimate: by its Lemma 3, with T the tuples in a bucket.

    Examples
    --------
    >>> model = LocalityModel(np.array([0.5]), 0.5)
    >>> keys = np.array([0, 0, 0, 0, 0, 1, 1, 2])
    >>> expected_in_a_bucket(keys, model, width=2), expected_in_a_bucket(keys, model, width=10)
    (0, 3)
    """
    ahead = predict(model, width)
    expected = ahead.fresh * np.bincount(keys) / len(keys)
    recent = keys[::-1][: model.h]
    np.add.at(expected, recent, ahead.by_lag[: len(recent)])
    return int((expected >= 1).sum())
