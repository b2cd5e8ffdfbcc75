"""HEEB and HIST where a tuple takes part in many joins, by the book."""

from collections import defaultdict
from math import prod

import numpy as np
import pytest

from recollect.errors import InputError
from recollect.forecast import Survival
from recollect.forecast.survival import alpha_for_lifetime
from recollect.policies.heeb_stay import ENOUGH
from recollect.policies.heeb_tables import table_of
from tests.naive import heeb, hist
from tests.naive.join import FOREVER, NaivePolicy
from tests.naive.simple import SplitMix64
from tests.naive.workload import Fact, Prob, others_of


def heard(policy):
    """The joins and streams whose tuples match those that a policy looks after."""
    return [
        (join, stream)
        for join, streams in enumerate(policy.joins)
        for stream in sorted(set(streams))
        if any(stream in others_of(streams, own) for own in policy.streams)
    ]


def fresh_combinations(parts):
    """How many ways there are to take one of each part, not all of what is there already."""
    total, found = 0.0, 1.0
    for there, coming in parts:
        total = total * (there + coming) + found * coming
        found *= there
    assert total == pytest.approx(prod(map(sum, parts)) - prod(there for there, _ in parts))
    return total


class Heeb(Prob):
    """Forget the tuple that is expected to give least results from now on, at first as PROB.

    Of equal values the one that expires sooner goes first, then the older. With a sample only so
    many that are drawn count, of equal ones the first.
    """

    forecast, survival, alpha, sample, warmup = "trend", "exp", 0.0, 0, 10
    fitted, place, at = heeb.Heeb.fitted, heeb.Heeb.place, heeb.Heeb.at
    forget = heeb.Heeb.forget

    def begin(self):
        super().begin()
        self.values = defaultdict(list)
        self.next_fit = defaultdict(lambda: self.warmup)
        self.tables, self.scales, self.started = {}, {}, {}
        self.held = self.admitted = self.arrivals = self.all = 0
        self.stay = float(ENOUGH)
        self.generator = SplitMix64(self.seed)
        self.members = []

    def tick(self, buffered, arrival):
        due = [one for one in heard(self) if len(self.values[one]) >= self.next_fit[one]]
        for column in due:
            self.fit(column)
        if due:
            for column in heard(self):
                if self.tables.get(column) is None:
                    self.scales[column] = self.scale(column)
        super().tick(buffered, arrival)
        for join, key in enumerate(arrival.keys):
            if key is not None:
                self.values[join, arrival.stream].append(key)
        self.arrivals += 1
        self.all += 1
        self.held += len(buffered)
        for stream in self.streams:
            if stream not in self.started:
                start = Fact(0, stream, arrival.time, (), 0, 10**9, None)
                self.started[stream] = start, self.lifetime(start)

    def admit(self, buffered, item):
        self.admitted += 1
        self.members.append(item)

    def scale(self, column):
        if self.arrivals >= ENOUGH and self.admitted:
            self.stay = self.held / self.admitted
            self.held = self.admitted = self.arrivals = 0
        lifetime = max(1.0, self.stay * len(self.values[column]) / self.all)
        if self.survival == "fixed":
            return Survival("fixed", int(self.alpha or lifetime + 0.5))
        return Survival("exp", self.alpha or alpha_for_lifetime(lifetime))

    def fit(self, column):
        self.next_fit[column] = 2 * len(self.values[column])
        scale = self.scale(column)
        try:
            self.tables[column] = table_of(self.fitted(self.values[column]), scale)
            self.scales[column] = scale
        except InputError:
            self.tables[column] = None

    def steps_left(self, fact, column):
        if self.lifetime(fact) == FOREVER:
            return float("inf")
        start, lifetime = self.started[fact.stream]
        elapsed = max(lifetime - self.lifetime(start), 1)
        return max(self.lifetime(fact), 0) * len(self.values[column]) / elapsed

    def coming(self, fact, column):
        """How many tuples with its key come in a column while it is buffered."""
        key, ahead = fact.keys[column[0]], self.steps_left(fact, column)
        table, survival = self.tables.get(column), self.scales[column]
        fixed = survival.kind == "fixed"
        if table is None:
            steps = (
                min(survival.scale, ahead)
                if fixed
                else (1 - np.exp(-ahead / survival.scale)) / np.expm1(1 / survival.scale)
            )
            return self.seen[(*column, key)] / max(len(self.values[column]), 1) * steps
        place = self.place(table, column, key)
        score = self.at(table, column, place)
        if ahead < survival.horizon:
            left = 1 - ahead / survival.scale if fixed else np.exp(-ahead / survival.scale)
            drift = 0 if fixed else table.slope * table.per_unit
            later = place - int(np.floor(drift * ahead + 0.5))
            score -= left * max(self.at(table, column, later), 0)
        return max(score, 0)

    def worth(self, fact):
        total = 0.0
        for join, streams in enumerate(self.joins):
            others = others_of(streams, fact.stream)
            if not others or fact.keys[join] is None:
                continue
            parts = [
                (
                    sum(
                        old.stream == other and old.keys[join] == fact.keys[join]
                        for old in self.everything
                    ),
                    self.coming(fact, (join, other)),
                )
                for other in others
            ]
            total += fresh_combinations(parts)
        return total

    def victim(self, buffered, newcomer):
        if all(self.tables.get(column) is None for column in heard(self)):
            return super().victim(buffered, newcomer)
        if self.sample:
            drawn = [self.generator.below(len(self.members)) for _ in range(self.sample)]
            least = min((self.members[place] for place in drawn), key=self.worth)
        else:
            rank = {fact: (self.worth(fact), self.lifetime(fact), fact.serial) for fact in buffered}
            least = min(buffered, key=rank.get)
        return None if self.worth(newcomer) < self.worth(least) else least


