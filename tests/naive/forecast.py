"""Forecasts by the book: every future of a stream is gone through, one value at a time.

A law is only its next step: a function from the history to the probabilities of the next value.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from math import erf, exp, floor, sqrt

Next = Callable[[list[int]], dict[int, float]]


def futures(law: Next, history: list[int], horizon: int) -> Iterator[tuple[list[int], float]]:
    """All that may come in the next steps, with probabilities."""
    if horizon == 0:
        yield [], 1.0
        return
    for value, chance in law(history).items():
        for later, rest in futures(law, [*history, value], horizon - 1):
            yield [value, *later], chance * rest


def probability(law: Next, history: list[int], value: int, delta: int) -> float:
    """P(value at now + delta | history)."""
    return sum(chance for path, chance in futures(law, history, delta) if path[delta - 1] == value)


def first_probability(law: Next, history: list[int], value: int, delta: int) -> float:
    """P(value at now + delta and not before | history)."""
    return sum(
        chance
        for path, chance in futures(law, history, delta)
        if path[delta - 1] == value and value not in path[: delta - 1]
    )


def stationary(popularity: dict[int, float]) -> Next:
    return lambda history: popularity


def trend(slope: float, intercept: float, noise: dict[int, float]) -> Next:
    def law(history):
        centre = floor(slope * len(history) + intercept + 0.5)
        return {centre + offset: chance for offset, chance in noise.items()}

    return law


def walk(steps: dict[int, float]) -> Next:
    return lambda history: {history[-1] + step: chance for step, chance in steps.items()}


def markov(transitions: dict[int, dict[int, float]]) -> Next:
    return lambda history: transitions[history[-1]]


def ar1(factor: float, shift: float, deviation: float) -> Next:
    def below(number):
        return (1 + erf(number / deviation / sqrt(2))) / 2

    def law(history):
        mean = factor * history[-1] + shift
        near = range(floor(mean - 6 * deviation), floor(mean + 6 * deviation) + 2)
        return {v: below(v + 0.5 - mean) - below(v - 0.5 - mean) for v in near}

    return law


def locality(weights: list[float], b: float, popularity: dict[int, float]) -> Next:
    """What would copy a value from before the start is a draw."""

    def law(history):
        drawn = b + sum(weights[len(history) :])
        chances = Counter({value: drawn * chance for value, chance in popularity.items()})
        for weight, value in zip(weights, reversed(history), strict=False):
            chances[value] += weight
        return dict(chances)

    return law


def score(
    law: Next, history: list[int], value: int, survival: Callable[[int], float], horizon: int,
    caching: bool = False,
) -> float:  # fmt: skip
    """HEEB's score by its definition."""
    chance = first_probability if caching else probability
    return sum(
        chance(law, history, value, delta) * survival(delta) for delta in range(1, horizon + 1)
    )


def exponential(alpha: float) -> Callable[[int], float]:
    return lambda delta: exp(-delta / alpha)


def is_dominated(curves: list[list[float]], inside: set[int]) -> bool:
    """Whether every tuple outside dominates every one inside."""
    return all(
        above >= below
        for u in set(range(len(curves))) - inside
        for v in inside
        for above, below in zip(curves[u], curves[v], strict=True)
    )
