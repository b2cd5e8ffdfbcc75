"""The memory-bounded join of two streams, slowly and by the book.

Buffered tuples are Python objects in a list. Every rule is applied as it is defined, so that the
code can be checked by reading it; the engine is then checked against this.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

FOREVER = 2**63 - 1
"""More than any lifetime that a test uses."""


@dataclass(eq=False)
class Item:
    """A tuple of a stream."""

    serial: int
    """Its place in the merged input, from 1."""
    stream: int
    time: int
    key: Any
    ordinal: int
    """Its place in its own stream, from 1."""
    size: int = 1


@dataclass
class Now:
    """What time it is: on the clock, and in arrivals of each stream."""

    time: int = 0
    arrivals: list[int] = field(default_factory=lambda: [0, 0])


class TimeWindow(NamedTuple):
    """Alive while no more than ``span`` time units have passed."""

    span: int

    def lifetime(self, item: Item, now: Now) -> int:
        """How much further its clock may go with the tuple still alive; negative if it is dead."""
        return self.span - (now.time - item.time)


class CountWindow(NamedTuple):
    """Alive while among the last ``rows`` arrivals of its stream."""

    rows: int

    def lifetime(self, item: Item, now: Now) -> int:
        """See :class:`TimeWindow`."""
        younger = now.arrivals[item.stream] - item.ordinal
        return self.rows - 1 - younger


class LandmarkWindow(NamedTuple):
    """Alive until the clock reaches the next multiple of ``span``."""

    span: int

    def lifetime(self, item: Item, now: Now) -> int:
        """See :class:`TimeWindow`."""
        landmark = item.time - item.time % self.span + self.span
        return landmark - 1 - now.time


class UnlimitedWindow(NamedTuple):
    """Alive for ever."""

    def lifetime(self, item: Item, now: Now) -> int:
        """See :class:`TimeWindow`."""
        return FOREVER


Window = TimeWindow | CountWindow | LandmarkWindow | UnlimitedWindow


class NaivePolicy:
    """What the naive join tells a policy, and asks it. ``buffered`` is its part of the buffer.

    Parameters
    ----------
    streams
        The streams whose tuples it looks after: both, or one if the budget is split.
    seed
        For policies that draw random numbers.
    lifetime
        Tells how long a tuple will yet be alive, on the clock of its stream.
    """

    def __init__(
        self, streams: Sequence[int], seed: int = 0, lifetime: Callable[[Item], int] | None = None
    ) -> None:
        self.streams = streams
        self.seed = seed
        self.lifetime = lifetime
        self.begin()

    def begin(self) -> None:
        """Set up what the policy remembers."""

    def tick(self, buffered: list[Item], arrival: Item) -> None:
        """Hear of an arrival, before it looks for partners."""

    def match(self, item: Item) -> None:
        """Hear that a buffered tuple gave a result."""

    def match_in(self, item: Item, join: int) -> None:
        """Hear the same of one of many joins."""
        self.match(item)

    def partial(self, item: Item) -> None:
        """Hear that a buffered tuple met an arrival, but a tuple of another stream was missing."""

    def victim(self, buffered: list[Item], newcomer: Item) -> Item | None:
        """Choose the tuple to forget; None refuses the newcomer."""
        raise NotImplementedError

    def forget(self, item: Item) -> None:
        """Hear that a tuple leaves, expired or evicted."""

    def admit(self, buffered: list[Item], item: Item) -> None:
        """Hear that the newcomer goes in; ``buffered`` does not hold it yet."""

    def settle(self, buffered: list[Item]) -> None:
        """Hear that an arrival has been dealt with."""


@dataclass
class Step:
    """What one arrival did; serials, in the order in which things happened."""

    expired: list[int] = field(default_factory=list)
    evicted: list[int] = field(default_factory=list)
    refused: bool = False
    buffered: list[int] = field(default_factory=list)
    """What is in the buffer afterwards."""


@dataclass
class Trace:
    """What a join did: the result pairs (serials, left first) and a step per arrival."""

    pairs: list[tuple[int, int]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


def join(
    arrivals: Sequence[tuple],
    windows: tuple[Window, Window],
    capacity: int | tuple[int, int] | None = None,
    make_policy: Callable[..., NaivePolicy] = NaivePolicy,
    seed: int = 0,
) -> Trace:
    """Join two streams.

    Parameters
    ----------
    arrivals
        The merged input: (stream, time, key) or (stream, time, key, size). A key of None is NULL.
    windows
        By stream.
    capacity
        A number for one unified buffer, a pair for a split one, None for no limit.
    make_policy
        Called with streams, seed and lifetime, once for each part of the budget; the second part
        has the seed that follows.
    """
    now = Now()

    def lifetime(item: Item) -> int:
        return windows[item.stream].lifetime(item, now)

    split = isinstance(capacity, tuple)
    capacities = capacity if split else (FOREVER if capacity is None else capacity,)
    parts = [(0,), (1,)] if split else [(0, 1)]
    policies = [make_policy(streams, seed + i, lifetime) for i, streams in enumerate(parts)]
    pool_of = (0, 1) if split else (0, 0)
    buffers: list[list[Item]] = [[] for _ in policies]
    trace = Trace()

    def leave(item: Item) -> None:
        pool = pool_of[item.stream]
        policies[pool].forget(item)
        buffers[pool].remove(item)

    for serial, (stream, time, key, *size) in enumerate(arrivals, start=1):
        now.time = time
        now.arrivals[stream] += 1
        item = Item(serial, stream, time, key, now.arrivals[stream], *size)
        step = Step()
        trace.steps.append(step)

        # Expire, the left stream first, in each the oldest first.
        for owner in (0, 1):
            for old in list(buffers[pool_of[owner]]):
                if old.stream == owner and lifetime(old) < 0:
                    leave(old)
                    step.expired.append(old.serial)

        if key is not None:
            for policy, buffer in zip(policies, buffers, strict=True):
                policy.tick(buffer, item)

            # Probe, the oldest first.
            partner = 1 - stream
            for old in list(buffers[pool_of[partner]]):
                if old.stream == partner and old.key == key:
                    pair = (old.serial, serial) if partner == 0 else (serial, old.serial)
                    trace.pairs.append(pair)
                    policies[pool_of[partner]].match(old)

            # Admit.
            pool = pool_of[stream]
            policy, buffer, most = policies[pool], buffers[pool], capacities[pool]
            step.refused = item.size > most
            while not step.refused and sum(old.size for old in buffer) + item.size > most:
                victim = policy.victim(buffer, item)
                if victim is None:
                    step.refused = True
                else:
                    leave(victim)
                    step.evicted.append(victim.serial)
            if not step.refused:
                policy.admit(buffer, item)
                buffer.append(item)
            for policy, buffer in zip(policies, buffers, strict=True):
                policy.settle(buffer)

        step.buffered = sorted(item.serial for buffer in buffers for item in buffer)
    return trace


def exact_pairs(arrivals: Sequence[tuple], windows: tuple[Window, Window]) -> list[tuple[int, int]]:
    """The results of the join that forgets nothing: every pair of tuples is looked at."""
    now = Now()
    items: list[Item] = []
    pairs = []
    for serial, (stream, time, key, *_) in enumerate(arrivals, start=1):
        now.time = time
        now.arrivals[stream] += 1
        item = Item(serial, stream, time, key, now.arrivals[stream])
        for old in items:
            if (
                key is not None
                and old.key == key
                and old.stream != stream
                and windows[old.stream].lifetime(old, now) >= 0
            ):
                pairs.append((old.serial, serial) if stream == 1 else (serial, old.serial))
        items.append(item)
    return pairs
