"""GreedyDual-Join: a tuple earns credit by matching; the one with the least credit is forgotten.

A newcomer starts at a percentile of the credits in the buffer, which is the time it is given to
prove its worth. Method 1 adds 1 per match. Method 2 adds the tuple's rank among all credits and
takes 1 from every tuple at each time unit. Method 3 adds 1 and takes the credits just added from
all tuples alike, so that their sum stays the same.

What is taken from all tuples alike changes no order, and a newcomer's start is relative to the
others: so the decrements of methods 2 and 3 never change a victim, and are not computed. Methods 1
and 3 choose the same victims (``tests`` prove it against the rules taken literally).

References
----------
GreedyDual-Join: Locality-Aware Buffer Management for Approximate Join Processing over Data Streams,
section 4.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.errors import PolicyError
from recollect.policies.base import Array, Policy, Room
from recollect.policies.ladder import (
    COUNT,
    NONE,
    Ladder,
    climb,
    lowest,
    new_ladder,
    new_rung,
    rung_of_rank,
    stand,
    step_off,
)
from recollect.policies.ranking import COUNT as RANKED
from recollect.policies.ranking import Ranking, insert, new_ranking, remove, select

FULL, PARTIAL = range(2)
MOST_CREDITS = 100


@inlined
def percentile_rank(percentile, count):
    """The least rank that at least this share of ``count`` tuples does not exceed."""
    # 0.07 * 100 is a little more than 7 in floating point, and must not become 8.
    return min(max(np.int64(np.ceil(percentile * count - 1e-9)), 1), count)


class State(NamedTuple):
    """Methods 1 and 3: credits are whole numbers that grow by one."""

    percentile: Array
    credits: Array
    """For a match in FULL, and for a PARTIAL one."""
    ladder: Ladder

    def admit(self, buffer, slot):
        """Start at the percentile."""
        count = self.ladder.ends[COUNT]
        if count == 0:
            rung = new_rung(self.ladder, 0, NONE)
        else:
            rung = rung_of_rank(self.ladder, percentile_rank(self.percentile[0], count))
        stand(self.ladder, slot, rung)

    def match(self, buffer, slot):
        """Earn a credit."""
        for _ in range(self.credits[FULL]):
            climb(self.ladder, slot)

    def partial(self, buffer, slot):
        """Earn less for a match without a result."""
        for _ in range(self.credits[PARTIAL]):
            climb(self.ladder, slot)

    def forget(self, buffer, slot):
        """Leave the ladder."""
        step_off(self.ladder, slot)

    def victim(self, buffer, newcomer):
        """Return the tuple with the least credit."""
        return lowest(self.ladder)


class RankState(NamedTuple):
    """Method 2: credits grow by ranks."""

    percentile: Array
    credits: Array
    ranking: Ranking

    def admit(self, buffer, slot):
        """Start at the percentile."""
        count = self.ranking.totals[RANKED]
        credit: Any = 0
        if count > 0:
            middle = select(self.ranking, percentile_rank(self.percentile[0], count))
            credit = self.ranking.credit[middle]
        insert(self.ranking, slot, credit)

    def match(self, buffer, slot):
        """Earn as many credits as the rank."""
        _earn_rank(self.ranking, slot, self.credits[FULL])

    def partial(self, buffer, slot):
        """Earn less for a match without a result."""
        if self.credits[PARTIAL] > 0:
            _earn_rank(self.ranking, slot, self.credits[PARTIAL])

    def forget(self, buffer, slot):
        """Leave the ranking."""
        remove(self.ranking, slot)

    def victim(self, buffer, newcomer):
        """Return the tuple with the least credit."""
        return select(self.ranking, 1)


@inlined
def _earn_rank(ranking, slot, times):
    credit = ranking.credit[slot] + times * remove(ranking, slot)
    insert(ranking, slot, credit)


@dataclass(frozen=True)
class Gdj(Policy, name="gdj"):
    """Forget the tuple with the least credit, earned by matching (GreedyDual-Join).

    Parameters
    ----------
    percentile
        Where among the credits in the buffer a newcomer starts. The paper's best values lie
        between 0.8 and 0.998.
    method
        The paper's rule for credits: 1, 2 or 3.
    full, partial
        In joins of three or more streams: how many times a tuple earns its credit for an arrival
        that gives results with it, and for one that does not, because a tuple of another stream is
        missing.
    """

    percentile: float = 0.9
    method: int = 1
    full: int = 1
    partial: int = 0

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        if not 0 <= self.percentile <= 1:
            raise PolicyError(f"gdj: percentile={self.percentile} is not between 0 and 1")
        if self.method not in (1, 2, 3):
            raise PolicyError(f"gdj: method={self.method} is not 1, 2 or 3")
        if not 0 <= self.partial <= self.full <= MOST_CREDITS or self.full < 1:
            raise PolicyError(
                f"gdj: full={self.full} and partial={self.partial} are not credits from 1 and from"
                f" 0 to {MOST_CREDITS}, the second no more than the first"
            )

    def start(self, room: Room) -> State | RankState:
        """See :class:`Policy`."""
        percentile = np.array([self.percentile])
        earned = np.array([self.full, self.partial])
        if self.method == 2:
            return RankState(percentile, earned, new_ranking(room.slots))
        return State(percentile, earned, new_ladder(room.slots))
