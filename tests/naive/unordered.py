"""The join of batches that overlap in time, slowly and by the book.

A batch is sorted by time, the left stream first, and joined arrival by arrival. An arrival may be
older than tuples that are buffered already, so each pair is checked for its times: the earlier
tuple's window must reach the later one. Windows, tuples and policies are those of
:mod:`tests.naive.join`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.naive.frequency import Life, Prob
from tests.naive.join import FOREVER, Item, NaivePolicy, Now, Trace, Window


class Batch(NamedTuple):
    """What arrives together, and what is said about the times still to come."""

    rows: Sequence[tuple]
    """(stream, time, key) or (stream, time, key, size), in any order."""
    certain: int
    """Nothing in later batches is older."""
    probable: int
    """Most likely nothing in later batches is older."""


@dataclass
class Counts:
    """By stream: what became of the tuples, as serials."""

    expired: list[list[int]] = field(default_factory=lambda: [[], []])
    evicted: list[list[int]] = field(default_factory=lambda: [[], []])
    refused: list[list[int]] = field(default_factory=lambda: [[], []])


@dataclass
class UnorderedTrace(Trace):
    """Also what is buffered after each batch, and what became of the rest."""

    counts: Counts = field(default_factory=Counts)
    buffered: list[list[int]] = field(default_factory=list)


def in_order(batches: Sequence[Batch]) -> list[list[Item]]:
    """The tuples of each batch in the order in which they are joined."""
    serial = 0
    ordinals = [0, 0]
    ordered = []
    for batch in batches:
        items = []
        for stream, time, key, *size in sorted(batch.rows, key=lambda row: (row[1], row[0])):
            serial += 1
            ordinals[stream] += 1
            items.append(Item(serial, stream, time, key, ordinals[stream], *size))
        ordered.append(items)
    return ordered


def reaches(windows: tuple[Window, Window], one: Item, two: Item) -> bool:
    """Whether the window of the earlier of two tuples reaches the later one."""
    earlier, later = sorted((one, two), key=lambda item: item.time)
    return windows[earlier.stream].lifetime(earlier, Now(later.time)) >= 0


def exact_pairs(batches: Sequence[Batch], windows: tuple[Window, Window]) -> list[tuple[int, int]]:
    """The serials of all pairs that belong together: every pair of tuples is looked at."""
    items = [item for batch in in_order(batches) for item in batch]
    return [
        (left.serial, right.serial)
        for left in items
        for right in items
        if (left.stream, right.stream) == (0, 1)
        and left.key == right.key
        and reaches(windows, left, right)
    ]


def join(
    batches: Sequence[Batch],
    windows: tuple[Window, Window],
    capacity: int = FOREVER,
    make_policy: Callable[..., NaivePolicy] = NaivePolicy,
    seed: int = 0,
) -> UnorderedTrace:
    """Join two streams whose batches overlap in time."""
    now = Now(-(2**63))
    """Probably nothing older comes any more."""

    def expired(item: Item, moment: int) -> bool:
        return windows[item.stream].lifetime(item, Now(moment)) < 0

    def lifetime(item: Item) -> int:
        return windows[item.stream].lifetime(item, now)

    policy = make_policy((0, 1), seed, lifetime)
    buffer: list[Item] = []
    trace = UnorderedTrace()
    counts = trace.counts

    def first_of(stream: int) -> Item | None:
        return next((item for item in buffer if item.stream == stream), None)

    def leave(item: Item, why: list[list[int]]) -> None:
        policy.forget(item)
        buffer.remove(item)
        why[item.stream].append(item.serial)

    def pass_over_the_young(first: int, certain: int) -> None:
        """Expire also behind a tuple that is younger than what arrives now."""
        for stream in (0, 1):
            head = first_of(stream)
            if head is not None and head.time > first:
                for old in [item for item in buffer if item.stream == stream]:
                    if expired(old, min(first, certain)):
                        leave(old, counts.expired)

    for batch, items in zip(batches, in_order(batches), strict=True):
        if items:
            pass_over_the_young(items[0].time, batch.certain)
        for item in items:
            past = min(item.time, batch.certain)
            now.time = max(now.time, min(item.time, batch.probable))

            # Expire what arrived first, as long as nothing to come can match it.
            for stream in (0, 1):
                while (old := first_of(stream)) is not None and expired(old, past):
                    leave(old, counts.expired)

            policy.tick(buffer, item)
            for old in list(buffer):
                partners = old.stream != item.stream and old.key == item.key
                if partners and reaches(windows, old, item):
                    left, right = (old, item) if old.stream == 0 else (item, old)
                    trace.pairs.append((left.serial, right.serial))
                    policy.match(old)

            # Admit; what has probably expired and arrived first goes before any victim.
            refused = item.size > capacity
            while not refused and sum(old.size for old in buffer) + item.size > capacity:
                heads = [first_of(stream) for stream in (0, 1)]
                outlived = [old for old in heads if old is not None and lifetime(old) < 0]
                if outlived:
                    leave(outlived[0], counts.expired)
                    continue
                victim = policy.victim(buffer, item)
                if victim is None:
                    refused = True
                else:
                    leave(victim, counts.evicted)
            if refused:
                counts.refused[item.stream].append(item.serial)
            else:
                policy.admit(buffer, item)
                buffer.append(item)
            policy.settle(buffer)
        trace.buffered.append(sorted(old.serial for old in buffer))
    return trace


def first_of_each_key(policy: type[NaivePolicy]) -> type[NaivePolicy]:
    """PROB or LIFE where of a stream's tuples with one key just the first to arrive may go.

    In order of time that is the first to expire; here it need not be.
    """

    class FirstOfEachKey(policy):  # type: ignore[misc,valid-type]
        def victim(self, buffered, newcomer):
            first: dict[tuple, Item] = {}
            for item in buffered:
                first.setdefault((item.stream, item.key), item)
            return super().victim(list(first.values()), newcomer)

    return FirstOfEachKey


UnorderedProb = first_of_each_key(Prob)
UnorderedLife = first_of_each_key(Life)
