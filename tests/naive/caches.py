"""Caches from their definitions, in plain Python: some keys, and the rule that picks a victim."""

from collections import Counter, OrderedDict

import numpy as np

from recollect.locality.model import LocalityModel, fit_from_chance
from recollect.locality.prediction import predict
from tests.naive.locality_model import coincidences
from tests.naive.simple import SplitMix64

NEWCOMER = object()


class NaiveCache:
    """A cache of so many keys; a subclass says which one goes.

    ``cached`` holds the keys in the order in which they were admitted.
    """

    def __init__(self, capacity, seed=0, trace=()):
        self.capacity, self.seed, self.trace = capacity, seed, list(trace)
        self.cached = []
        self.until = {}
        self.begin()

    def refer(self, keys, now=0, ttl=None):
        """Which references hit."""
        return [self._one(key, now, ttl) for key in keys]

    def _one(self, key, now, ttl):
        if key in self.cached and self.until[key] < now:
            self.leave(key)
        self.reference(key)
        if key in self.cached:
            self.hit(key)
            return True
        if len(self.cached) == self.capacity:
            victim = self.victim(key)
            if victim is NEWCOMER:
                return False
            self.leave(victim)
        self.cached.append(key)
        self.until[key] = float("inf") if ttl is None else now + ttl
        self.admit(key)
        return False

    def leave(self, key):
        self.forget(key)
        self.cached.remove(key)

    def begin(self):
        """Start."""

    def reference(self, key):
        """A key is referred to, cached or not."""

    def hit(self, key):
        """It was cached."""

    def admit(self, key):
        """It is cached now."""

    def forget(self, key):
        """It is about to leave."""

    def victim(self, newcomer):
        raise NotImplementedError


class Fifo(NaiveCache):
    def victim(self, newcomer):
        return self.cached[0]


class Rand(NaiveCache):
    """As the join's RAND: places are drawn two victims ahead, the last takes the leaver's place."""

    def begin(self):
        self.members, self.ahead = [], [None, None]
        self.generator = SplitMix64(self.seed)

    def admit(self, key):
        self.members.append(key)

    def forget(self, key):
        last = self.members.pop()
        if last != key:
            self.members[self.members.index(key)] = last

    def victim(self, newcomer):
        place = self.ahead.pop(0)
        if place is None or place >= len(self.members):
            place = self.generator.below(len(self.members))
        self.ahead.append(self.generator.below(len(self.members)))
        return self.members[place]


class Lru(NaiveCache):
    def begin(self):
        self.order = []

    def admit(self, key):
        self.order.append(key)

    def hit(self, key):
        self.order.remove(key)
        self.order.append(key)

    def forget(self, key):
        self.order.remove(key)

    def victim(self, newcomer):
        return self.order[0]


class Clock(NaiveCache):
    """Places in a circle; the hand takes a point from each key until one has none left."""

    w0 = 1.0

    def begin(self):
        self.places, self.points, self.hand, self.vacant = [], {}, 0, []

    def admit(self, key):
        self.points[key] = self.w0
        if self.vacant:
            self.places[self.vacant.pop()] = key
        else:
            self.places.append(key)

    def hit(self, key):
        self.points[key] += 1

    def forget(self, key):
        place = self.places.index(key)
        self.places[place] = None
        self.vacant.append(place)

    def victim(self, newcomer):
        while True:
            key = self.places[self.hand]
            self.hand = (self.hand + 1) % len(self.places)
            if key is not None:
                self.points[key] -= 1
                if self.points[key] <= 0:
                    return key


class Lfu(NaiveCache):
    """The key that came least often so far; of equals the one to expire, then the older."""

    def begin(self):
        self.counts = Counter()

    def reference(self, key):
        self.counts[key] += 1

    def victim(self, newcomer):
        rarest = min(self.cached, key=lambda key: (self.counts[key], self.until[key]))
        return NEWCOMER if self.counts[newcomer] < self.counts[rarest] else rarest


class Lfd(NaiveCache):
    """The key that comes again last; nothing is known beyond the trace."""

    refuse = True

    def begin(self):
        self.at = -1

    def reference(self, key):
        self.at += 1

    def next_use(self, key):
        rest = self.trace[self.at + 1 :]
        return rest.index(key) if key in rest else float("inf")

    def victim(self, newcomer):
        uses = {key: self.next_use(key) for key in self.cached}
        farthest = max(uses.values())
        if self.refuse and self.next_use(newcomer) > farthest:
            return NEWCOMER
        last = [key for key in self.cached if uses[key] == farthest]
        return min(last, key=self.until.get)


