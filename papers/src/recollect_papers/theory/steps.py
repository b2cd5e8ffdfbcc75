"""The setting of the stochastic paper: at each step one tuple of either stream, one shared buffer.

Both tuples of a step look for partners among what was buffered before the step. Then the best of
the buffer and both newcomers stay, by a score.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError
from recollect.optimum.flow import Optimum, most_results
from recollect.streams.checks import require_whole

Whole = NDArray[np.int64]


class Candidates(NamedTuple):
    """The tuples that may stay, buffered ones and the two newcomers of this step."""

    stream: Whole
    """0 for the left one."""
    value: Whole
    arrived: Whole
    """The step."""


Score = Callable[[Candidates, int], NDArray[np.float64]]
"""Told the candidates and the step, it says how much each is worth."""


class StepRun(NamedTuple):
    """What a run gave."""

    results: int
    left_share: float
    """The share of the buffer that tuples of the left stream took, the mean over all steps."""


def run_steps(
    left: ArrayLike, right: ArrayLike, capacity: int, score: Score, warm_up: int = 0
) -> StepRun:
    """Run the join of two streams, keeping what has the highest scores.

    Parameters
    ----------
    left, right
        The values by step.
    capacity
        How many tuples are kept. Of equal scores the older tuples go, of one step the left one.
    score
        How much candidates are worth.
    warm_up
        Results of so many steps at the beginning are not counted.

    Examples
    --------
    >>> def newest(candidates, now):
    ...     return candidates.arrived.astype(float)
    >>> run_steps([1, 2, 3, 4], [0, 1, 2, 3], capacity=2, score=newest)
    StepRun(results=3, left_share=0.5)
    """
    results, shares = _run(_streams(left, right), capacity, score, warm_up)
    return StepRun(int(results), float(shares))


def run_steps_together(
    lefts: ArrayLike, rights: ArrayLike, capacity: int, score: Score, warm_up: int = 0
) -> list[StepRun]:
    """Make many runs of equal length at once, which takes hardly longer than one.

    The parameters are those of :func:`run_steps`, but for a line per run in the values, and in
    the arrays that the score is told and gives.

    Examples
    --------
    >>> def newest(candidates, now):
    ...     return candidates.arrived.astype(float)
    >>> lefts, rights = [[1, 2, 3, 4], [1, 1, 1, 1]], [[0, 1, 2, 3], [1, 1, 1, 1]]
    >>> [run.results for run in run_steps_together(lefts, rights, capacity=2, score=newest)]
    [3, 6]
    """
    streams = _streams(lefts, rights, dimensions=2)
    results, shares = _run(streams, capacity, score, warm_up)
    return [StepRun(int(count), float(share)) for count, share in zip(results, shares, strict=True)]


def _run(
    streams: Whole, capacity: int, score: Score, warm_up: int
) -> tuple[Whole, NDArray[np.float64]]:
    """Run all runs there are: any axes before those of the stream and the step."""
    require_whole("capacity", capacity, least=1)
    runs, steps = streams.shape[:-2], streams.shape[-1]
    buffered = Candidates(*(np.empty((*runs, 0), np.int64) for _ in range(3)))
    sides = np.broadcast_to(np.array([0, 1]), (*runs, 2))
    results, lefts = np.zeros(runs, np.int64), np.zeros(runs)
    for now in range(steps):
        newcomers = streams[..., now]
        if now >= warm_up:
            partners = np.take_along_axis(newcomers, 1 - buffered.stream, axis=-1)
            results += np.count_nonzero(partners == buffered.value, axis=-1)
        arriving = sides, newcomers, np.full_like(newcomers, now)
        all_ = Candidates(*(_joined(*both) for both in zip(buffered, arriving, strict=True)))
        best = np.argsort(score(all_, now), axis=-1, kind="stable")[..., -capacity:]
        best.sort(axis=-1)
        buffered = Candidates(*(np.take_along_axis(column, best, axis=-1) for column in all_))
        lefts += np.mean(buffered.stream == 0, axis=-1)
    return results, lefts / max(1, steps)


def _joined(one: Whole, two: Whole) -> Whole:
    return np.concatenate([one, two], axis=-1)


def best_steps(left: ArrayLike, right: ArrayLike, capacity: int, warm_up: int = 0) -> Optimum:
    """Find the most results that any choice of what to keep gives (OPT-offline).

    The parameters are those of :func:`run_steps`.

    Examples
    --------
    >>> best_steps([1, 2, 3, 4], [0, 1, 2, 3], capacity=1).results
    3
    """
    earlier, later = step_matches(*_streams(left, right))
    arrival, meeting = earlier // 2, later // 2
    return most_results(earlier, arrival, meeting, capacity, worth=meeting >= warm_up)


def step_matches(left: Whole, right: Whole) -> tuple[Whole, Whole]:
    """List all pairs of equal values at different steps.

    A tuple is named by twice its step, plus one for the right stream; the earlier comes first.

    >>> step_matches(np.array([5, 7, 7]), np.array([7, 5, 7]))
    (array([0, 1, 1, 2]), array([3, 2, 4, 5]))
    """
    order = np.argsort(right, kind="stable")
    first = np.searchsorted(right[order], left, "left")
    count = np.searchsorted(right[order], left, "right") - first
    lefts = np.repeat(np.arange(len(left)), count)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    rights = order[np.repeat(first, count) + within]
    apart = lefts != rights
    one, two = 2 * lefts[apart], 2 * rights[apart] + 1
    pairs = np.sort(np.stack([one, two]), axis=0)
    earlier, later = pairs[:, np.lexsort((pairs[1], pairs[0]))]
    return earlier, later


def _streams(left: ArrayLike, right: ArrayLike, dimensions: int = 1) -> Whole:
    one, two = np.asarray(left, np.int64), np.asarray(right, np.int64)
    if one.ndim != dimensions or one.shape != two.shape:
        raise InputError(
            f"both streams need a value for each step{' of each run' * (dimensions - 1)}, but their"
            f" shapes are {one.shape} and {two.shape}"
        )
    return np.stack([one, two], axis=-2)
