"""The best that could have been, by trying every choice there was."""

from collections.abc import Sequence
from functools import cache

from tests.naive.join import FOREVER, Item, Now, Window


def most_results(
    arrivals: Sequence[tuple], windows: tuple[Window, Window], capacity: int | tuple[int, int]
) -> int:
    """The most results of a join: whenever the buffer is full, every victim and refusal is tried.

    The parameters are those of :func:`tests.naive.join.join`; arrivals have no size.
    """
    if isinstance(capacity, tuple):
        # The parts of a split buffer do not disturb each other: the other one may hold all.
        halves = [(capacity[0], FOREVER), (FOREVER, capacity[1])]
        exact = _best(arrivals, windows, (FOREVER, FOREVER))
        return sum(_best(arrivals, windows, half) for half in halves) - exact
    return _best(arrivals, windows, capacity)


def _best(
    arrivals: Sequence[tuple], windows: tuple[Window, Window], capacity: int | tuple[int, int]
) -> int:
    items, nows, counts = [], [], [0, 0]
    for serial, (stream, time, key) in enumerate(arrivals):
        counts[stream] += 1
        items.append(Item(serial, stream, time, key, counts[stream]))
        nows.append(Now(time, list(counts)))

    @cache
    def best_from(serial: int, buffered: frozenset[int]) -> int:
        if serial == len(items):
            return 0
        item, now = items[serial], nows[serial]
        alive = frozenset(
            old for old in buffered if windows[items[old].stream].lifetime(items[old], now) >= 0
        )
        if item.key is None:
            return best_from(serial + 1, alive)
        found = sum(
            items[old].stream != item.stream and items[old].key == item.key for old in alive
        )
        pool = alive
        most = capacity
        if isinstance(capacity, tuple):
            pool = frozenset(old for old in alive if items[old].stream == item.stream)
            most = capacity[item.stream]
        options = [alive | {serial}]
        if len(pool) >= most:
            options = [alive, *(alive - {victim} | {serial} for victim in pool)]
        return found + max(best_from(serial + 1, kept) for kept in options)

    return best_from(0, frozenset())


def most_hits(references: Sequence[int], capacity: int, refuse: bool) -> int:
    """The most hits of a cache."""

    @cache
    def best_from(step: int, cached: frozenset[int]) -> int:
        if step == len(references):
            return 0
        row = references[step]
        if row in cached:
            return 1 + best_from(step + 1, cached)
        if len(cached) < capacity:
            options = [cached | {row}]
        else:
            options = [cached - {victim} | {row} for victim in cached]
        if refuse or not options:
            options.append(cached)
        return max(best_from(step + 1, kept) for kept in options)

    return best_from(0, frozenset())
