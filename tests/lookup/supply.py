"""A join policy for the supply of a reduced caching problem, which makes the join an LRU cache."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recollect import Policy


class State(NamedTuple):
    """The tuples that have matched, which nobody will match again."""

    spent: np.ndarray
    count: np.ndarray
    streams: np.ndarray

    def match(self, buffer, slot):
        self.spent[self.count[0]] = slot
        self.count[0] += 1

    def victim(self, buffer, newcomer):
        if self.count[0] > 0:
            self.count[0] -= 1
            return self.spent[self.count[0]]
        return buffer.oldest[self.streams[0]]


@dataclass(frozen=True)
class SpentFirst(Policy):
    """Forget what has matched, then the oldest."""

    def start(self, room):
        return State(
            np.zeros(room.slots, np.int64), np.zeros(1, np.int64), np.array(room.streams, np.int64)
        )
