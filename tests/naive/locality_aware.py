"""LBA and ELBA from their definitions; the model and its sums are checked in tests/locality."""

import numpy as np

from recollect.locality.model import LocalityModel, fit_from_chance
from recollect.locality.prediction import descendants, predict
from tests.naive.frequency import Prob, SketchProb
from tests.naive.join import Item
from tests.naive.locality_model import coincidences


class Lba(Prob):
    """Forget the tuple whose key is least to be expected in the next T arrivals of the partner.

    Of equal values the tuple with the rarer key goes first, then the one that expires sooner, then
    the older. A newcomer is refused if it has less value than every buffered tuple.
    """

    h, warmup, horizon = 50, 256, 0

    def begin(self):
        super().begin()
        self.past = [[], []]
        self.next_fit = [self.warmup] * 2
        self.model = [LocalityModel(np.zeros(self.h), 1.0)] * 2
        self.ahead = [1, 1]
        self.most = [0, 0]

    def estimate(self, stream, key):
        return self.seen[stream][key]

    def chance(self, stream):
        counts = self.seen[stream].values()
        return sum(count**2 for count in counts) / len(self.past[stream]) ** 2

    def tick(self, buffered, arrival):
        for stream in self.streams:
            if len(self.past[1 - stream]) >= self.next_fit[1 - stream]:
                self.fit(stream)
            held = sum(item.stream in self.streams for item in buffered)
            self.most[stream] = max(self.most[stream], held)
        super().tick(buffered, arrival)
        self.past[arrival.stream].append(arrival.key)

    def fit(self, stream):
        partner = 1 - stream
        past = self.past[partner]
        self.next_fit[partner] = len(past) + min(len(past), 65_536)
        self.model[partner] = fit_from_chance(
            coincidences(past, self.h), len(past), self.chance(partner)
        )
        seen = sum(len(self.past[own]) for own in self.streams)
        kept = self.most[stream] * len(past) // max(seen, 1)
        self.ahead[partner] = self.horizon or min(max(kept, 1), 8 * self.h)
        self.most[stream] = 0

    def expected(self, partner, item):
        """How many of the next tuples descend from fresh draws, and from those at each lag."""
        prediction = predict(self.model[partner], self.ahead[partner])
        return prediction.fresh, prediction.by_lag

    def worth(self, item, count):
        partner = 1 - item.stream
        past = self.past[partner]
        fresh, by_lag = self.expected(partner, item)
        worth = fresh * count / max(len(past), 1)
        for lag in range(1, min(self.h, len(past)) + 1):
            if past[-lag] == item.key:
                worth += by_lag[lag - 1]
        return worth

    def value(self, item):
        return self.worth(item, self.frequency(item))

    def newcomer_value(self, item):
        return self.worth(item, self.estimate(1 - item.stream, item.key))

    def victim(self, buffered, newcomer):
        def rank(item):
            return self.value(item), self.frequency(item), self.lifetime(item), item.serial

        least = min(buffered, key=rank)
        return None if self.newcomer_value(newcomer) < self.value(least) else least


class SketchLba(Lba, SketchProb):
    """LBA with estimates, see SketchProb."""

    def begin(self):
        super().begin()
        self.squares = [0, 0]

    def estimate(self, stream, key):
        return self.seen[stream].estimate(key)

    def chance(self, stream):
        return self.squares[stream] / len(self.past[stream]) ** 2

    def tick(self, buffered, arrival):
        estimate = self.estimate(arrival.stream, arrival.key)
        super().tick(buffered, arrival)
        # So the sum of the squares of all counts, if these were exact.
        self.squares[arrival.stream] += (estimate + 1) ** 2 - estimate**2


class Elba(Lba):
    """As LBA, but not beyond the remaining lifetime, at the rate of arrivals so far."""

    def begin(self):
        super().begin()
        self.started = [None, None]

    def tick(self, buffered, arrival):
        super().tick(buffered, arrival)
        for stream in self.streams:
            if self.started[stream] is None:
                start = Item(0, stream, arrival.time, None, 0)
                self.started[stream] = start, self.lifetime(start)

    def expected(self, partner, item):
        start, lifetime = self.started[item.stream]
        elapsed = max(lifetime - self.lifetime(start), 1)
        rate = len(self.past[partner]) / elapsed
        ahead = 1 + int(min(max(self.lifetime(item), 0) * rate, self.ahead[partner] - 1))
        model = self.model[partner]
        grown = descendants(model, ahead)
        by_lag = []
        for lag in range(1, self.h + 1):
            total = 0.0
            for later in range(lag, self.h + 1):
                if ahead - (later - lag) > 0:
                    total += model.weights[later - 1] * grown[ahead - (later - lag)]
            by_lag.append(total)
        return model.b * np.cumsum(grown)[-1], by_lag
