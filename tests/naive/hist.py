"""HIST from its definition: a list of buckets, and every buffered tuple valued for every victim."""

from dataclasses import dataclass, replace

from recollect.policies.tracks import FADING, MEMORY
from tests.naive.join import NaivePolicy


@dataclass
class Bucket:
    """What was observed from ``low`` on, up to ``high``."""

    low: float
    high: float
    weight: float = 0.0
    results: float = 0.0
    squares: float = 0.0
    lifetime: float = 0.0

    def add(self, results, lifetime):
        self.weight += 1
        deviation = results - self.results
        self.results += deviation / self.weight
        self.squares += deviation * (results - self.results)
        self.lifetime += (lifetime - self.lifetime) / self.weight

    def share(self, part):
        return replace(self, weight=self.weight * part, squares=self.squares * part)

    @property
    def middle(self):
        return (self.low + self.high) / 2


def loss(one, two):
    """By how much the squares grow if two buckets become one."""
    weight = one.weight + two.weight
    product = one.weight * two.weight * (one.results - two.results) ** 2
    return product / weight if weight > 0 else 0.0


def joined(one, two):
    weight = one.weight + two.weight
    if weight == 0:
        return replace(one, high=two.high)
    share = two.weight / weight
    apart = two.results - one.results
    return Bucket(
        one.low,
        two.high,
        weight,
        one.results + share * apart,
        one.squares + (two.squares + one.weight * share * apart**2),
        one.lifetime + share * (two.lifetime - one.lifetime),
    )


class Histogram:
    """What tuples brought by their distance."""

    def __init__(self, buckets, period, decay):
        self.count, self.period, self.decay = buckets, period, decay
        self.buckets = []
        self.observed = 0

    def observe(self, distance, results, lifetime):
        if not self.observed:
            self.buckets = [Bucket(distance, distance) for _ in range(self.count)]
        self.buckets[0].low = min(self.buckets[0].low, distance)
        self.buckets[-1].high = max(self.buckets[-1].high, distance)
        for bucket in self.buckets:
            if distance < bucket.high or bucket is self.buckets[-1]:
                bucket.add(results, lifetime)
                break
        self.observed += 1
        if self.observed == self.period:
            self.lay_out()
        elif self.observed % self.period == 0:
            self.rearrange()

    def lay_out(self):
        low, high = self.buckets[0].low, self.buckets[-1].high
        whole = self.buckets[0]
        for other in self.buckets[1:]:
            whole = joined(whole, other)
        part = whole.share(1 / (whole.weight * self.count))
        edges = [low + (high - low) * i / self.count for i in range(self.count)] + [high]
        self.buckets = [replace(part, low=edges[i], high=edges[i + 1]) for i in range(self.count)]

    def rearrange(self):
        self.buckets = [bucket.share(self.decay) for bucket in self.buckets]
        numbers = range(self.count)
        wide = [i for i in numbers if self.buckets[i].high - self.buckets[i].low >= 2]
        if not wide:
            return
        most = max(wide, key=lambda i: self.buckets[i].squares)
        pairs = [i for i in numbers[:-1] if most not in (i, i + 1)]
        if not pairs:
            return
        merged = min(pairs, key=lambda i: loss(self.buckets[i], self.buckets[i + 1]))
        bucket = self.buckets[most]
        if bucket.squares <= loss(self.buckets[merged], self.buckets[merged + 1]):
            return
        half = bucket.share(0.5)
        halves = [replace(half, high=bucket.middle), replace(half, low=bucket.middle)]
        one = joined(self.buckets[merged], self.buckets[merged + 1])
        changed = {most: halves, merged: [one], merged + 1: []}
        self.buckets = [part for i in numbers for part in changed.get(i, [self.buckets[i]])]

    def height(self, number):
        results = lifetime = 0.0
        for i in (number - 1, number, number + 1):
            if 0 <= i < self.count:
                weight = self.buckets[i].weight * (1 if i == number else 0.5)
                results += weight * self.buckets[i].results
                lifetime += weight * self.buckets[i].lifetime
        return results / lifetime if lifetime > 0 else 0.0

    def at(self, distance):
        if not self.buckets[0].low <= distance <= self.buckets[-1].high:
            return 0.0
        heights = [self.height(i) for i in range(self.count)]
        middles = [bucket.middle for bucket in self.buckets]
        if distance <= middles[0]:
            return heights[0]
        for i in range(self.count - 1):
            if distance < middles[i + 1]:
                rise = heights[i + 1] - heights[i]
                return heights[i] + rise * (distance - middles[i]) / (middles[i + 1] - middles[i])
        return heights[-1]

    def mean(self):
        """At any distance."""
        results = sum(bucket.weight * bucket.results for bucket in self.buckets)
        lifetime = sum(bucket.weight * bucket.lifetime for bucket in self.buckets)
        return results / lifetime if lifetime > 0 else 0.0


class Line:
    """Where a stream is: on a line through its values, or at the last."""

    def __init__(self):
        self.n = 0
        self.slope = self.line_error = self.last_error = 0.0

    def follow(self, value):
        self.n += 1
        n = self.n
        if n == 1:
            self.level = self.last = value
        fading = max(FADING, 1 / n)
        error = value - (self.level + self.slope)
        self.line_error += fading * (error**2 - self.line_error)
        self.last_error += fading * ((value - self.last) ** 2 - self.last_error)
        self.level += self.slope + error * max(1 - MEMORY**2, 2 * (2 * n - 1) / (n * (n + 1)))
        self.slope += error * max((1 - MEMORY) ** 2, 6 / (n * (n + 1)))
        self.last = value

    @property
    def position(self):
        if not self.n:  # before its first tuple a stream is taken to be at 0
            return 0.0
        return self.level if self.line_error < self.last_error else self.last


class Hist(NaivePolicy):
    """Forget the tuple at whose distance tuples have brought least, at first the oldest.

    Of equal worths the left stream's goes first, then the smaller value, then the older.
    """

    buckets, period, decay = 32, 64, 0.95

    def begin(self):
        self.lines = [Line(), Line()]
        self.histograms = [Histogram(self.buckets, self.period, self.decay) for _ in range(2)]
        self.life = {}

    def tick(self, buffered, arrival):
        self.lines[arrival.stream].follow(float(arrival.key))

    @property
    def arrivals(self):
        return sum(line.n for line in self.lines)

    def distance(self, item):
        return item.key - self.lines[1 - item.stream].position

    def admit(self, buffered, item):
        self.life[item.serial] = [self.distance(item), self.arrivals, 0]

    def match(self, item):
        self.life[item.serial][2] += 1

    def forget(self, item):
        distance, since, results = self.life.pop(item.serial)
        lifetime = max(self.arrivals - since, 1)
        self.histograms[item.stream].observe(distance, results, lifetime)

    def worth(self, item):
        return self.histograms[item.stream].at(self.distance(item))

    def victim(self, buffered, newcomer):
        if any(self.histograms[stream].observed < self.period for stream in self.streams):
            return min(buffered, key=lambda item: item.serial)
        least = min(buffered, key=lambda item: (self.worth(item), item.stream, item.key))
        return None if self.worth(newcomer) < self.worth(least) else least
