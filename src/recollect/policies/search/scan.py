"""A look at every buffered tuple: exact for any value, and slow.

A state that is scanned has a method ``worth(buffer, slot)`` for buffered tuples and another one,
``worth_of(buffer, newcomer)``, for the arriving one. Of equal values the tuple goes that expires
sooner, then the older one.
"""

from recollect.compiled import hook, inlined
from recollect.policies.base import NEWCOMER
from recollect.policies.search.tournament import NOBODY, remaining


@hook
def worth(state, buffer, slot):
    """The value of a buffered tuple."""


@hook
def worth_of(state, buffer, newcomer):
    """The value of the arriving tuple."""


@inlined
def least_of_all(state, buffer, newcomer):
    """The tuple with the least value, or NEWCOMER if the arriving one has less."""
    chosen = NOBODY
    least = 0.0
    for stream in state.streams:
        slot = buffer.oldest[stream]
        while slot != NOBODY:
            value = worth(state, buffer, slot)
            if chosen == NOBODY or value < least:
                chosen, least = slot, value
            elif value == least:
                left = remaining(buffer, stream, buffer.expires[slot])
                other = remaining(buffer, buffer.stream[chosen], buffer.expires[chosen])
                if (left, buffer.serial[slot]) < (other, buffer.serial[chosen]):
                    chosen = slot
            slot = buffer.newer[slot]
    return NEWCOMER if worth_of(state, buffer, newcomer) < least else chosen
