"""The first references of a stream, for policies that fit a law to them.

The law is fitted when the history is full. Then it goes on with twice the room, so that the law is
fitted again each time the number of references has doubled, until there are :data:`MOST` of them.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import hook
from recollect.policies.base import Array

MOST = 2**16
CLOSED = -1


class History(NamedTuple):
    """References, from the first on."""

    seen: Array
    used: Array
    """How many they are, or CLOSED if no more are wanted."""

    def remember(self, reference):
        """Add a reference, if it is wanted."""
        if self.used[0] != CLOSED:
            self.seen[self.used[0]] = reference
            self.used[0] += 1

    def is_full(self):
        """Whether it is time to learn."""
        return self.used[0] == len(self.seen)


@hook
def remember(history, reference):
    """See :class:`History`."""


@hook
def is_full(history):
    """See :class:`History`."""
    return False


def new_history(room: int) -> History:
    """Room for the first so many references; 0 if none are wanted."""
    return History(np.zeros(room, np.int64), np.array([0 if room else CLOSED]))


def longer(history: History) -> History:
    """The same with twice the room, or closed if it has become long enough."""
    if 2 * len(history.seen) > MOST:
        return new_history(0)
    return History(np.concatenate([history.seen, np.zeros_like(history.seen)]), history.used)