class Sieve(NaiveCache):
    def begin(self):
        self.used, self.hand = set(), None

    def hit(self, key):
        self.used.add(key)

    def forget(self, key):
        self.used.discard(key)
        if self.hand == key:
            newer = self.cached[self.cached.index(key) + 1 :]
            self.hand = newer[0] if newer else None

    def victim(self, newcomer):
        place = 0 if self.hand is None else self.cached.index(self.hand)
        while self.cached[place] in self.used:
            self.used.remove(self.cached[place])
            place = (place + 1) % len(self.cached)
        self.hand = self.cached[place]
        return self.hand


class S3Fifo(NaiveCache):
    share = 0.1

    def begin(self):
        self.small_size = max(1, int(self.capacity * self.share))
        self.main_size = self.capacity - self.small_size
        self.small, self.main, self.ghosts = [], [], OrderedDict()
        self.hits = {}
        self.returned = self.evicting = False

    def reference(self, key):
        self.returned = key not in self.cached and key in self.ghosts
        if self.returned:
            del self.ghosts[key]

    def hit(self, key):
        self.hits[key] = min(3, self.hits[key] + 1)

    def admit(self, key):
        self.hits[key] = 0
        filling = not self.evicting and len(self.small) >= self.small_size
        (self.main if self.returned or filling else self.small).append(key)

    def forget(self, key):
        (self.small if key in self.small else self.main).remove(key)

    def victim(self, newcomer):
        self.evicting = True
        if len(self.main) <= self.main_size:
            while self.small:
                key = self.small[0]
                if self.hits[key] < 2:
                    self.ghosts[key] = None
                    while len(self.ghosts) > self.main_size:
                        self.ghosts.popitem(last=False)
                    return key
                self.main.append(self.small.pop(0))
                self.hits[key] = 0
        while self.hits[self.main[0]] > 0:
            key = self.main.pop(0)
            self.main.append(key)
            self.hits[key] -= 1
        return self.main[0]


class Heeb(NaiveCache):
    """The key with the least sum over Δ of P(first reference at now + Δ) · exp(-Δ / α).

    Of equal ones the least key.
    """

    law = None
    alpha = 5.0

    def begin(self):
        self.seen = []

    def reference(self, key):
        self.seen.append(key)

    def scores(self, keys):
        from recollect.forecast import Now
        from recollect.forecast.survival import Survival
        from recollect_papers.theory.heeb_scores import caching_scores

        now = Now(len(self.seen) - 1, np.array(self.seen[-1:]))
        return caching_scores(self.law, keys, now, Survival("exp", self.alpha))

    def victim(self, newcomer):
        *scores, own = self.scores([*self.cached, newcomer]).round(9)
        least = min(zip(scores, self.cached, strict=True))
        return NEWCOMER if own < least[0] else least[1]


class Lba(NaiveCache):
    """The key with the fewest expected references among the next T, at most 8h.

    Of equal ones the key that came less often, then the one to expire, then the older.
    """

    h, warmup, horizon = 50, 256, 0

    def begin(self):
        self.past = []
        self.next_fit = self.warmup
        self.model, self.ahead, self.most = LocalityModel(np.zeros(self.h), 1.0), 1, 0

    def reference(self, key):
        if len(self.past) >= self.next_fit:
            self.fit()
        self.most = max(self.most, len(self.cached))
        self.past.append(key)

    def fit(self):
        count = len(self.past)
        self.next_fit = 2 * count
        chance = sum(each**2 for each in Counter(self.past).values()) / count**2
        self.model = fit_from_chance(coincidences(self.past, self.h), count, chance)
        self.ahead = self.horizon or min(max(self.most, 1), 8 * self.h)
        self.most = 0

    def expected(self, key):
        prediction = predict(self.model, self.ahead)
        worth = prediction.fresh * self.past.count(key) / len(self.past)
        for lag in range(1, min(self.h, len(self.past)) + 1):
            if self.past[-lag] == key:
                worth += prediction.by_lag[lag - 1]
        return worth

    def victim(self, newcomer):
        def rank(key):
            return self.expected(key), self.past.count(key), self.until[key]

        least = min(self.cached, key=rank)
        return NEWCOMER if self.expected(newcomer) < self.expected(least) else least
