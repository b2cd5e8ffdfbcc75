"""How the streams of a query meet: two streams in one join, or any number of both.

Everything that differs between a join of two streams and a workload of many is asked of the *shape*
of the query, by the functions below. For a :class:`Pair` the answers are constants, so the compiler
drops the loops over joins and streams, and one kernel and one copy of each policy serve both.

>>> pair = shape_of(((0, 1),))
>>> joins(pair), streams(pair), others(pair, 0, 1), other(pair, 0, 1, 0)
(1, 2, 1, 0)
>>> three = shape_of(((0, 1, 2), (1, 2)))
>>> joins(three), streams(three), [int(other(three, 0, 1, place)) for place in range(2)]
(2, 3, [0, 2])
>>> int(others(three, 1, 0)), int(column(three, 1, 2)), int(home(three, 0)), int(home(three, 1))
(0, 5, 0, -1)
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import hook, inlined

NONE = -1


@hook
def joins(shape):
    """How many joins there are."""


@hook
def streams(shape):
    """How many streams there are."""


@hook
def others(shape, join, stream):
    """How many streams a stream meets in a join."""


@hook
def other(shape, join, stream, place):
    """One of the streams that a stream meets in a join, itself if it is joined with itself."""


@hook
def meets(shape, join, stream, other):
    """Whether tuples of two streams match in a join."""


@hook
def role(shape, join, stream):
    """The place of a stream in a join; the last one, where it is joined with itself."""


@hook
def column(shape, join, stream):
    """A number for the keys of a stream in a join."""


@hook
def home(shape, stream):
    """The only join of a stream whose tuples expire in the order in which they came, else NONE."""


@hook
def indexes(shape):
    """How many hash tables the buffer has: one for each join, and one for subjects if any."""


@hook
def link_of(shape, slot, join):
    """Where ``buffer.next`` has the next tuple of a slot in a join."""


@hook
def has_end(shape, stream):
    """Whether the tuples of a stream bring their own end, and so expire in any order."""


@hook
def slot_bytes(shape):
    """How many bytes the record of a slot takes, if that is known when the kernel is compiled."""
    return 0


@hook
def takes_part(shape, arrival, join):
    """Whether an arrival has a key in a join: its stream may not be in it, or the key be NULL."""


@hook
def key_in(shape, arrival, join):
    """The code of the key of an arrival in a join that it takes part in."""


@hook
def group_in(shape, arrival, join):
    """Where the buffer keeps the tuples with this key, or NONE if there are none."""


@inlined
def following(buffer, slot, join):
    """The next younger tuple of the same stream with the same key in a join, or NONE."""
    return buffer.next[link_of(buffer.shape, slot, join)]


class Pair(NamedTuple):
    """Two streams that are joined with each other."""

    def joins(self):
        """See the function of this name, here and below."""
        return 1

    def streams(self):  # noqa: D102
        return 2

    def others(self, join, stream):  # noqa: D102
        return 1

    def other(self, join, stream, place):  # noqa: D102
        return 1 - stream

    def meets(self, join, stream, other):  # noqa: D102
        return stream != other

    def role(self, join, stream):  # noqa: D102
        return stream

    def column(self, join, stream):  # noqa: D102
        return stream

    def home(self, stream):  # noqa: D102
        return 0

    def indexes(self):  # noqa: D102
        return 1

    def link_of(self, slot, join):  # noqa: D102
        return slot

    def has_end(self, stream):  # noqa: D102
        return False

    def slot_bytes(self):  # noqa: D102
        return 64

    def takes_part(self, arrival, join):  # noqa: D102
        return True

    def key_in(self, arrival, join):  # noqa: D102
        return arrival.key

    def group_in(self, arrival, join):  # noqa: D102
        return arrival.group


class Many(NamedTuple):
    """Any streams and joins."""

    meeting: np.ndarray
    """By join and stream: how many other streams it meets there."""
    partners: np.ndarray
    """By join and stream: which."""
    together: np.ndarray
    """By join, stream and other stream: whether they meet there."""
    roles: np.ndarray
    """By join and stream: the place of the stream in the join."""
    homes: np.ndarray
    """By stream: its only join, if its tuples expire in order."""
    ends: np.ndarray
    """By stream: whether its tuples have their own end."""
    tables: np.ndarray
    """How many hash tables there are."""

    def joins(self):
        """See the function of this name, here and below."""
        return self.meeting.shape[0]

    def streams(self):  # noqa: D102
        return self.meeting.shape[1]

    def others(self, join, stream):  # noqa: D102
        return self.meeting[join, stream]

    def other(self, join, stream, place):  # noqa: D102
        return self.partners[join, stream, place]

    def meets(self, join, stream, other):  # noqa: D102
        return self.together[join, stream, other] != 0

    def role(self, join, stream):  # noqa: D102
        return self.roles[join, stream]

    def column(self, join, stream):  # noqa: D102
        return join * self.meeting.shape[1] + stream

    def home(self, stream):  # noqa: D102
        return self.homes[stream]

    def indexes(self):  # noqa: D102
        return self.tables[0]

    def link_of(self, slot, join):  # noqa: D102
        return slot * self.tables[0] + join

    def has_end(self, stream):  # noqa: D102
        return self.ends[stream] != 0

    def takes_part(self, arrival, join):  # noqa: D102
        return arrival.present[join] != 0

    def key_in(self, arrival, join):  # noqa: D102
        return arrival.keys[join]

    def group_in(self, arrival, join):  # noqa: D102
        return arrival.groups[join]


Joins = tuple[tuple[int, ...], ...]
PAIR: Joins = ((0, 1),)


def shape_of(
    joins: Joins, ends: tuple[bool, ...] = (), subjects: bool = False, as_many: bool = False
) -> Pair | Many:
    """Describe how streams meet.

    Parameters
    ----------
    joins
        The streams of each join by number, one of them twice for a join with itself.
    ends
        By stream: whether its tuples bring their own end.
    subjects
        Whether newer facts about a subject replace older ones.
    as_many
        Describe a plain join of two streams as one of many; for tests.
    """
    if joins == PAIR and not any(ends) and not subjects and not as_many:
        return Pair()
    count = 1 + max(stream for streams in joins for stream in streams)
    meeting = np.zeros((len(joins), count), np.int64)
    partners = np.full((len(joins), count, count), NONE, np.int64)
    together = np.zeros((len(joins), count, count), np.uint8)
    roles = np.full((len(joins), count), NONE, np.int64)
    homes = np.full(count, NONE, np.int64)
    for join, streams in enumerate(joins):
        for place, stream in enumerate(streams):
            met = sorted((*streams[:place], *streams[place + 1 :]))
            meeting[join, stream] = len(met)
            partners[join, stream, : len(met)] = met
            together[join, stream, met] = 1
            roles[join, stream] = place
    for stream in range(count):
        mine = [join for join, streams in enumerate(joins) if stream in streams]
        if len(mine) == 1 and not any(ends):
            homes[stream] = mine[0]
    return Many(
        meeting, partners, together, roles, homes,
        np.array([*ends, *[False] * (count - len(ends))], np.uint8),
        np.array([len(joins) + int(subjects)]),
    )  # fmt: skip