class Hist(NaivePolicy):
    """Forget the tuple at whose distances tuples have brought least, at first the oldest.

    Of equal worths the one that expires sooner goes first, then the older.
    """

    buckets, period, decay = 4, 3, 0.5

    def begin(self):
        self.lines = defaultdict(hist.Line)
        self.histograms = defaultdict(lambda: hist.Histogram(self.buckets, self.period, self.decay))
        self.life = {}
        self.arrivals = self.left = 0

    def tick(self, buffered, arrival):
        self.arrivals += 1
        self.came = arrival.stream
        for join, key in enumerate(arrival.keys):
            if key is not None:
                self.lines[join, arrival.stream].follow(float(key))

    def meetings(self, fact):
        """Where it may match: join, other stream, and how far its key is from that one's."""
        for join, streams in enumerate(self.joins):
            if fact.keys[join] is not None:
                for other in others_of(streams, fact.stream):
                    yield join, other, fact.keys[join] - self.lines[join, other].position

    def admit(self, buffered, fact):
        came = {(join, other): [distance, 0] for join, other, distance in self.meetings(fact)}
        self.life[fact.serial] = self.arrivals, came

    def match_in(self, fact, join):
        self.life[fact.serial][1][join, self.came][1] += 1

    def forget(self, fact):
        self.left += 1
        since, brought = self.life.pop(fact.serial)
        lifetime = max(self.arrivals - since, 1)
        for (join, other), (distance, results) in brought.items():
            self.histograms[join, fact.stream, other].observe(distance, results, lifetime)

    def worth(self, fact):
        by_join = defaultdict(float)
        for join, other, distance in self.meetings(fact):
            histogram = self.histograms[join, fact.stream, other]
            unknown = histogram.observed < self.period
            by_join[join] += histogram.mean() if unknown else histogram.at(distance)
        return sum(by_join.values())

    def victim(self, buffered, newcomer):
        if self.left < self.period:
            return min(buffered, key=lambda fact: fact.serial)
        rank = {fact: (self.worth(fact), self.lifetime(fact), fact.serial) for fact in buffered}
        least = min(buffered, key=rank.get)
        return None if self.worth(newcomer) < self.worth(least) else least
