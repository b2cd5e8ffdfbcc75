"""The contract between the engine and a policy: which tuple to forget.

A policy is a frozen dataclass of parameters whose :meth:`Policy.start` makes the policy's state: a
NamedTuple of numpy arrays with at most eight short methods, compiled into the join's inner loop.

===========  ======================================================================================
``arrive``   a tuple arrives (called for each arrival, before it looks for partners)
``match``    a buffered tuple just gave a result
``match_in`` the same with the join in which it did; if there is none, ``match`` is called
``partial``  in a join of three or more streams, a buffered tuple met the arrival, but no result
             followed, because a tuple of another stream was missing
``victim``   the buffer is full: return the slot to forget, or ``NEWCOMER`` to refuse the arrival
``forget``   the tuple in a slot is about to leave, because it expired or was a victim
``admit``    the arrival has been put into a slot
``crowded``  whether the state needs :meth:`Policy.expand` before another tuple arrives
===========  ======================================================================================

All are optional but ``victim``. They see the ``buffer`` (:class:`recollect.join.buffer.Buffer`, a
NamedTuple of arrays by slot, to be read only), must be code that numba compiles, and must not
create arrays. Where a budget is split, each part has a state of its own, which hears only of the
tuples of its own streams (``arrive`` excepted) and must choose its victims among them.

A policy that only gives each tuple a score needs less: see :mod:`recollect.policies.scored`.

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

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from recollect.compiled import hook
from recollect.errors import PolicyError
from recollect.policies.shape import PAIR, Joins, Many, Pair, shape_of

Array = np.ndarray
State = Any
"""A NamedTuple of arrays (or of further such tuples)."""

NEWCOMER = -1
"""What ``victim`` returns to refuse the arriving tuple."""
FIRST_SLOTS = 1024
"""With so many slots a buffer begins."""

registry: dict[str, type["Policy"]] = {}
"""The policies of joins that have a short name."""
cache_registry: dict[str, type["Policy"]] = {}
"""The policies of caches that have one."""


class Arrival(NamedTuple):
    """The tuple that is just arriving."""

    stream: int
    """Which stream it belongs to: 0 is the left one."""
    key: int
    """The code of its join key, in the first join that it takes part in."""
    time: int
    expires: int
    """The last moment, on the clock of its stream, at which it may match."""
    group: int
    """Where the buffer keeps the tuples with this key, or -1 if there are none."""
    serial: int
    """Its place in the merged input, from 1."""
    keys: Array
    """By join: the code of its key there."""
    groups: Array
    """By join: where the buffer keeps the tuples with this key, or -1."""
    present: Array
    """By join: 1 if it takes part. Its stream may not be in the join, or its key may be NULL."""


@dataclass(frozen=True)
class Room:
    """What a policy's state must have room for, and what is known of the query."""

    slots: int
    """How many slots the buffer has now; they may become more (see :meth:`Policy.grow`)."""
    streams: tuple[int, ...]
    """The streams whose tuples this state looks after."""
    seed: int = 0
    bytes: int | None = None
    """The budget, if it is in bytes: statistics must stay well below it."""
    joins: Joins = PAIR
    """The streams of each join, one of them twice for a join with itself."""
    ends: tuple[bool, ...] = ()
    """By stream: whether its tuples bring their own end."""
    capacity: int = 0
    """Of a cache: how many rows it may hold; ``slots`` become so many when they are needed."""
    key_type: pa.DataType | None = None
    """The type of the key, if it is one column whose values are their own codes."""
    trace: Array | None = None
    """Of a cache: the codes of all references there will be, for policies that are ``offline``."""

    @classmethod
    def of_cache(
        cls,
        capacity: int,
        seed: int = 0,
        key_type: pa.DataType | None = None,
        trace: Array | None = None,
    ) -> "Room":
        """Describe an empty cache."""
        # With one slot numpy calls the arrays contiguous, which is another type to numba.
        slots = max(2, min(FIRST_SLOTS, capacity))
        return cls(slots, (0,), seed, capacity=capacity, key_type=key_type, trace=trace)

    @property
    def shape(self) -> Pair | Many:
        """How the streams meet."""
        return shape_of(self.joins, self.ends)

    @property
    def stream_count(self) -> int:
        """How many streams there are, whether this state looks after them or not."""
        return 1 + max(stream for join in self.joins for stream in join)

    @property
    def is_pair(self) -> bool:
        """Whether this is the plain join of two streams."""
        return isinstance(self.shape, Pair)

    @property
    def is_cache(self) -> bool:
        """Whether this is a cache: stream 0 are its rows, stream 1 the references to them."""
        return self.capacity > 0

    @property
    def own(self) -> Array:
        """By stream: 1 if this state looks after its tuples."""
        return np.isin(np.arange(self.stream_count), self.streams).astype(np.uint8)

    def with_slots(self, slots: int) -> "Room":
        """The same with more slots."""
        return replace(self, slots=slots)


def _continued(old: State, new: State) -> State:
    for before, after in zip(old, new, strict=True):
        if isinstance(before, tuple):
            _continued(before, after)
        elif isinstance(after, np.ndarray):  # and not a parameter
            after[: len(before)] = before
    return new


@dataclass(frozen=True)
class Policy:
    """Base of all policies; a subclass is a dataclass of parameters with :meth:`start`.

    ``class Mine(Policy, name="mine", cache="mine")`` makes it known under short names, in joins and
    in caches.
    """

    name: ClassVar[str] = ""
    thorough: ClassVar[bool] = False
    """Whether a victim may cost as much as the buffer holds; then it runs only if it is named."""
    offline: ClassVar[bool] = False
    """Whether it must see the whole input before it starts."""
    _typed: ClassVar[str] = ""
    """What the user typed, set by :func:`recollect.policies.parse_policy`."""

    def __init_subclass__(cls, name: str = "", cache: str = "") -> None:
        """Enter a class that has a short name in joins, or one in caches, into the registries."""
        cls.name = name or cache
        if name:
            registry[name] = cls
        if cache:
            cache_registry[cache] = cls

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

    def expand(self, state: State) -> State:
        """Give the statistics of a state that is ``crowded`` more room, or fit what is due."""
        raise TypeError(f"{type(self).__qualname__} is crowded, but has no expand() method")

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
    """Whether the state needs :meth:`Policy.expand` before another tuple arrives."""
    return False


@hook
def arrive(state, buffer, arrival):
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
