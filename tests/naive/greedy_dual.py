"""GreedyDual-Join in general (Algorithm 1 of the paper): credits, and rules that change them.

The rules are taken literally and credits are fractions, so what is taken from every tuple really is
taken from every tuple.
"""

from fractions import Fraction
from math import ceil

from tests.naive.join import NaivePolicy


class Rules:
    """The three rules of an instance; by default nothing is ever added or taken."""

    def initial(self, others):
        """The credit of a newcomer, given those of the others in ascending order."""
        return Fraction(0)

    def increment(self, policy, item):
        """What a match adds to a tuple's credit."""
        return Fraction(0)

    def per_time_unit(self):
        """What each time unit takes from every tuple."""
        return Fraction(0)

    def per_admission(self):
        """What the admission of a tuple takes from every other one."""
        return Fraction(0)

    def per_match(self):
        """What the match of a tuple takes from every other one."""
        return Fraction(0)

    def per_arrival(self, added, buffered):
        """What the end of an arrival takes from every tuple, when matches added so much."""
        return Fraction(0)


class GreedyDualJoin(NaivePolicy):
    """Forget the tuple with the least credit.

    Of equal credits the one goes first whose own credit was set (by a match or at admission)
    longest ago.
    """

    rules = Rules()

    def begin(self):
        self.credit = {}
        self.changed = {}
        self.changes = 0
        self.added = Fraction(0)
        self.time = None

    def _note_change(self, item):
        self.changes += 1
        self.changed[item] = self.changes

    def _take_from_all(self, amount, but=None):
        if amount:
            for item in self.credit:
                if item is not but:
                    self.credit[item] -= amount

    def _order(self, item):
        return self.credit[item], self.changed[item]

    def rank(self, item):
        """The place of a tuple in the order in which tuples would be forgotten, from 1."""
        own = self._order(item)
        return 1 + sum(self._order(other) < own for other in self.credit)

    def tick(self, buffered, arrival):
        if self.time is not None:
            self._take_from_all(self.rules.per_time_unit() * (arrival.time - self.time))
        self.time = arrival.time
        self.added = Fraction(0)

    def match(self, item):
        self._take_from_all(self.rules.per_match(), but=item)
        increment = self.rules.increment(self, item)
        self.credit[item] += increment
        self.added += increment
        self._note_change(item)

    def victim(self, buffered, newcomer):
        return min(self.credit, key=self._order)

    def forget(self, item):
        del self.credit[item], self.changed[item]

    def admit(self, buffered, item):
        self._take_from_all(self.rules.per_admission())
        self.credit[item] = self.rules.initial(sorted(self.credit.values()))
        self._note_change(item)

    def settle(self, buffered):
        if self.credit:
            self._take_from_all(self.rules.per_arrival(self.added, len(self.credit)))
        self.added = Fraction(0)


class Percentile(Rules):
    """A newcomer starts at a percentile of the credits, by nearest rank; 0 if there are none."""

    def __init__(self, percentile):
        self.percentile = Fraction(str(percentile))

    def initial(self, others):
        rank = max(1, ceil(self.percentile * len(others)))
        return others[rank - 1] if others else Fraction(0)


class Method1(Percentile):
    """A match adds 1; nothing is taken."""

    def increment(self, policy, item):
        return 1


class Method2(Percentile):
    """A match adds the rank, each time unit takes 1 from all."""

    def increment(self, policy, item):
        return policy.rank(item)

    def per_time_unit(self):
        return 1


class Method3(Percentile):
    """A match adds 1; at the end of an arrival what was added is taken from all alike."""

    def increment(self, policy, item):
        return 1

    def per_arrival(self, added, buffered):
        return Fraction(added, buffered)


HIGHEST = 0
"""The highest credit, in the rules of classic caching; others fall below it by aging."""


class LruRules(Rules):
    """Newcomers and tuples that match get the highest credit, all others age by 1."""

    def initial(self, others):
        return HIGHEST

    def increment(self, policy, item):
        return HIGHEST - policy.credit[item]

    def per_admission(self):
        return 1

    def per_match(self):
        return 1


class LfuRules(Rules):
    """Newcomers have no credit, a match adds 1, nothing ages."""

    def increment(self, policy, item):
        return 1


class FifoRules(Rules):
    """Newcomers get the highest credit, all others age by 1; a match changes nothing."""

    def initial(self, others):
        return HIGHEST

    def per_admission(self):
        return 1


def with_rules(rules):
    """The policy class that follows these rules."""
    return type(f"GreedyDualJoin{type(rules).__name__}", (GreedyDualJoin,), {"rules": rules})
