"""The contract between the engine and a policy: which tuple to forget.

A policy is a frozen dataclass of parameters whose :meth:`Policy.start` makes the policy's state: a
NamedTuple of numpy arrays with at most seven short methods, compiled into the join's inner loop.

===========  ======================================================================================
``tick``     a tuple arrives (called for each arrival, before it looks for partners)
``match``    a buffered tuple just gave a result
``match_in`` the same in a workload of many joins, with the join in which it did; if there is none,
             ``match`` is called
``partial``  in a join of three or more streams, a buffered tuple met the arrival, but no result
             followed, because a tuple of another stream was missing
``victim``   the buffer is full: return the slot to forget, or ``NEWCOMER`` to refuse the arrival
``forget``   the tuple in a slot is about to leave, because it expired or was a victim
``admit``    the arrival has been put into a slot
===========  ======================================================================================

All are optional but ``victim``. They see the ``buffer`` (:class:`recollect.join.buffer.Buffer`, a
NamedTuple of arrays by slot, to be read only), must be code that numba compiles, and must not
create arrays. Where a budget is split, each part has a state of its own, which hears only of the
tuples of its own streams (``tick`` excepted) and must choose its victims among them.

>>> from dataclasses import dataclass
>>> class State(NamedTuple):
...     newest: np.ndarray
...     def admit(self, buffer, slot):
...         self.newest[0] = slot
...     def victim(self, buffer, newcomer):
...         return self.newest[0]
>>> @dataclass(frozen=True)
... class ForgetTheNewest(Policy):
...     def start(self, room):
...         return State(np.zeros(1, np.int64))
>>> ForgetTheNewest().spec
'recollect.policies.base:ForgetTheNewest'
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from recollect.compiled import hook
from recollect.errors import PolicyError

Array = np.ndarray
State = Any
"""A NamedTuple of arrays (or of further such tuples)."""

NEWCOMER = -1
"""What ``victim`` returns to refuse the arriving tuple."""

registry: dict[str, type["Policy"]] = {}
"""The policies that have a short name."""


class Arrival(NamedTuple):
    """The tuple that is just arriving."""

    stream: int
    """Which stream it belongs to: 0 is the left one."""
    key: int
    """The code of its join key."""
    time: int
    expires: int
    """The last moment, on the clock of its stream, at which it may match."""
    group: int
    """Where the buffer keeps the tuples with this key, or -1 if there are none."""
    serial: int
    """Its place in the merged input."""


@dataclass(frozen=True)
class Room:
    """What a policy's state must have room for."""

    slots: int
    """How many slots the buffer has now; they may become more (see :meth:`Policy.grow`)."""
    streams: tuple[int, ...]
    """The streams whose tuples this state looks after."""
    seed: int = 0
    bytes: int | None = None
    """The budget, if it is in bytes: statistics must stay well below it."""
    joins: tuple[tuple[int, ...], ...] = ((0, 1),)
    """The streams of each join, one of them twice for a join with itself. A workload may have many;
    then an arrival has a key for each join (:func:`key_in`)."""
    in_order: bool = True
    """Whether the tuples of a stream with one key expire in the order in which they arrived."""

    @property
    def stream_count(self) -> int:
        """How many streams there are, whether this state looks after them or not."""
        return 1 + max(stream for join in self.joins for stream in join)

    @property
    def is_pair(self) -> bool:
        """Whether this is the plain join of two streams."""
        return self.joins == ((0, 1),) and self.in_order

    def partners(self) -> Array:
        """By join and stream: the streams that it meets there, as ``[join, stream, other]``."""
        meets = np.zeros((len(self.joins), self.stream_count, self.stream_count), np.uint8)
        for join, streams in enumerate(self.joins):
            for place, stream in enumerate(streams):
                for other in (*streams[:place], *streams[place + 1 :]):
                    meets[join, stream, other] = 1
        return meets


def _continued(old: State, new: State) -> State:
    for before, after in zip(old, new, strict=True):
        if isinstance(before, tuple):
            _continued(before, after)
        else:
            after[: len(before)] = before
    return new


@dataclass(frozen=True)
class Policy:
    """Base of all policies; a subclass is a dataclass of parameters with :meth:`start`.

    ``class Mine(Policy, name="mine")`` makes it known under a short name.
    """

    name: ClassVar[str] = ""
    thorough: ClassVar[bool] = False
    """Whether a victim may cost as much as the buffer holds; then it runs only if it is named."""
    _typed: ClassVar[str] = ""
    """What the user typed, set by :func:`recollect.policies.parse_policy`."""

    def __init_subclass__(cls, name: str = "") -> None:
        """Enter a class that has a short name into the registry."""
        cls.name = name
        if name:
            registry[name] = cls

    def start(self, room: Room) -> State:
        """Make the state of an empty buffer."""
        raise PolicyError(f"{type(self).__qualname__} is a policy without a start() method")

    def started(self, room: Room) -> State:
        """Make the state of an empty buffer, and make sure that it is one."""
        state = self.start(room)
        if not hasattr(type(state), "_fields") or not hasattr(type(state), "victim"):
            raise PolicyError(
                f"policy {self.spec}: start() must return a NamedTuple of arrays that has a method"
                f" victim(), not a {type(state).__qualname__}"
            )
        return state

    def grow(self, state: State, room: Room) -> State:
        """Carry a state over to a room with more slots.

        By default each array is copied to the beginning of its successor. A policy whose arrays
        cannot just be continued does it in its own way.
        """
        return _continued(state, self.start(room))

    def enlarge(self, state: State) -> State:
        """Give the statistics of a state that is ``crowded`` more room."""
        raise TypeError(f"{type(self).__qualname__} is crowded, but has no enlarge() method")

    @property
    def spec(self) -> str:
        """The text that names this policy with its parameters: as typed, if it was.

        >>> from recollect.policies import parse_policy
        >>> parse_policy("gdj:percentile=0.95").spec
        'gdj:percentile=0.95'
        """
        if self._typed:
            return self._typed
        title = self.name or f"{type(self).__module__}:{type(self).__qualname__}"
        given = [
            f"{field.name}={getattr(self, field.name)}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return title + (":" + ",".join(given) if given else "")


@hook
def crowded(state):
    """Whether statistics that grow with the stream have no room for another arrival.

    Asked before each arrival; :meth:`Policy.enlarge` is then called.
    """
    return False


@hook
def tick(state, buffer, arrival):
    """See the module's table."""


@hook
def match(state, buffer, slot):
    """See the module's table."""


@hook
def match_in(state, buffer, slot, join):
    """See the module's table."""
    match(state, buffer, slot)


@hook
def partial(state, buffer, slot):
    """See the module's table."""


@hook
def victim(state, buffer, newcomer):
    """See the module's table."""
    return NEWCOMER


@hook
def forget(state, buffer, slot):
    """See the module's table."""


@hook
def admit(state, buffer, slot):
    """See the module's table."""


# What a policy asks an arrival for that may take part in several joins; of a pair there is one.


@hook
def takes_part(arrival, join):
    """Whether an arrival has a key in a join: its stream may not be in it, or the key be NULL."""
    return True


@hook
def key_in(arrival, join):
    """The code of the key of an arrival in a join that it takes part in."""
    return arrival.key


@hook
def group_in(arrival, join):
    """Where the buffer keeps the tuples with this key, or -1 if there are none."""
    return arrival.group
