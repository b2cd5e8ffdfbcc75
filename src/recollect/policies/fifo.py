"""FIFO: forget the oldest tuple.

The baseline of every paper, and what a shorter window would do. It needs no state of its own: the
buffer already knows the order of arrival.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recollect.compiled import sure
from recollect.policies.base import NEWCOMER, Array, Policy, Room


class State(NamedTuple):
    """The streams to look at."""

    streams: Array

    def victim(self, buffer, newcomer):
        """Return the slot that was filled first."""
        chosen = NEWCOMER
        for stream in self.streams:
            slot = buffer.oldest[sure(stream)]
            if slot >= 0 and (
                chosen == NEWCOMER or buffer.serial[sure(slot)] < buffer.serial[sure(chosen)]
            ):
                chosen = slot
        return chosen


@dataclass(frozen=True)
class Fifo(Policy, name="fifo", cache="fifo"):
    """Forget the oldest tuple (first in, first out)."""

    def start(self, room: Room) -> State:
        """See :class:`Policy`."""
        return State(np.array(room.streams, np.int64))
