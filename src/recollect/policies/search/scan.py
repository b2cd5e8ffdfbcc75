"""Ways to find the tuple of the least value, and the plainest of them: a look at every one.

A state that is searched has a method ``worth(buffer, slot)`` for buffered tuples and another one,
``worth_of(buffer, newcomer)``, for the arriving one. Which way it uses is a field of it, so that
the same values serve in a pair, in many joins and in a cache: :class:`Everywhere`, which is exact
for any value and slow, :class:`Drawn`, or one of its own.
"""

from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import hook, inlined
from recollect.policies import base
from recollect.policies.base import NEWCOMER, Array
from recollect.policies.rand import below
from recollect.policies.search.tournament import NOBODY, remaining


@hook
def worth(state, buffer, slot):
    """The value of a buffered tuple."""


@hook
def worth_of(state, buffer, newcomer):
    """The value of the arriving tuple."""


@hook
def take_in(search, state, buffer, slot):
    """Hear that a tuple has been admitted."""


@hook
def let_go(search, state, buffer, slot):
    """Hear that a tuple is about to leave."""


@hook
def find_least(search, state, buffer, newcomer):
    """The tuple with the least value, or NEWCOMER if the arriving one has less.

    Of equal values the tuple goes that expires sooner, then the older one.
    """
    chosen = NOBODY
    least = 0.0
    for stream in state.streams:
        slot = buffer.oldest[stream]
        while slot != NOBODY:
            value = worth(state, buffer, slot)
            if chosen == NOBODY or value < least:
                chosen, least = slot, value
            elif value == least and _goes_first(buffer, slot, chosen):
                chosen = slot
            slot = buffer.newer[slot]
    return NEWCOMER if worth_of(state, buffer, newcomer) < least else chosen


@inlined
def _goes_first(buffer, one, two):
    left = remaining(buffer, buffer.stream[one], buffer.expires[one])
    other = remaining(buffer, buffer.stream[two], buffer.expires[two])
    return (left, buffer.serial[one]) < (other, buffer.serial[two])


class Everywhere(NamedTuple):
    """The search among all tuples."""


class Drawn(NamedTuple):
    """The search among a few tuples that are drawn."""

    drawn: Any
    """What RAND knows."""
    sample: Array
    """How many candidates are drawn."""

    def take_in(self, state, buffer, slot):
        """See the function of this name, here and below."""
        base.admit(self.drawn, buffer, slot)

    def let_go(self, state, buffer, slot):  # noqa: D102
        base.forget(self.drawn, buffer, slot)

    def find_least(self, state, buffer, newcomer):  # noqa: D102
        chosen, least = NOBODY, np.inf
        for _ in range(self.sample[0]):
            slot = self.drawn.members[below(self.drawn.size[0], self.drawn.generator)]
            value = worth(state, buffer, slot)
            if value < least:
                chosen, least = slot, value
        return NEWCOMER if worth_of(state, buffer, newcomer) < least else chosen
