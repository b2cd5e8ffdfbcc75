"""A policy as a user would write it, in a file of its own."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recollect.policies import NEWCOMER, Policy, Room


class State(NamedTuple):
    streams: np.ndarray
    patience: np.ndarray

    def victim(self, buffer, newcomer):
        chosen = NEWCOMER
        for stream in self.streams:
            slot = buffer.newest[stream]
            if slot >= 0 and (chosen == NEWCOMER or buffer.serial[slot] > buffer.serial[chosen]):
                chosen = slot
        if newcomer.time - buffer.time[chosen] < self.patience[0]:
            return NEWCOMER
        return chosen


@dataclass(frozen=True)
class ForgetTheNewest(Policy):
    """Forget the newest tuple, but refuse newcomers for a while after it came.

    Parameters
    ----------
    patience
        How many time units that is.
    """

    patience: int = 0

    def start(self, room: Room) -> State:
        return State(np.array(room.streams, np.int64), np.array([self.patience]))
