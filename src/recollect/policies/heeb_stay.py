"""How long tuples stay in the buffer, and how long they may: HEEB's steps are arrivals of a stream.

By Little's law the mean time in the buffer, in arrivals, is the number of tuples held, summed over
the arrivals, by the number of tuples admitted.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.policies.base import Array
from recollect.policies.search.tournament import FOREVER, remaining

ENOUGH = 32
"""How many arrivals it takes to see for how long tuples are held, and what is assumed before."""
NOT_STARTED = np.iinfo(np.int64).min

HELD, ADMITTED, SEEN, ALL = range(4)


class Stay(NamedTuple):
    """What was seen of it."""

    tally: Array
    """Since the last look: tuples HELD, summed over arrivals, tuples ADMITTED, arrivals SEEN; and
    ALL arrivals ever."""
    lifetime: Array
    """For how many arrivals a tuple is held."""
    first: Array
    """By stream: the first moment on its clock."""


def new_stay(streams: int) -> Stay:
    """Nothing has been seen yet."""
    return Stay(np.zeros(4, np.int64), np.array([float(ENOUGH)]), np.full(streams, NOT_STARTED))


@inlined
def pass_by(stay, buffer, streams):
    """See an arrival; the streams are those whose tuples count."""
    stay.tally[SEEN] += 1
    stay.tally[ALL] += 1
    for stream in streams:
        stay.tally[HELD] += buffer.live[stream]
        if stay.first[stream] == NOT_STARTED:
            stay.first[stream] = buffer.clock[stream]


@inlined
def steps_left(stay, buffer, stream, expires, arrivals):
    """How many tuples come before a window ends, of which there were so many so far."""
    first = stay.first[stream]
    lifetime = remaining(buffer, stream, expires)
    if lifetime == FOREVER or first == NOT_STARTED:
        return np.inf
    elapsed = np.float64(max(buffer.clock[stream] - first, 1))
    # A tuple that came late may have outlived its window already.
    return np.float64(max(lifetime, 0)) * np.float64(arrivals) / elapsed


def look(stay: Stay, arrivals: int) -> float:
    """Tell for how many steps tuples stay, of which there were so many among all arrivals."""
    # What was admitted while the buffer was being filled stays longer yet.
    if stay.tally[SEEN] >= ENOUGH and stay.tally[ADMITTED] > 0:
        stay.lifetime[0] = stay.tally[HELD] / stay.tally[ADMITTED]
        stay.tally[:ALL] = 0
    return max(1.0, float(stay.lifetime[0] * arrivals / max(stay.tally[ALL], 1)))
