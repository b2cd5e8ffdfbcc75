"""Policies that only give each tuple a score: the engine keeps the fields and finds the least.

A subclass of :class:`Scored` is a dataclass of parameters. What it remembers of each buffered tuple
it declares as a :data:`PerTuple` with the value that a newcomer has; ``match`` changes it, and
``score`` says what the tuple is worth. Both are compiled into the join's inner loop. Beside the
declared fields a tuple has ``time``, ``expires``, ``serial`` (its place in the input), ``stream``
and ``key`` (a code of its key in the first join).

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Laziest(Scored):
...     weight: float = 1.0
...     matches: PerTuple[int] = 0
...     def match(self, tuple_, now):
...         tuple_.matches += 1
...     def score(self, tuple_, now):
...         return self.weight * tuple_.matches
>>> Laziest(weight=2.0).spec
'recollect.policies.scored:Laziest:weight=2.0'
>>> import recollect as rc
>>> from recollect.streams import ZipfStream
>>> streams = [ZipfStream(2_000, keys=50, seed=seed) for seed in (1, 2)]
>>> words = {"on": "key", "time": "time", "window": 200, "budget": 20, "exact": True}
>>> few, many = (rc.join(*streams, policy=Laziest(look=look), **words).stats for look in (1, 0))
>>> few.recall < many.recall
True
"""

from collections import namedtuple
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from recollect.compiled import hook
from recollect.errors import PolicyError
from recollect.policies import base
from recollect.policies.base import Array, Policy, Room
from recollect.policies.rand import Rand, below
from recollect.policies.shape import NONE, joins

T = TypeVar("T", int, float, bool)
_MARK = "per tuple"
PerTuple = Annotated[T, _MARK]
"""A field of each buffered tuple: ``matches: PerTuple[int] = 0``."""
KINDS = {int: np.int64, float: np.float64, bool: np.bool_}
KNOWN = [(name, np.int64) for name in ("time", "expires", "serial", "stream", "key")]


@hook
def match(rules, tuple_, now):
    """A buffered tuple just gave a result."""


@hook
def score(rules, tuple_, now):
    """What a buffered tuple is worth."""
    return 0.0


class State(NamedTuple):
    """The fields of all buffered tuples."""

    rules: Any
    """The parameters, on which the methods of the policy are called."""
    tuples: Array
    """By slot."""
    newcomer: Array
    """What a tuple is when it comes."""
    drawn: Any
    """What RAND knows."""

    def admit(self, buffer, slot):
        """Begin with what was declared."""
        base.admit(self.drawn, buffer, slot)
        self.tuples[slot] = self.newcomer[0]
        tuple_ = self.tuples[slot]
        tuple_.time = buffer.time[slot]
        tuple_.expires = buffer.expires[slot]
        tuple_.serial = buffer.serial[slot]
        tuple_.stream = buffer.stream[slot]
        for join in range(joins(buffer.shape) - 1, -1, -1):
            if buffer.group[slot, join] != NONE:
                tuple_.key = buffer.key[buffer.group[slot, join]]

    def match(self, buffer, slot):
        """Let the policy change the tuple."""
        match(self.rules, self.tuples[slot], buffer.clock[buffer.stream[slot]])

    def forget(self, buffer, slot):
        """Draw it no more."""
        base.forget(self.drawn, buffer, slot)

    def victim(self, buffer, newcomer):
        """Return the tuple with the least score; of equal ones the older."""
        count = self.drawn.size[0]
        looks = count if self.rules.look == 0 else self.rules.look
        chosen, least = NONE, np.inf
        for look in range(looks):
            place = look if self.rules.look == 0 else below(count, self.drawn.generator)
            slot = self.drawn.members[place]
            value = score(self.rules, self.tuples[slot], buffer.clock[buffer.stream[slot]])
            if (
                chosen == NONE
                or value < least
                or (value == least and buffer.serial[slot] < buffer.serial[chosen])
            ):
                chosen, least = slot, value
        return chosen


@dataclass(frozen=True)
class Scored(Policy):
    """Base of policies that only give each tuple a score.

    Parameters
    ----------
    look
        Draw so many tuples for a victim and forget the worst of them. 0: the worst of all, which
        costs a look at each.
    """

    look: int = 0
    per_tuple: ClassVar[dict[str, tuple[type, Any]]] = {}

    def __init_subclass__(cls, name: str = "", cache: str = "") -> None:
        """Take what is remembered per tuple out of the parameters."""
        super().__init_subclass__(name=name, cache=cache)
        cls.per_tuple = dict(cls.per_tuple)
        for field, kind in list(vars(cls).get("__annotations__", {}).items()):
            if _MARK in getattr(kind, "__metadata__", ()):
                value = vars(cls).get(field, kind.__origin__())
                cls.per_tuple[field] = (kind.__origin__, value)
                del cls.__annotations__[field]

    def match(self, tuple_: Any, now: int) -> None:
        """A buffered tuple just gave a result."""

    def score(self, tuple_: Any, now: int) -> float:
        """Say what a buffered tuple is worth."""
        raise PolicyError(f"{type(self).__qualname__} is a policy without a score() method")

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        declared = [(name, KINDS[kind]) for name, (kind, _) in self.per_tuple.items()]
        kind = np.dtype([*KNOWN, *declared])
        newcomer = np.zeros(1, kind).view(np.recarray)
        for name, (_, value) in self.per_tuple.items():
            newcomer[name] = value
        if type(self).score is Scored.score:
            self.score(None, 0)
        parameters = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if isinstance(getattr(self, field.name), int | float)
        }
        return State(
            rules=self._rules(tuple(parameters))(**parameters),
            tuples=np.zeros(room.slots, kind).view(np.recarray),
            newcomer=newcomer,
            drawn=Rand().start(room),
        )

    @classmethod
    def _rules(cls, names: tuple[str, ...]) -> Any:
        """A named tuple of the parameters with the methods of the policy."""
        if "Rules" not in vars(cls):
            rules = namedtuple("Rules", names)  # type: ignore[misc]
            rules.__module__, rules.__qualname__ = cls.__module__, f"{cls.__qualname__}.Rules"
            for method in ("match", "score"):
                setattr(rules, method, getattr(cls, method))
            cls.Rules = rules  # type: ignore[attr-defined]
        return cls.Rules  # type: ignore[attr-defined]
