"""The join of the stochastic paper's setting, with tuples in a list."""

from collections.abc import Callable, Sequence

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
