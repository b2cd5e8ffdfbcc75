"""The join of the stochastic paper's setting, with tuples in a list."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations

Tuple = tuple[int, int, int]
"""A stream, a value and the step of arrival."""


def run_steps(
    left: Sequence[int],
    right: Sequence[int],
    capacity: int,
    score: Callable[[Tuple, int], float],
    warm_up: int = 0,
) -> int:
    """Count the results if the tuples with the highest scores stay, of equal ones the younger."""
    buffered: list[Tuple] = []
    results = 0
    for now, values in enumerate(zip(left, right, strict=True)):
        for stream, value, _ in buffered:
            if now >= warm_up and values[1 - stream] == value:
                results += 1
        buffered += [(0, values[0], now), (1, values[1], now)]
        while len(buffered) > capacity:
            buffered.remove(min(buffered, key=lambda one: score(one, now)))
    return results


def most_step_results(
    left: Sequence[int], right: Sequence[int], capacity: int, warm_up: int
) -> int:
    """The most results: every choice of what stays is tried."""

    @cache
    def best_from(step: int, buffered: frozenset[tuple[int, int]]) -> int:
        if step == len(left):
            return 0
        newcomers = (left[step], right[step])
        streams = (left, right)
        found = sum(streams[stream][old] == newcomers[1 - stream] for stream, old in buffered)
        all_ = buffered | {(0, step), (1, step)}
        size = min(capacity, len(all_))
        later = max(best_from(step + 1, frozenset(kept)) for kept in combinations(all_, size))
        return found * (step >= warm_up) + later

    return best_from(0, frozenset())
