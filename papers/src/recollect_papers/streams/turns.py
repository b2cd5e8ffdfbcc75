"""Many processes that take turns: whoever is due earliest goes first and is due again later."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

Turns: TypeAlias = Callable[[NDArray[np.float64]], tuple[NDArray[np.int64], NDArray[np.float64]]]


def take_turns(due: NDArray[np.float64], pace: NDArray[np.float64] | None = None) -> Turns:
    """Return a function that lets the processes take their next turns.

    It is called with one pause per turn and returns who had each turn, and when; the pause says
    when the same process is due again. At equal times the lower number goes first. Memory and
    the time per turn depend on the number of processes only (a binary heap).

    Parameters
    ----------
    due
        When each process is due first.
    pace
        For each process the factor by which its pauses are longer; 1 if left out.

    Examples
    --------
    >>> turns = take_turns(np.array([0.0, 1.0]), pace=np.array([1.0, 4.0]))
    >>> turns(np.ones(6))
    (array([0, 0, 1, 0, 0, 0]), array([0., 1., 1., 2., 3., 4.]))
    """
    # Sorted by time, then by number: a sorted array is a heap.
    heap = np.argsort(due, kind="stable")
    times = due[heap]
    paces = np.ones(len(due)) if pace is None else pace

    def turns(pauses: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        who, when = np.empty(len(pauses), np.int64), np.empty(len(pauses))
        _take_turns(times, heap, paces, pauses, who, when)
        return who, when

    return turns


@njit(cache=True)
def _take_turns(
    times: NDArray[np.float64],
    heap: NDArray[np.int64],
    pace: NDArray[np.float64],
    pauses: NDArray[np.float64],
    who: NDArray[np.int64],
    when: NDArray[np.float64],
) -> None:
    for turn in range(pauses.size):
        one, time = heap[0], times[0]
        who[turn], when[turn] = one, time
        time += pauses[turn] * pace[one]
        # Let the root sink to its new place.
        place = 0
        while 2 * place + 1 < heap.size:
            child = 2 * place + 1
            if child + 1 < heap.size and _before(times, heap, child + 1, times[child], heap[child]):
                child += 1
            if not _before(times, heap, child, time, one):
                break
            times[place], heap[place] = times[child], heap[child]
            place = child
        times[place], heap[place] = time, one


@njit(cache=True)
def _before(
    times: NDArray[np.float64], heap: NDArray[np.int64], place: int, time: float, one: int
) -> bool:
    return times[place] < time or (times[place] == time and heap[place] < one)
