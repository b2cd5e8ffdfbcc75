"""Streams, windows and budgets to try policies on, and how many of them."""

import os

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from tests.naive.join import CountWindow, LandmarkWindow, TimeWindow, UnlimitedWindow


def examples(count: int) -> settings:
    """Try so many examples, always the same ones; RECOLLECT_EXAMPLES=20 tries 20 times as many.

    With that, they are also different ones each time.
    """
    factor = int(os.environ.get("RECOLLECT_EXAMPLES", "1"))
    return settings(
        max_examples=count * factor,
        derandomize=factor == 1,
        deadline=None,
        database=None,
        phases=set(Phase) - {Phase.explain},  # it traces every line of what runs interpreted
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


windows = st.one_of(
    st.integers(0, 40).map(TimeWindow),
    st.integers(1, 15).map(CountWindow),
    st.integers(1, 30).map(LandmarkWindow),
    st.just(UnlimitedWindow()),
)
capacities = st.one_of(st.integers(1, 20), st.tuples(st.integers(1, 10), st.integers(1, 10)))


@st.composite
def runs(draw, step, longest: int) -> list:
    """A list of steps; unlike those of hypothesis itself, on average half as long as it may be."""
    length = draw(st.integers(0, longest))
    return draw(st.lists(step, min_size=length, max_size=length))


@st.composite
def arrivals(draw, longest: int = 60, sizes: bool = False) -> list[tuple]:
    """A merged input: few keys, bursts of equal times, gaps, sometimes NULL keys and sizes."""
    keys = draw(st.integers(1, 8))
    key = st.one_of(st.integers(-1, keys - 2), st.integers(-1, keys - 2), st.none())
    if draw(st.booleans()):
        key = st.integers(-1, keys - 2)
    gap = st.sampled_from([0, 0, 0, 1, 1, 2, 7, 30])
    time = draw(st.sampled_from([0, 0, -60, 10**12]))
    rows = draw(runs(st.tuples(st.integers(0, 1), gap, key), longest))
    merged = []
    for stream, step, code in rows:
        # At equal times the left stream comes first.
        time += step or int(bool(merged) and stream < merged[-1][0])
        merged.append((stream, time, code))
    if sizes:
        merged = [(*row, draw(st.integers(1, 4))) for row in merged]
    return merged


def local_stream(
    seed: int,
    length: int,
    keys: int = 100,
    repeat: float = 0.5,
    gap: float = 0.7,
    left: float = 0.5,
) -> list[tuple]:
    """A longer merged input, in which keys that came lately often come again.

    Parameters
    ----------
    keys
        How many keys there are; small ones are more frequent.
    repeat
        How often a key is one of the last 40 of both streams.
    gap
        The mean time between two arrivals.
    left
        The share of the left stream.
    """
    random = np.random.default_rng(seed)
    times = np.cumsum(random.poisson(gap, length)) - length // 4
    streams = (random.random(length) >= left).astype(int)
    order = np.lexsort((streams, times))
    recent: list[int] = []
    merged = []
    for stream, time in zip(streams[order], times[order], strict=True):
        if recent and random.random() < repeat:
            key = recent[int(random.integers(len(recent)))]
        else:
            key = int(keys * random.random() ** 2)
        recent = [*recent[-39:], key]
        merged.append((int(stream), int(time), key))
    return merged
