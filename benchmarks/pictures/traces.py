"""What a policy keeps, arrival by arrival: the engines run one tuple at a time and are looked into.

Arrivals are alternately of the left and the right stream, one per time unit.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.forecast import Forecast
from recollect.join.budget import Capacity
from recollect.join.engine import Engine
from recollect.join.kernel import Feed
from recollect.join.setting import Setting
from recollect.lookup.cache import Cache
from recollect.optimum import most_results
from recollect.policies import Policy, Room, parse_cache_policy, parse_policy
from recollect_papers.theory import FlowExpect
from recollect_papers.theory.steps import Candidates, run_steps

Whole = NDArray[np.int64]


class Trace(NamedTuple):
    """What was in memory after each arrival, and what each arrival found."""

    keys: Whole
    """By arrival."""
    memory: NDArray[np.int64]
    """By key and arrival: how many tuples with the key are kept."""
    found: Whole
    exact: Whole
    """What it would find with unlimited memory."""


def of_join(keys: Whole, window: int, budget: int, policy: str | Policy) -> Trace:
    """Run a policy of the join."""
    engine = Engine(parse_policy(policy), Setting.of(), Capacity((budget,)))
    kept = []
    for now, key in enumerate(keys.tolist()):
        engine.count(_feed(key, now, window))
        slots = np.concatenate([engine.rows_of(stream)[0] for stream in (0, 1)])
        kept.append(engine.serials(slots) - 1)
    trace = _traced(keys, window, kept)
    assert trace.found.sum() == engine.ledger.results[0]
    return trace


def _feed(key: int, now: int, window: int) -> Feed:
    """A single tuple."""
    return Feed(
        order=np.zeros(1, np.int64),
        stream=np.array([now % 2], np.int32),
        time=np.array([now]),
        moment=np.array([now]),
        expires=np.array([now + window]),
        keys=np.array([[key]]),
        present=np.ones((1, 1), np.uint8),
        row=np.zeros(1, np.int64),
        size=np.zeros(0, np.int64),
        extra=np.zeros((1, 0), np.int64),
    )


def of_optimum(keys: Whole, window: int, budget: int) -> Trace:
    """Keep what the best choice keeps, as long as it has results to come."""
    earlier, later = np.array(_matches(keys, window)).T
    found = most_results(earlier, earlier, later, budget).found
    last = np.zeros(len(keys), np.int64)
    np.maximum.at(last, earlier[found], later[found])
    arrivals = np.arange(len(keys))
    kept = [np.flatnonzero((arrivals <= now) & (last > now)) for now in arrivals]
    return _traced(keys, window, kept)


def of_plans(keys: Whole, window: int, budget: int, laws: tuple[Forecast, Forecast]) -> Trace:
    """Let FLOWEXPECT plan, in its own setting: a tuple of both streams per step."""
    streams = [keys[0::2], keys[1::2]]
    plans = FlowExpect(laws, streams, budget, look_ahead=10)
    kept: list[Whole] = []

    def score(candidates: Candidates, now: int) -> Any:
        scores = plans(candidates, now)
        best = np.argsort(-scores, kind="stable")[:budget]
        after = 2 * candidates.arrived[best] + candidates.stream[best]
        kept.extend([np.append(kept[-1] if kept else [], 2 * now).astype(int), after])
        return scores

    run_steps(*streams, budget, score)
    return _traced(keys, window, kept)


def _matches(keys: Whole, window: int) -> list[tuple[int, int]]:
    return [
        (earlier, later)
        for later, key in enumerate(keys)
        for earlier in range(max(0, later - window), later)
        if (later - earlier) % 2 and keys[earlier] == key
    ]


def _traced(keys: Whole, window: int, kept: list[Whole]) -> Trace:
    memory = np.zeros((keys.max() + 1, len(keys)), np.int64)
    for now, arrivals in enumerate(kept):
        np.add.at(memory[:, now], keys[arrivals], 1)
    found, exact = np.zeros((2, len(keys)), np.int64)
    for earlier, later in _matches(keys, window):
        exact[later] += 1
        found[later] += earlier in kept[later - 1]
    return Trace(keys, memory, found, exact)


def of_cache(keys: Whole, rows: int, policy: str) -> Trace:
    """Refer to keys through a cache."""
    cache = Cache(parse_cache_policy(policy), Room.of_cache(rows, trace=keys))
    memory = np.zeros((keys.max() + 1, len(keys)), np.int64)
    found, exact = np.zeros((2, len(keys)), np.int64)
    seen: set[int] = set()
    for now, key in enumerate(keys):
        found[now] = len(cache.refer(np.array([key])).missed) == 0
        exact[now] = key in seen
        seen.add(key)
        slots, _ = cache.rows_of()
        memory[cache.buffer.key[cache.buffer.group[slots, 0]], now] = 1
    return Trace(keys, memory, found, exact)
