"""What figure 3 is made of: joins of two streams under each policy.

A real stream is joined as it comes and with its keys permuted: the same popularity at the same
times of arrival, without any correlation. The difference says what a policy owes to each.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

import recollect as rc
from recollect.join.whole import Comparison
from recollect.locality import permutation
from recollect_papers import catalogue
from recollect_papers.experiment import Point, Rows, Scale
from recollect_papers.locality.arrivals import PERMUTED, generated_points, real_points

POLICIES = ("lba", "elba", "prob", "life", "lru", "rand")
AS_LONG = "lba, T = W"
"""LBA as in the paper, whose T is the window; the library's is how long tuples are kept."""
BUDGETS = (5, 10, 20, 30, 50, 80, 100)
HALF = 50
WINDOWS: Mapping[str, tuple[Sequence[float], float, str]] = {
    "locality": ((250, 500, 1_000, 2_000, 4_000), 1_000, ""),
    "stock": ((2, 5, 10, 30, 60), 10, "s"),
    "weather": ((1, 2, 4, 8, 16), 4, "d"),
}
"""By stream: the windows of (c), that of (a) and (b), and their unit."""
REAL = ("stock", "weather")


def over_buffer(scale: Scale) -> list[Point]:
    """Return points of all budgets at the window of (a) and (b)."""
    return [
        {**point, "window": WINDOWS[point["stream"]][1], "budgets": list(BUDGETS)}
        for point in _streams(scale)
    ]


def over_window(scale: Scale) -> list[Point]:
    """Return points of all windows at half of the memory."""
    return [
        {**point, "window": window, "budgets": [HALF]}
        for point in _streams(scale)
        for window in WINDOWS[point["stream"]][0]
    ]


def _streams(scale: Scale) -> list[Point]:
    """Return points of the streams, each as it comes and permuted."""
    tuples, seeds = (100_000, 5) if scale.full else (20_000, 3)
    streams = generated_points(scale, seeds, tuples=tuples) + real_points(scale, REAL, tuples=None)
    return [{**point, "permuted": permuted} for permuted in (False, True) for point in streams]


def measure(
    stream: str,
    tuples: int | None,
    seed: int,
    data: str | None,
    permuted: bool,
    window: float,
    budgets: Sequence[int],
) -> Rows:
    """Join two streams under all policies and budgets."""
    workload = catalogue.load(stream, tuples=tuples, seed=seed, data=data)
    both = [one if isinstance(one, pa.Table) else one.table() for one in workload.streams.values()]
    if permuted:
        columns = workload.query["on"].split(",")
        both = [_permuted(one, columns, 2 * seed + n) for n, one in enumerate(both)]
    unit = WINDOWS[stream][2]
    query = {**workload.query, "window": f"{window}{unit}" if unit else window}
    words = {**query, "split": True, "budgets": [f"{budget}%" for budget in budgets], "seed": seed}
    first = rc.compare(*both, policies=POLICIES, **words)
    # A window holds so many tuples of the partner in the mean.
    horizon = max(1, round(first.survey.mean_alive / 2))
    second = rc.compare(*both, policies=[f"lba:horizon={horizon}"], **words)
    point = {"stream": f"{stream}, {PERMUTED}" if permuted else stream, "window": window}
    return [
        *({**point, **row} for row in _rows(first, POLICIES, budgets)),
        *({**point, **row} for row in _rows(second, [AS_LONG], budgets)),
    ]


def _permuted(table: pa.Table, columns: Sequence[str], seed: int) -> pa.Table:
    order = permutation(len(table), seed)
    for name in columns:
        table = table.set_column(table.schema.get_field_index(name), name, table[name].take(order))
    return table


def _rows(
    found: Comparison, names: Sequence[str], budgets: Sequence[int]
) -> Iterator[dict[str, Any]]:
    exact = found.survey.exact_results
    pairs = [(name, budget) for name in names for budget in budgets]
    for (name, budget), run in zip(pairs, found.runs, strict=True):
        yield {
            "policy": name, "budget": budget, "recall": run.recall, "results": run.results,
            "exact": exact,
        }  # fmt: skip
