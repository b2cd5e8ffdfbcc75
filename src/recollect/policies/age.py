"""AGE: every tuple of a stream is thought to give its results at the same ages.

The age curve p(k), results per tuple at age k, decides how long a tuple is worth keeping: k_opt
maximises C(k)/k, the results up to age k per time spent in memory. Tuples are kept for k_opt; the
oldest beyond that goes first, and while all are younger, arrivals are refused. A buffer that can
hold k_opt of the stream thus works like FIFO.

Tuples that were evicted show no results any more, so the curve is learnt beside the buffer, from a
sample of keys and arrival times that is followed for the whole window. Ages are counted in bins
whose width doubles when an older match appears. Before the first result it is FIFO.

In a workload of many joins a match is any arrival with an equal key in a join that both take part
in, be there a tuple of every other stream or not.

References
----------
Srivastava, Widom: Memory-Limited Execution of Windowed Stream Joins, 2004; GreedyDual-Join paper,
section 3.2.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.errors import PolicyError
from recollect.policies.base import NEWCOMER, Array, Policy, Room
from recollect.policies.shape import joins, key_in, meets, takes_part

BINS = 128
EVERY = 256
"""How many arrivals of the partner stream pass between two estimates of k_opt."""
NEXT, STRIDE, SEEN, OBSERVED, WIDTH, K_OPT = range(6)
NOT_FOLLOWED = np.iinfo(np.int64).min


class State(NamedTuple):
    """By stream: the tuples followed, the age curve, and what follows from it."""

    streams: Array
    key: Array
    """By stream, tuple followed and join."""
    has_key: Array
    """The same: whether the tuple takes part in the join."""
    birth: Array
    expires: Array
    """Of the tuples followed; NOT_FOLLOWED where there is none."""
    hits: Array
    """By bin: matches at that age."""
    reach: Array
    """By bin: tuples, no longer followed, that were seen at that age."""
    curve: Array
    """By stream: NEXT place to fill, STRIDE and count of arrivals SEEN, arrivals of the partner
    OBSERVED, bin WIDTH, K_OPT."""

    def arrive(self, buffer, arrival):
        """Learn from the partner's followed tuples; follow this one if it is its turn."""
        for stream in self.streams:
            if _meet(buffer.shape, stream, arrival.stream):
                _observe(self, buffer, stream, arrival)
            if stream == arrival.stream:
                _follow(self, buffer, arrival)

    def victim(self, buffer, newcomer):
        """Return the oldest tuple beyond its k_opt, or refuse the newcomer."""
        chosen = NEWCOMER
        for stream in self.streams:
            slot = buffer.oldest[stream]
            if (
                slot >= 0
                and newcomer.time - buffer.time[slot] >= self.curve[stream, K_OPT]
                and (chosen == NEWCOMER or buffer.serial[slot] < buffer.serial[chosen])
            ):
                chosen = slot
        return chosen


@inlined
def _meet(shape, stream, other):
    """Whether there is a join in which tuples of two streams match."""
    met = False
    for join in range(joins(shape)):
        met = met or meets(shape, join, stream, other)
    return met


@inlined
def _follow(state, buffer, arrival):
    """Follow every STRIDE-th tuple; if that drops one that is still alive, follow fewer."""
    stream = arrival.stream
    curve = state.curve[stream]
    curve[SEEN] += 1
    if curve[SEEN] % curve[STRIDE] != 0:
        return
    place = curve[NEXT]
    if state.expires[stream, place] != NOT_FOLLOWED:
        if state.expires[stream, place] >= buffer.clock[stream]:
            curve[STRIDE] *= 2
        _close(state, stream, place, arrival.time)
    for join in range(joins(buffer.shape)):
        state.has_key[stream, place, join] = takes_part(buffer.shape, arrival, join)
        state.key[stream, place, join] = key_in(buffer.shape, arrival, join)
    state.birth[stream, place] = arrival.time
    state.expires[stream, place] = arrival.expires
    curve[NEXT] = (place + 1) % state.key.shape[1]


@inlined
def _close(state, stream, place, now):
    """Enter a tuple that is followed no longer into the ages that were seen."""
    age = now - state.birth[stream, place]
    for bin_ in range(min(age // state.curve[stream, WIDTH] + 1, BINS)):
        state.reach[stream, bin_] += 1


@inlined
def _observe(state, buffer, stream, arrival):
    curve = state.curve[stream]
    for place in range(state.key.shape[1]):
        age = arrival.time - state.birth[stream, place]
        if state.expires[stream, place] < buffer.clock[stream] or age < 0:
            continue
        for join in range(joins(buffer.shape)):
            if (
                state.key[stream, place, join] == key_in(buffer.shape, arrival, join)
                and meets(buffer.shape, join, stream, arrival.stream)
                and state.has_key[stream, place, join] != 0
                and takes_part(buffer.shape, arrival, join)
            ):
                while age // BINS >= curve[WIDTH]:
                    _widen(state, stream)
                state.hits[stream, age // curve[WIDTH]] += 1
    curve[OBSERVED] += 1
    if curve[OBSERVED] % EVERY == 0:
        _estimate(state, stream, arrival.time)


@inlined
def _widen(state, stream):
    """Make the bins twice as wide."""
    hits, reach = state.hits[stream], state.reach[stream]
    for bin_ in range(BINS // 2):
        hits[bin_] = hits[2 * bin_] + hits[2 * bin_ + 1]
        reach[bin_] = reach[2 * bin_]
    for bin_ in range(BINS // 2, BINS):
        hits[bin_] = 0
        reach[bin_] = 0
    state.curve[stream, WIDTH] *= 2


@inlined
def _estimate(state, stream, now):
    """Set k_opt to the age that maximises results per time in memory."""
    width = state.curve[stream, WIDTH]
    total = 0.0
    best = 0.0
    for bin_ in range(BINS):
        seen = state.reach[stream, bin_]
        for place in range(state.key.shape[1]):
            followed = state.expires[stream, place] != NOT_FOLLOWED
            if followed and now - state.birth[stream, place] >= bin_ * width:
                seen += 1
        if seen == 0:
            break
        total += state.hits[stream, bin_] / seen
        age = (bin_ + 1) * width
        if total / age > best:
            best = total / age
            state.curve[stream, K_OPT] = age


@dataclass(frozen=True)
class Age(Policy, name="age"):
    """Forget tuples beyond the age at which results per time in memory are highest.

    Parameters
    ----------
    sample
        How many tuples of each stream are followed to learn the age curve.
    """

    sample: int = 64

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        if self.sample < 1:
            raise PolicyError(f"age: sample={self.sample} is less than 1")

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        streams = room.stream_count
        curve = np.zeros((streams, 6), np.int64)
        curve[:, [STRIDE, WIDTH]] = 1
        return State(
            streams=np.array(room.streams, np.int64),
            key=np.zeros((streams, self.sample, len(room.joins)), np.int64),
            has_key=np.zeros((streams, self.sample, len(room.joins)), np.uint8),
            birth=np.zeros((streams, self.sample), np.int64),
            expires=np.full((streams, self.sample), NOT_FOLLOWED, np.int64),
            hits=np.zeros((streams, BINS), np.int64),
            reach=np.zeros((streams, BINS), np.int64),
            curve=curve,
        )
