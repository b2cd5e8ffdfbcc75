"""Many streams and many joins over one budget, slowly and by the book.

Buffered tuples are Python objects in a list, and the results of a join are the combinations of one
tuple per stream. PROB, LIFE and AGE are here as they are meant where a tuple takes part in many
joins; the other policies only hear of matches and are those of the join of two streams.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from recollect.locality.model import LocalityModel, fit_from_chance
from recollect.locality.prediction import descendants, predict
from tests.naive import age, clock, greedy_dual
from tests.naive.join import FOREVER, CountWindow, NaivePolicy, Now, Window
from tests.naive.locality_model import coincidences


class Row(NamedTuple):
    """A tuple of the merged input; ``keys`` has one entry per join, None for no part in it."""

    stream: int
    time: int
    keys: tuple
    end: int | None = None
    """Where its stream has validity: when it ends."""
    subject: int | None = None


@dataclass(eq=False)
class Fact:
    """A tuple that has arrived."""

    serial: int
    stream: int
    time: int
    keys: tuple
    ordinal: int
    end: int | None
    subject: int | None


class Problem(NamedTuple):
    """Streams and joins; a window of None means that tuples have their own ends."""

    windows: tuple[Window | None, ...]
    joins: tuple[tuple[int, ...], ...]
    filtered: tuple[int, ...] = ()
    """The joins in which a pair must pass a filter."""
    by_rate: tuple[int, ...] = ()
    """The streams that are shed by rate: a part of the buffer that only they use drops what comes
    while it is full."""
    subjects: bool = False
    """Whether tuples may have a subject, about which a newer one replaces the older."""


@dataclass
class Trace:
    """What happened."""

    results: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    """The join, and the serials in the order of its streams."""
    held: list[int] = field(default_factory=list)
    expired: Counter = field(default_factory=Counter)
    replaced: Counter = field(default_factory=Counter)
    evicted: Counter = field(default_factory=Counter)
    refused: Counter = field(default_factory=Counter)
    shed: Counter = field(default_factory=Counter)
    buffered: list[int] = field(default_factory=list)


def lifetime_of(problem: Problem, fact: Fact, now: Now) -> int:
    """How much further its clock may go with the tuple still alive; negative if it is dead."""
    window = problem.windows[fact.stream]
    if window is None:
        return FOREVER if fact.end is None else fact.end - 1 - now.time
    return window.lifetime(fact, now)


def clock_first(problem: Problem, fact: Fact) -> tuple:
    """In which order tuples that are dead at the same moment leave."""
    if problem.windows[fact.stream] is not None:
        return 0, fact.stream, fact.serial
    return 1, FOREVER if fact.end is None else fact.end, fact.serial


def passes(problem: Problem, join: int, serials: tuple[int, ...]) -> bool:
    """Whether a result passes the filter of a join, if there is one."""
    return join not in problem.filtered or serials[0] - serials[1] not in (2, -3)


def others_of(streams: tuple[int, ...], stream: int) -> list[int]:
    """The streams that a stream meets in a join."""
    if stream not in streams:
        return []
    if streams == (stream, stream):
        return [stream]
    return sorted(other for other in streams if other != stream)


def run(
    rows: Sequence[Row],
    problem: Problem,
    pools: Sequence[int],
    capacities: Sequence[int],
    make_policy: Callable[..., NaivePolicy],
    seed: int = 0,
) -> Trace:
    """Run a workload.

    Parameters
    ----------
    pools, capacities
        By stream: its part of the budget; by part: how many tuples it holds.
    make_policy
        Called with streams, seed and lifetime, once for each part.
    """
    now = Now(arrivals=[0] * len(problem.windows))

    def lifetime(fact: Fact) -> int:
        return lifetime_of(problem, fact, now)

    buffered: list[Fact] = []
    policies = []
    for pool in range(len(capacities)):
        streams = [stream for stream, its in enumerate(pools) if its == pool]
        policies.append(make_policy(streams, seed + pool, lifetime))
        policies[-1].joins = problem.joins
        policies[-1].everything = buffered
    trace = Trace()

    def part(pool: int) -> list[Fact]:
        return [fact for fact in buffered if pools[fact.stream] == pool]

    def leave(fact: Fact) -> None:
        policies[pools[fact.stream]].forget(fact)
        buffered.remove(fact)

    for serial, row in enumerate(rows, start=1):
        now.time = row.time
        now.arrivals[row.stream] += 1
        fact = Fact(
            serial, row.stream, row.time, row.keys, now.arrivals[row.stream], row.end, row.subject
        )
        dead = [old for old in buffered if lifetime(old) < 0]
        for old in sorted(dead, key=lambda old: clock_first(problem, old)):
            leave(old)
            trace.expired[old.stream] += 1
        for old in list(buffered):
            if row.subject is not None and (old.stream, old.subject) == (row.stream, row.subject):
                leave(old)
                trace.replaced[old.stream] += 1

        full = len(part(pools[row.stream])) >= capacities[pools[row.stream]]
        takes_part = any(key is not None for key in row.keys)
        together = [s for s, pool in enumerate(pools) if pool == pools[row.stream]]
        if takes_part and full and set(together) <= set(problem.by_rate):
            trace.shed[row.stream] += 1
        elif takes_part:
            for pool, policy in enumerate(policies):
                policy.tick(part(pool), fact)
            for join, streams in enumerate(problem.joins):
                _probe(problem, policies, pools, buffered, trace, fact, join, streams)

            pool = pools[row.stream]
            policy = policies[pool]
            refused = False
            if full:
                victim = policy.victim(part(pool), fact)
                if victim is None:
                    refused = True
                    trace.refused[row.stream] += 1
                else:
                    leave(victim)
                    trace.evicted[victim.stream] += 1
            if not refused:
                policy.admit(part(pool), fact)
                buffered.append(fact)
            for pool, policy in enumerate(policies):
                policy.settle(part(pool))
        trace.held.append(len(buffered))
    trace.buffered = sorted(fact.serial for fact in buffered)
    return trace


def _probe(problem, policies, pools, buffered, trace, fact, join, streams):
    key = fact.keys[join]
    if key is None or fact.stream not in streams:
        return
    self_join = streams == (fact.stream, fact.stream)
    own = 1 if self_join else streams.index(fact.stream)
    candidates = [
        [fact]
        if place == own
        else [old for old in buffered if old.stream == stream and old.keys[join] == key]
        for place, stream in enumerate(streams)
    ]
    combinations = list(product(*candidates))
    results = [
        (join, serials)
        for serials in (tuple(each.serial for each in facts) for facts in combinations)
        if passes(problem, join, serials)
    ]
    trace.results += results
    in_results = {serial for _, serials in results for serial in serials}
    for stream in others_of(streams, fact.stream):
        for old in buffered:
            if old.stream == stream and old.keys[join] == key:
                policy = policies[pools[stream]]
                if old.serial in in_results:
                    policy.match_in(old, join)
                elif not combinations:
                    policy.partial(old)


def exact_results(rows: Sequence[Row], problem: Problem) -> set[tuple[int, tuple[int, ...]]]:
    """All results: every combination of tuples is looked at, without any buffer."""
    facts = []
    ordinals = Counter()
    for serial, row in enumerate(rows, start=1):
        ordinals[row.stream] += 1
        facts.append(Fact(serial, *row[:3], ordinals[row.stream], row.end, row.subject))

    def alive(old: Fact, latest: Fact) -> bool:
        seen = Counter(fact.stream for fact in facts[: latest.serial])
        arrivals = [seen[stream] for stream in range(len(problem.windows))]
        replaced = any(
            (newer.stream, newer.subject) == (old.stream, old.subject)
            for newer in facts[old.serial : latest.serial]
        )
        return lifetime_of(problem, old, Now(latest.time, arrivals)) >= 0 and (
            old.subject is None or not replaced
        )

    results = set()
    for join, streams in enumerate(problem.joins):
        parts = [[fact for fact in facts if fact.stream == stream] for stream in streams]
        for combination in product(*parts):
            keys = {fact.keys[join] for fact in combination}
            latest = max(combination, key=lambda fact: fact.serial)
            serials = tuple(fact.serial for fact in combination)
            if (
                len(keys) == 1
                and None not in keys
                and all(fact is latest or alive(fact, latest) for fact in combination)
                and (len(set(streams)) == len(streams) or serials[0] < serials[1])
                and passes(problem, join, serials)
            ):
                results.add((join, serials))
    return results


class Prob(NaivePolicy):
    """Forget the tuple with the least sum of the geometric mean counts of its keys.

    Of equal values the tuple that expires sooner goes first, each on the clock of its stream, then
    the older. A newcomer is refused if it has less value than every buffered tuple.
    """

    def begin(self):
        self.seen = Counter()

    def tick(self, buffered, arrival):
        for join, key in enumerate(arrival.keys):
            self.seen[join, arrival.stream, key] += 1

    def frequency(self, fact):
        total = 0.0
        for join, streams in enumerate(self.joins):
            others = others_of(streams, fact.stream)
            if others and fact.keys[join] is not None:
                counts = [self.seen[join, other, fact.keys[join]] for other in others]
                total += float(prod(counts)) ** (1 / len(others))
        return total

    def value(self, fact):
        return self.frequency(fact)

    def victim(self, buffered, newcomer):
        def rank(fact):
            return self.value(fact), self.lifetime(fact), fact.serial

        least = min(buffered, key=rank)
        return None if self.value(newcomer) < self.value(least) else least


class Life(Prob):
    """As PROB, times the remaining lifetime."""

    def value(self, fact):
        return self.frequency(fact) * float(self.lifetime(fact))


class AgeCurve(age.AgeCurve):
    """As for two streams, with a match for every join in which the keys are equal."""

    def observe(self, arrival, lifetime, joins):
        hits = [
            fact
            for fact in self.followed
            if fact is not None and lifetime(fact) >= 0
            for join, streams in enumerate(joins)
            if fact.stream in others_of(streams, arrival.stream)
            and fact.keys[join] is not None
            and fact.keys[join] == arrival.keys[join]
        ]
        for fact in hits:
            self.hits.append(arrival.time - fact.time)
            while arrival.time - fact.time >= age.BINS * self.width:
                self.width *= 2
        self.observed += 1
        if self.observed % age.EVERY == 0:
            self.estimate(arrival.time)


class Age(age.Age):
    """Forget the oldest tuple that is past its stream's k_opt; if there is none, refuse.

    Only the oldest tuple of each stream is looked at, as for two streams, where no other can be
    older than it.
    """

    def begin(self):
        self.curves = {stream: AgeCurve(self.sample) for stream in self.streams}

    def tick(self, buffered, arrival):
        for stream, curve in self.curves.items():
            if any(stream in others_of(streams, arrival.stream) for streams in self.joins):
                curve.observe(arrival, self.lifetime, self.joins)
            if stream == arrival.stream:
                curve.follow(arrival, self.lifetime)


class PartialClock(clock.Clock):
    """CLOCK with half a point for a partial match."""

    def partial(self, item):
        self.score[item] += 0.5


class PartialMethod1(greedy_dual.with_rules(greedy_dual.Method1(0.5))):
    """GreedyDual-Join with two credits for a full match and one for a partial one."""

    def match(self, item):
        super().match(item)
        super().match(item)

    def partial(self, item):
        super().match(item)


def expires_of(window: Window | None, fact_time: int, ordinal: int, end: int | None) -> int:
    """The last moment, on the clock of its stream, at which a tuple may match."""
    if window is None:
        return FOREVER if end is None else end - 1
    now = ordinal if isinstance(window, CountWindow) else fact_time
    item = Fact(0, 0, fact_time, (), ordinal, None, None)
    lifetime = window.lifetime(item, Now(fact_time, [ordinal]))
    return FOREVER if lifetime >= FOREVER else now + lifetime


class Lba(Prob):
    """Forget the tuple that the models of the streams it meets expect least often in the next T.

    As the LBA of two streams, but with a model for the keys of each stream in each join, and the
    geometric mean where a join has several other streams. Ties as for PROB.
    """

    h, warmup, horizon = 3, 8, 0

    def begin(self):
        self.past = defaultdict(list)
        self.next_fit = defaultdict(lambda: self.warmup)
        self.model = defaultdict(lambda: LocalityModel(np.zeros(self.h), 1.0))
        self.ahead = defaultdict(lambda: 1)
        self.most = Counter()
        self.seen_of = Counter()

    def meeting(self, join, stream):
        return [own for own in self.streams if stream in others_of(self.joins[join], own)]

    def columns(self):
        for join, streams in enumerate(self.joins):
            for stream in sorted(set(streams)):
                if self.meeting(join, stream):
                    yield join, stream

    def tick(self, buffered, arrival):
        for join, stream in self.columns():
            past = self.past[join, stream]
            if len(past) >= self.next_fit[join, stream]:
                self.fit(join, stream)
        self.seen_of[arrival.stream] += 1
        for join, stream in self.columns():
            held = sum(fact.stream in self.streams for fact in buffered)
            self.most[join, stream] = max(self.most[join, stream], held)
            if stream == arrival.stream and arrival.keys[join] is not None:
                self.past[join, stream].append(arrival.keys[join])

    def fit(self, join, stream):
        past = self.past[join, stream]
        self.next_fit[join, stream] = len(past) + min(len(past), 65_536)
        chance = sum(count**2 for count in Counter(past).values()) / len(past) ** 2
        self.model[join, stream] = fit_from_chance(coincidences(past, self.h), len(past), chance)
        seen = sum(self.seen_of[own] for own in self.streams)
        kept = self.most[join, stream] * len(past) // max(seen, 1)
        self.ahead[join, stream] = self.horizon or min(max(kept, 1), 8 * self.h)
        self.most[join, stream] = 0

    def expected(self, join, stream, key):
        past = self.past[join, stream]
        prediction = predict(self.model[join, stream], self.ahead[join, stream])
        worth = prediction.fresh * past.count(key) / max(len(past), 1)
        for lag in range(1, min(self.h, len(past)) + 1):
            if past[-lag] == key:
                worth += prediction.by_lag[lag - 1]
        return worth

    def value(self, fact):
        total = 0.0
        for join, streams in enumerate(self.joins):
            others = others_of(streams, fact.stream)
            if others and fact.keys[join] is not None:
                worths = [self.expected(join, other, fact.keys[join]) for other in others]
                total += float(prod(worths)) ** (1 / len(others))
        return total


class Elba(Lba):
    """As LBA, but not beyond the remaining lifetime, at the rate of arrivals so far."""

    def begin(self):
        super().begin()
        self.started = {}

    def tick(self, buffered, arrival):
        super().tick(buffered, arrival)
        for stream in {stream for streams in self.joins for stream in streams}:
            if stream not in self.started:
                start = Fact(0, stream, arrival.time, (), 0, 10**9, None)
                self.started[stream] = start, self.lifetime(start)

    def value(self, fact):
        self.valued = fact
        return super().value(fact)

    def expected(self, join, stream, key):
        past, model = self.past[join, stream], self.model[join, stream]
        start, lifetime = self.started[self.valued.stream]
        rate = len(past) / max(lifetime - self.lifetime(start), 1)
        left = max(self.lifetime(self.valued), 0)
        ahead = 1 + int(min(left * rate, self.ahead[join, stream] - 1))
        grown = descendants(model, ahead)
        worth = model.b * np.cumsum(grown)[-1] * past.count(key) / max(len(past), 1)
        for lag in range(1, min(self.h, len(past)) + 1):
            if past[-lag] == key:
                for later in range(lag, self.h + 1):
                    if ahead - (later - lag) > 0:
                        worth += model.weights[later - 1] * grown[ahead - (later - lag)]
        return worth
