"""HIST from its definition: a list of buckets, and every buffered tuple valued for every victim."""

from dataclasses import dataclass, replace

from recollect.policies.hist import FADING, MEMORY
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
        return self.level if self.line_error < self.last_error else self.last


class Hist(NaivePolicy):
    """Forget the tuple at whose distance tuples have brought least, at first the oldest.

    Of equal worths the left stream's goes first, then the smaller value, then the older.
    """

    buckets, period, decay = 32, 64, 0.95

    def begin(self):
        self.lines = [Line(), Line()]
        self.histograms = [[], []]
        self.observed = [0, 0]
        self.life = {}

    def tick(self, buffered, arrival):
        self.lines[arrival.stream].follow(float(arrival.key))

    def distance(self, item):
        # Before its first tuple a stream is taken to be at 0.
        partner = self.lines[1 - item.stream]
        return item.key - (partner.position if partner.n else 0.0)

    def admit(self, buffered, item):
        self.life[item.serial] = [self.distance(item), self.lines[1 - item.stream].n, 0]

    def match(self, item):
        self.life[item.serial][2] += 1

    def forget(self, item):
        distance, since, results = self.life.pop(item.serial)
        lifetime = max(self.lines[1 - item.stream].n - since, 1)
        self.observe(item.stream, distance, results, lifetime)

    def observe(self, stream, distance, results, lifetime):
        if not self.observed[stream]:
            self.histograms[stream] = [Bucket(distance, distance) for _ in range(self.buckets)]
        histogram = self.histograms[stream]
        histogram[0].low = min(histogram[0].low, distance)
        histogram[-1].high = max(histogram[-1].high, distance)
        for bucket in histogram:
            if distance < bucket.high or bucket is histogram[-1]:
                bucket.add(results, lifetime)
                break
        self.observed[stream] += 1
        if self.observed[stream] == self.period:
            self.lay_out(histogram)
        elif self.observed[stream] % self.period == 0:
            self.rearrange(histogram)

    def lay_out(self, histogram):
        low, high = histogram[0].low, histogram[-1].high
        whole = histogram[0]
        for other in histogram[1:]:
            whole = joined(whole, other)
        part = whole.share(1 / (whole.weight * self.buckets))
        edges = [low + (high - low) * i / self.buckets for i in range(self.buckets)] + [high]
        histogram[:] = [replace(part, low=edges[i], high=edges[i + 1]) for i in range(self.buckets)]

    def rearrange(self, histogram):
        histogram[:] = [bucket.share(self.decay) for bucket in histogram]
        numbers = range(self.buckets)
        wide = [i for i in numbers if histogram[i].high - histogram[i].low >= 2]
        if not wide:
            return
        most = max(wide, key=lambda i: histogram[i].squares)
        pairs = [i for i in numbers[:-1] if most not in (i, i + 1)]
        if not pairs:
            return
        merged = min(pairs, key=lambda i: loss(histogram[i], histogram[i + 1]))
        bucket = histogram[most]
        if bucket.squares <= loss(histogram[merged], histogram[merged + 1]):
            return
        half = bucket.share(0.5)
        halves = [replace(half, high=bucket.middle), replace(half, low=bucket.middle)]
        one = joined(histogram[merged], histogram[merged + 1])
        changed = {most: halves, merged: [one], merged + 1: []}
        histogram[:] = [part for i in numbers for part in changed.get(i, [histogram[i]])]

    def height(self, histogram, number):
        results = lifetime = 0.0
        for i in (number - 1, number, number + 1):
            if 0 <= i < self.buckets:
                weight = histogram[i].weight * (1 if i == number else 0.5)
                results += weight * histogram[i].results
                lifetime += weight * histogram[i].lifetime
        return results / lifetime if lifetime > 0 else 0.0

    def worth(self, item):
        histogram, distance = self.histograms[item.stream], self.distance(item)
        heights = [self.height(histogram, i) for i in range(self.buckets)]
        middles = [bucket.middle for bucket in histogram]
        if distance <= middles[0]:
            return heights[0]
        for i in range(self.buckets - 1):
            if distance < middles[i + 1]:
                rise = heights[i + 1] - heights[i]
                return heights[i] + rise * (distance - middles[i]) / (middles[i + 1] - middles[i])
        return heights[-1]

    def victim(self, buffered, newcomer):
        if any(self.observed[stream] < self.period for stream in self.streams):
            return min(buffered, key=lambda item: item.serial)
        least = min(buffered, key=lambda item: (self.worth(item), item.stream, item.key))
        return None if self.worth(newcomer) < self.worth(least) else least
