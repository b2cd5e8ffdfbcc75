"""HEEB from its definition: every buffered tuple is scored for every victim."""

from dataclasses import replace
from math import exp, floor

import numpy as np

from recollect.errors import InputError
from recollect.forecast import Survival, Trend, Walk, forecast_class
from recollect.forecast.survival import alpha_for_lifetime
from recollect.policies.heeb_stay import ENOUGH
from recollect.policies.heeb_tables import LINE, SURFACE, smoothed, table_of
from tests.naive.frequency import Prob
from tests.naive.join import FOREVER
from tests.naive.simple import SplitMix64


def heeb(forecast=None, laws=(None, None), alpha=0.0, survival="exp", sample=0, warmup=256):
    """A class of twins with these parameters."""
    return type(
        "Heeb",
        (Heeb,),
        {
            "forecast": forecast, "laws": laws, "alpha": alpha, "survival": survival,
            "sample": sample, "warmup": warmup,
        },
    )  # fmt: skip


class Heeb(Prob):
    """Forget the tuple with the least expected benefit, as PROB while there is no law.

    Of tuples with the same value the oldest goes first, whose window ends first. Of equal scores
    the left stream's goes first, then the smaller value. With a sample only so many that are drawn
    count, of equal ones the first.
    """

    def begin(self):
        super().begin()
        self.values = [[], []]
        self.next_fit = [1 if self.laws[0] else self.warmup] * 2
        self.tables = [None, None]
        self.scales = [None, None]
        self.first = {}
        self.held = self.admitted = self.arrivals = 0
        self.lifetime_seen = float(ENOUGH)
        self.generator = SplitMix64(self.seed)
        self.members = []

    def tick(self, buffered, arrival):
        for stream in self.streams:
            if len(self.values[1 - stream]) >= self.next_fit[1 - stream]:
                self.fit(1 - stream)
        super().tick(buffered, arrival)
        self.values[arrival.stream].append(arrival.key)
        self.arrivals += 1
        self.held += len(buffered)
        self.now = arrival
        for stream in self.streams:
            self.first.setdefault(stream, self.clock(stream))

    def clock(self, stream):
        """What time it is for a tuple of a stream: its lifetime falls as this rises."""
        item = type(self.now)(0, stream, 0, None, 0)
        lifetime = self.lifetime(item)
        return None if lifetime == FOREVER else -lifetime

    def admit(self, buffered, item):
        self.admitted += 1
        self.members.append(item)

    def forget(self, item):
        last = self.members.pop()
        if last is not item:
            self.members[self.members.index(item)] = last

    def fit(self, stream):
        if self.arrivals >= ENOUGH and self.admitted:
            self.lifetime_seen = self.held / self.admitted
            self.held = self.admitted = self.arrivals = 0
        values = self.values[stream]
        share = len(values) / (len(self.values[0]) + len(self.values[1]))
        lifetime = max(1.0, self.lifetime_seen * share)
        if self.survival == "fixed":
            scale = Survival("fixed", int(self.alpha or lifetime + 0.5))
        else:
            scale = Survival("exp", self.alpha or alpha_for_lifetime(lifetime))
        self.next_fit[stream] = 2 * len(values)
        try:
            law = self.laws[stream] or self.fitted(values)
            self.tables[stream] = table_of(law, scale)
            self.scales[stream] = scale
        except InputError:
            self.tables[stream] = None

    def fitted(self, values):
        law = forecast_class(self.forecast).fit(values)
        if isinstance(law, Trend):
            return replace(law, noise=smoothed(law.noise, len(values)))
        return (
            replace(law, steps=smoothed(law.steps, len(values))) if isinstance(law, Walk) else law
        )

    def score(self, item):
        partner = 1 - item.stream
        table, survival = self.tables[partner], self.scales[partner]
        place = self.place(table, partner, item.key)
        score = self.at(table, partner, place)
        ahead = self.ahead(item)
        if ahead < survival.horizon:
            fixed = survival.kind == "fixed"
            left = 1 - ahead / survival.scale if fixed else exp(-ahead / survival.scale)
            drift = 0 if fixed else table.slope * table.per_unit
            later = place - floor(drift * ahead + 0.5)
            score -= left * max(self.at(table, partner, later), 0)
        return score

    def place(self, table, partner, key):
        if table.kind == SURFACE:
            states = table.states.tolist()
            if key in states:
                return states.index(key)
            if key < states[0]:
                return key - states[0]
            return len(states) + key - states[-1] if key > states[-1] else -1
        last = len(self.values[partner]) - 1
        line = table.slope * last + table.intercept
        position = line if table.kind == LINE else self.values[partner][-1]
        return key * table.per_unit + floor(0.5 - position * table.per_unit) - table.low

    def at(self, table, partner, place):
        scores = table.scores
        if table.kind == SURFACE:
            width = len(table.states)
            row = np.searchsorted(table.states, self.values[partner][-1])
            scores = scores.reshape(width, width)[min(row, width - 1)]
        if place < 0:
            return float(place)
        if place >= len(scores):
            return float(len(scores) - 1 - place)
        return scores[place]

    def ahead(self, item):
        lifetime = self.lifetime(item)
        if lifetime == FOREVER:
            return float("inf")
        elapsed = max(self.clock(item.stream) - self.first[item.stream], 1)
        return max(lifetime, 0) * len(self.values[1 - item.stream]) / elapsed

    def victim(self, buffered, newcomer):
        if any(self.tables[1 - stream] is None for stream in self.streams):
            return super().victim(buffered, newcomer)

        if self.sample:
            drawn = [self.generator.below(len(self.members)) for _ in range(self.sample)]
            least = min((self.members[place] for place in drawn), key=self.score)
        else:
            oldest = {(item.stream, item.key): item for item in reversed(buffered)}.values()
            least = min(oldest, key=lambda item: (self.score(item), item.stream, item.key))
        return None if self.score(newcomer) < self.score(least) else least
